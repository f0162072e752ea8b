"""Rules for a draft alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.model_facts import (
    MARKOV_HEAD_GRAPH,
    ModelKind,
    parse_version,
)
from dflash_desktop.domain.pair_contract.draft_metadata import (
    EXPORT_AGAIN,
    metadata_remedy,
)
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.ir_graph import IrGraph
    from dflash_desktop.domain.model_facts import ModelFacts

_MARKOV_HEADS_SINCE: Final = (2026, 5, 0)
_CUTS: Final = frozenset({"Slice", "StridedSlice", "Gather", "Split", "VariadicSplit"})
_TAIL_STEPS: Final = 24
_DRAFT_ARCHITECTURES: Final = ("dflash", "dspark")


def is_dflash(draft: ModelFacts) -> Iterator[Finding]:
    """Only what carries the marker dflash_mode is run as a DFlash draft."""
    if draft.graph is None or draft.kind().is_dflash_family:
        return
    made_from = [
        name
        for name in draft.config.architectures
        if any(part in name.lower() for part in _DRAFT_ARCHITECTURES)
    ]
    if draft.kind() in {ModelKind.EAGLE3, ModelKind.MTP}:
        code, found = "draft_not_dflash", draft.kind().label
    elif draft.is_built_like_dflash():
        code, found = "dflash_marker_missing", "a draft's graph without the marker"
    elif made_from:
        code, found = "draft_exported_as_text", f"an ordinary model made from {made_from[0]}"
    else:
        code, found = "draft_not_dflash", draft.kind().label
    yield Finding(
        code,
        Weight.BLOCK,
        Subject.DRAFT,
        expected="a DFlash draft: the marker dflash_mode in rt_info",
        found=found,
        where=draft.graph_file,
        remedy="Export it with an exporter that knows this kind of draft."
        if code == "draft_exported_as_text"
        else metadata_remedy(draft),
    )


def inputs_complete(draft: ModelFacts) -> Iterator[Finding]:
    """What the runtime feeds a draft with: it refuses a graph that lacks one of these."""
    if draft.graph is None or not draft.kind().is_dflash_family:
        return
    inputs = draft.graph.inputs()
    faults = [
        f"no {name}"
        for name in ("hidden_states", "position_ids", "attention_mask")
        if name not in inputs
    ]
    if len({"inputs_embeds", "input_ids"} & inputs.keys()) != 1:
        faults.append("not exactly one of inputs_embeds and input_ids")
    if faults:
        yield Finding(
            "draft_inputs_incomplete",
            Weight.BLOCK,
            Subject.DRAFT,
            expected="hidden_states, position_ids, attention_mask, inputs_embeds or input_ids",
            found=", ".join(faults),
            where=draft.graph_file,
            remedy=EXPORT_AGAIN,
        )


def outputs_complete(draft: ModelFacts) -> Iterator[Finding]:
    """The target's head is put onto last_hidden_state; some drafts bring logits of their own."""
    if draft.graph is None or not draft.kind().is_dflash_family:
        return
    found = {"last_hidden_state", "logits"} & draft.graph.outputs().keys()
    if len(found) != 1:
        yield Finding(
            "draft_outputs_incomplete",
            Weight.BLOCK,
            Subject.DRAFT,
            expected="the output last_hidden_state or logits, one of them",
            found=" and ".join(sorted(found)) or "neither",
            where=draft.graph_file,
            remedy=EXPORT_AGAIN,
        )


def output_aligned(draft: ModelFacts) -> Iterator[Finding]:
    """The first place of a block is the known token; what is proposed begins behind it.

    An export through the wrong class keeps it, so that each proposal is judged one place off:
    then hardly any is accepted, and only at the first place (measured: 1.1 tokens a step).
    """
    if draft.graph is None or draft.kind() is not ModelKind.DFLASH:
        return
    if "last_hidden_state" in draft.graph.outputs() and not _cuts_first_place(draft.graph):
        yield Finding(
            "draft_output_unsliced",
            Weight.WARN,
            Subject.DRAFT,
            expected="last_hidden_state without the block's first place",
            found="a graph that cuts nothing off before its output",
            where=draft.graph_file,
            remedy="Check the pair. If hardly any token is accepted, the draft was "
            f"exported through the wrong class. {EXPORT_AGAIN}",
        )


def _cuts_first_place(graph: IrGraph) -> bool:
    nodes = {node.id: node for node in graph.layers}
    for result in [node for node in graph.layers if node.type == "Result"]:
        source, port = graph.sources.get((result.id, 0), (-1, -1))
        outputs = nodes[source].outputs if source in nodes else ()
        fed = {name for output in outputs if output.port == port for name in output.names}
        if "last_hidden_state" not in {result.name, *result.result_names, *fed}:
            continue
        # Behind the last matrix product stand the final norm and the cut, in either order.
        for _ in range(_TAIL_STEPS):
            node = nodes.get(source)
            if node is None or node.type == "MatMul":
                return False
            if node.type in _CUTS:
                return True
            source, _ = graph.sources.get((node.id, 0), (-1, -1))
    return False


def hidden_states_shaped(draft: ModelFacts) -> Iterator[Finding]:
    """Hidden states come as [batch, tokens, width]."""
    if draft.graph is None or not draft.kind().is_dflash_family:
        return
    shape = draft.graph.inputs().get("hidden_states")
    if shape is not None and (len(shape) != 3 or shape[0] not in {-1, 1}):
        yield Finding(
            "draft_hidden_states_shape",
            Weight.BLOCK,
            Subject.DRAFT,
            expected="hidden_states of the shape [?, ?, width]",
            found=str(list(shape)),
            where=draft.graph_file,
            remedy=EXPORT_AGAIN,
        )


def keeps_state(draft: ModelFacts) -> Iterator[Finding]:
    """A stateless draft runs and is accepted, but its speed is doubtful: measure."""
    if draft.graph is None or not draft.kind().is_dflash_family:
        return
    if draft.graph.is_stateful() and "beam_idx" in draft.graph.inputs():
        return
    yield Finding(
        "draft_stateless",
        Weight.WARN,
        Subject.DRAFT,
        expected="a graph that keeps its KV cache, with an input beam_idx",
        found="none of that" if not draft.graph.is_stateful() else "no beam_idx",
        where=draft.graph_file,
        remedy=(
            "Check whether it pays. The task text-generation-with-past exports a draft that "
            "keeps its cache."
        ),
    )


def block_size_named(draft: ModelFacts) -> Iterator[Finding]:
    """How many tokens the draft was trained to propose at once; the runtime takes 5 unasked."""
    if not draft.kind().is_dflash_family or draft.config.block_size is not None:
        return
    yield Finding(
        "block_size_missing",
        Weight.INFO,
        Subject.DRAFT,
        expected="block_size",
        found="none; five assistant tokens are tried",
        where="config.json",
        remedy="Copy config.json from the draft's checkpoint.",
    )


def runtime_knows_kind(draft: ModelFacts, runtime: str | None) -> Iterator[Finding]:
    """Before 2026.5, what DFlash 2 and Markov heads add is passed over without a word."""
    kind = draft.kind()
    is_new = kind is ModelKind.DFLASH2 or (kind.is_dflash_family and draft.has_markov_head())
    ours = parse_version(runtime or "")
    if not is_new or ours is None or ours >= _MARKOV_HEADS_SINCE:
        return
    yield Finding(
        "runtime_too_old_for_draft",
        Weight.WARN,
        Subject.DRAFT,
        expected="OpenVINO 2026.5 or newer",
        found=f"OpenVINO {runtime}, which runs this draft as a plain DFlash draft",
        where=draft.graph_file,
        remedy="Check whether it pays, or wait for a DFlash Desktop with the newer OpenVINO.",
    )


def markov_head_whole(draft: ModelFacts) -> Iterator[Finding]:
    """A Markov head is a second model beside the draft."""
    if not draft.kind().is_dflash_family or not draft.has_markov_head():
        return
    files = (MARKOV_HEAD_GRAPH, MARKOV_HEAD_GRAPH.removesuffix(".xml") + ".bin")
    missing = [name for name in files if name not in draft.file_sizes]
    if missing:
        yield Finding(
            "markov_head_incomplete",
            Weight.WARN,
            Subject.DRAFT,
            expected=" and ".join(files),
            found=f"no {' and no '.join(missing)}",
            where=draft.name,
            remedy="Export the draft again, so that its Markov head comes with it.",
        )
