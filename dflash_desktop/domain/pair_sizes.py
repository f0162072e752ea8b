"""What decides how much memory a pair takes: read from its files, or estimated from its facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.catalogue import ModelKind, Precision
from dflash_desktop.domain.model_facts import MTP_GRAPH, TEXT_GRAPH

if TYPE_CHECKING:
    from dflash_desktop.domain.catalogue import CataloguePair, DraftModel, TargetModel
    from dflash_desktop.domain.model_facts import ModelFacts

_BYTES_PER_PARAMETER: Final = {
    # 5.7 GB for the 9 billion of Qwen3.5-9B-abliterated-int4-ov: scales, and tables at 8 bits.
    Precision.INT4: 0.64,
    # 1293 MB for a draft that takes 5168 MB at 4 bytes each.
    Precision.INT8: 1.01,
    Precision.F16: 2.0,
    Precision.BF16: 2.0,
}
_DRAFT_INT4_BYTES_PER_PARAMETER: Final = 0.67
"""866 MB for the draft that takes 5168 MB at 4 bytes each: groups of 16 have many scales."""
_REFERENCE_DRAFT_PARAMETERS: Final = 1_292_000_000
_REFERENCE_HIDDEN_SIZE: Final = 4096
_DRAFT_SHARE_OF_TARGET: Final = 0.15

_REFERENCE_KV_VALUES_PER_TOKEN: Final = 2 * 36 * 1024
"""Of Qwen3-8B, whose 36 layers all keep K and V of width 1024; hybrids need far less."""
_REFERENCE_PARAMETERS: Final = 8_000_000_000
_USUAL_DRAFT_LAYERS: Final = 5
_USUAL_KV_WIDTH: Final = 1024
_VISION_PARTS: Final = ("openvino_vision_", "openvino_resampler_model")
_QUERY_HEADS_PER_KV_HEAD: Final = 4
_USUAL_TARGET_LAYERS_OF_A_DRAFT: Final = 5


@dataclass(frozen=True, slots=True)
class PairSizes:
    """What a pair's memory is computed from; 0 for what it does not have."""

    target_bytes: int  # of the weights, with those of a vision part that is not known apart
    target_kv_values: int  # numbers in the cache for each token
    draft_bytes: int = 0
    draft_kv_values: int = 0
    hidden_values: int = 0  # numbers that the draft reads of the target for each token
    table_values: int = 0  # vocabulary x hidden size: of the table that the draft uses, too
    sees_pictures: bool = False
    vision_bytes: int = 0  # of the weights of the vision part, where it is known apart
    largest_tensor_bytes: int | None = None  # must be had in one piece; None: not known
    is_estimated: bool = False  # the weights' size was computed from the number of parameters


def catalogue_sizes(pair: CataloguePair) -> PairSizes | None:
    """From what the catalogue says, and where it is silent from what is usual.

    None if not even the number of the target's parameters is known.
    """
    target, draft = pair.target, pair.draft
    target_bytes = target_weights_bytes(target)
    if target_bytes is None:
        return None
    hidden = target.hidden_size or 0
    has_cache = target.kind is not ModelKind.IMAGE  # a picture maker has none for words
    table = (target.vocabulary or 0) * hidden
    return PairSizes(
        target_bytes=target_bytes,
        target_kv_values=_kv_values_per_token(target) if has_cache else 0,
        draft_bytes=draft_weights_bytes(draft, target),
        draft_kv_values=_draft_kv_values(target) if draft is not None and has_cache else 0,
        hidden_values=_hidden_values(draft, hidden),
        table_values=table if draft is not None else 0,
        sees_pictures=target.kind is ModelKind.VISION,
        largest_tensor_bytes=_table_bytes(target, table),
        is_estimated=target.weights_bytes is None
        or (draft is not None and draft.weights_bytes is None),
    )


def folder_sizes(target: ModelFacts, draft: ModelFacts | None) -> PairSizes | None:
    """From the folders themselves: files by their size, caches and tables by their graphs' shapes.

    None if the target has no graph that can be read.
    """
    if target.graph is None:
        return None
    graphs = [facts.graph for facts in (target, draft) if facts is not None and facts.graph]
    inputs = {} if draft is None or draft.graph is None else draft.graph.inputs()
    hidden = inputs.get("inputs_embeds", (0,))[-1]
    return PairSizes(
        target_bytes=_bin_bytes(target) - _vision_bytes(target),
        target_kv_values=target.graph.kv_values_per_token(),
        draft_bytes=0 if draft is None else _bin_bytes(draft),
        draft_kv_values=0
        if draft is None or draft.graph is None
        else draft.graph.kv_values_per_token(),
        hidden_values=max(0, inputs.get("hidden_states", (0,))[-1]),
        table_values=max(0, hidden) * (target.vocabulary() or 0),
        sees_pictures=target.graph_file != TEXT_GRAPH,
        vision_bytes=_vision_bytes(target),
        largest_tensor_bytes=max(graph.largest_constant_bytes for graph in graphs) or None,
    )


def target_weights_bytes(target: TargetModel) -> int | None:
    """The known size, else parameters x bytes per parameter: int4 0.64, int8 1.01, 16 bits 2.

    What has yet to be exported, at a precision of one's choice, counts as int4.
    """
    if target.weights_bytes is not None:
        return target.weights_bytes
    if target.parameters is None:
        return None
    return round(target.parameters * _BYTES_PER_PARAMETER[target.precision or Precision.INT4])


def draft_weights_bytes(draft: DraftModel | None, target: TargetModel) -> int:
    """The known size, else parameters x bytes per parameter; 0 without a draft.

    A draft of a few layers grows with the square of the hidden size: 1.29 billion parameters at
    4096. Where that is not known either, 15 % of the target's parameters.
    """
    if draft is None:
        return 0
    if draft.weights_bytes is not None:
        return draft.weights_bytes
    if target.hidden_size is not None:
        parameters = (
            _REFERENCE_DRAFT_PARAMETERS * (target.hidden_size / _REFERENCE_HIDDEN_SIZE) ** 2
        )
    else:
        parameters = (target.parameters or 0) * _DRAFT_SHARE_OF_TARGET
    precision = draft.precision or Precision.INT4
    if precision is Precision.INT4:
        return round(parameters * _DRAFT_INT4_BYTES_PER_PARAMETER)
    return round(parameters * _BYTES_PER_PARAMETER[precision])


def _kv_values_per_token(target: TargetModel) -> int:
    """2 (K and V) x layers with a cache x width.

    A width that is not known is taken as a quarter of the hidden size, and where the layers are
    not known either, the target counts as Qwen3-8B, or as larger in proportion to its parameters.
    """
    layers = target.layers if target.attention_layers is None else target.attention_layers
    width = target.kv_width
    if width is None and target.hidden_size is not None:
        width = target.hidden_size // _QUERY_HEADS_PER_KV_HEAD
    if layers is not None and width is not None:
        return 2 * layers * width
    size = (target.parameters or 0) / _REFERENCE_PARAMETERS
    return round(_REFERENCE_KV_VALUES_PER_TOKEN * max(1.0, size))


def _draft_kv_values(target: TargetModel) -> int:
    """Five layers of the target's own width, or of 1024 where that is not known."""
    return 2 * _USUAL_DRAFT_LAYERS * (target.kv_width or _USUAL_KV_WIDTH)


def _hidden_values(draft: DraftModel | None, hidden_size: int) -> int:
    if draft is None:
        return 0
    if draft.hidden_states_width is not None:
        return draft.hidden_states_width
    layers = len(draft.target_layer_ids or ()) or _USUAL_TARGET_LAYERS_OF_A_DRAFT
    return layers * hidden_size


def _table_bytes(target: TargetModel, table_values: int) -> int | None:
    """The table of words is a model's largest tensor; int4 exports keep it at 8 bits."""
    if not table_values:
        return None
    precision = target.precision or Precision.INT4
    return table_values * (2 if precision in (Precision.F16, Precision.BF16) else 1)


def _bin_bytes(facts: ModelFacts) -> int:
    """All weights of the folder but those of an MTP head, or of the head alone if it is meant."""
    head = MTP_GRAPH.replace(".xml", ".bin")
    if facts.graph_file == MTP_GRAPH:
        return facts.file_sizes.get(head, 0)
    return sum(
        size for name, size in facts.file_sizes.items() if name.endswith(".bin") and name != head
    )


def _vision_bytes(facts: ModelFacts) -> int:
    return sum(
        size
        for name, size in facts.file_sizes.items()
        if name.startswith(_VISION_PARTS) and name.endswith(".bin")
    )
