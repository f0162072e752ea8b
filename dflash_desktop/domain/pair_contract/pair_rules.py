"""Rules for a target and a draft together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.locators import ANNOTATION, parse_locators
from dflash_desktop.domain.model_facts import MTP_GRAPH, VISION_GRAPH
from dflash_desktop.domain.pair_contract.draft_metadata import mask_token, target_layers
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.model_facts import ModelFacts

_OTHER_DRAFT: Final = "Choose the draft that belongs to this target."
_MEASURE: Final = "Check whether it pays."


def layers_inside(target: ModelFacts, draft: ModelFacts) -> tuple[int, ...]:
    """The layers that the draft asks for and the target has."""
    count = _layer_count(target)
    ids = _layer_ids(draft)
    return ids if count is None else tuple(layer for layer in ids if 0 <= layer < count)


def layers_exist(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """The draft reads only layers that the target has."""
    count = _layer_count(target)
    outside = [layer for layer in _layer_ids(draft) if layer not in layers_inside(target, draft)]
    if outside:
        yield Finding(
            "target_layer_outside",
            Weight.BLOCK,
            Subject.PAIR,
            expected=f"layers 0 to {(count or 0) - 1}",
            found=f"the draft reads the layers {', '.join(map(str, outside[:5]))}",
            where=draft.graph_file,
            remedy=f"The draft was made for a deeper target. {_OTHER_DRAFT}",
        )


def depth_agrees(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """The draft's checkpoint names how many layers its target had."""
    theirs, ours = draft.config.target_layer_count, _layer_count(target)
    if theirs is not None and ours is not None and theirs != ours:
        yield Finding(
            "target_depth_differs",
            Weight.WARN,
            Subject.PAIR,
            expected=f"a target of {theirs} layers",
            found=f"{ours} layers",
            where="config.json",
            remedy=f"The draft was made for another target. {_MEASURE}",
        )


def hidden_width_agrees(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """One hidden state for each named layer, side by side; else the first message fails."""
    width, size = _input_width(draft, "hidden_states"), target.config.hidden_size
    own_size = _input_width(draft, "inputs_embeds")
    ids = _layer_ids(draft)
    if size is not None and own_size is not None and own_size != size:
        yield Finding(
            "hidden_size_differs",
            Weight.BLOCK,
            Subject.PAIR,
            expected=f"a hidden size of {own_size}, as the draft has",
            found=f"{size}",
            where=draft.graph_file,
            remedy=f"The draft was made for another target. {_OTHER_DRAFT}",
        )
    elif width is not None and size is not None and ids and width != len(ids) * size:
        yield Finding(
            "hidden_width_differs",
            Weight.BLOCK,
            Subject.PAIR,
            expected=f"{len(ids)} layers × {size} = {len(ids) * size}",
            found=f"hidden_states of the width {width}",
            where=draft.graph_file,
            remedy=f"The draft was not trained with this list of layers. {_OTHER_DRAFT}",
        )


def mask_token_usable(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """Beyond the vocabulary nothing is ever accepted; as pad or end it confuses the draft."""
    mask = mask_token(draft)
    vocabulary = target.vocabulary()
    if mask is None or not draft.kind().is_dflash_family:
        return
    if mask < 0:
        # A processor runs it all the same, and the starter's draft loses nothing (measured). What
        # graphics do is not known.
        yield _mask_finding("mask_token_negative", Weight.WARN, draft, mask, _MEASURE)
    elif vocabulary is not None and mask >= vocabulary:
        remedy = f"The draft was made for another target. {_OTHER_DRAFT}"
        code, below = "mask_token_outside", f" and below {vocabulary}"
        yield _mask_finding(code, Weight.BLOCK, draft, mask, remedy, below=below)
    elif role := _role_of(mask, target):
        yield Finding(
            "mask_token_in_use",
            Weight.WARN,
            Subject.PAIR,
            expected="a mask token that no text uses",
            found=f"{mask}, which the target uses as its {role} token",
            where=draft.graph_file,
            remedy=_MEASURE,
        )


def _mask_finding(
    code: str, weight: Weight, draft: ModelFacts, mask: int, remedy: str, *, below: str = ""
) -> Finding:
    return Finding(
        code,
        weight,
        Subject.PAIR,
        expected=f"a mask token from 0{below}",
        found=str(mask),
        where=draft.graph_file,
        remedy=remedy,
    )


def vocabulary_agrees(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """The draft answers through the target's head, but it was trained on its own target's."""
    theirs, ours = draft.config.vocabulary, target.vocabulary()
    if theirs is not None and ours is not None and theirs != ours:
        yield Finding(
            "vocabulary_differs",
            Weight.WARN,
            Subject.PAIR,
            expected=f"{theirs} tokens, as the draft's config.json says",
            found=f"{ours} tokens",
            where="config.json",
            remedy=f"The draft may have been made for another target. {_MEASURE}",
        )


def layer_types_uniform(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """Drafts that read layers of one kind and of several both exist: measure."""
    types = target.config.layer_types
    read = {types[layer] for layer in layers_inside(target, draft) if layer < len(types)}
    if len(read) > 1:
        yield Finding(
            "layer_types_mixed",
            Weight.WARN,
            Subject.PAIR,
            expected="layers of one kind",
            found=" and ".join(sorted(read)),
            where=draft.graph_file,
            remedy=_MEASURE,
        )


def embeddings_fit_vision(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """A vision target hands over embeddings, never tokens."""
    if target.graph_file != VISION_GRAPH or draft.graph is None:
        return
    if not draft.kind().is_dflash_family or "inputs_embeds" in draft.graph.inputs():
        return
    yield Finding(
        "draft_needs_embeds",
        Weight.BLOCK,
        Subject.PAIR,
        expected="a draft with the input inputs_embeds",
        found="input_ids",
        where=draft.graph_file,
        remedy="Export the draft again with a current exporter.",
    )


def one_way_of_drafting(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """A target with an MTP head can draft by itself; only one of the two runs."""
    if MTP_GRAPH in target.file_sizes and draft.kind().is_dflash_family:
        yield Finding(
            "mtp_and_draft",
            Weight.INFO,
            Subject.PAIR,
            expected="",
            found="the target also has an MTP head; with this draft it is not used",
            where=MTP_GRAPH,
        )


def base_model_agrees(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    """Cards may name what both were made from; variants of one model attach, but fit worse."""
    if not draft.kind().is_dflash_family:
        return
    if target.base_models and draft.base_models:
        ours = {_plain(name) for name in target.base_models}
        if not ours & {_plain(name) for name in draft.base_models}:
            yield Finding(
                "base_model_differs",
                Weight.WARN,
                Subject.PAIR,
                expected=f"a target made from {', '.join(draft.base_models[:3])}",
                found=", ".join(target.base_models[:3]),
                where="README.md",
                remedy=f"The draft was made for another target. {_MEASURE}",
            )
        return
    yield Finding(
        "pair_unverified",
        Weight.INFO,
        Subject.PAIR,
        expected="cards that name the same base model",
        found="unverified: no such words, and files alone cannot prove that the draft was trained "
        "on this target",
        where="README.md",
        remedy=_MEASURE,
    )


def _layer_count(target: ModelFacts) -> int | None:
    if target.config.layer_count is not None:
        return target.config.layer_count
    locators = parse_locators(target.rt_info(ANNOTATION) or "")
    return max(locators) + 1 if locators else None


def _layer_ids(draft: ModelFacts) -> tuple[int, ...]:
    if not draft.kind().is_dflash_family:
        return ()
    ids = target_layers(draft) or ()
    return ids if len(set(ids)) == len(ids) else ()


def _input_width(model: ModelFacts, name: str) -> int | None:
    shape = () if model.graph is None else model.graph.inputs().get(name, ())
    return shape[2] if len(shape) == 3 and shape[2] > 0 else None


def _role_of(token: int, target: ModelFacts) -> str:
    tokenizer = target.tokenizer
    if token in target.config.eos_token_ids or (tokenizer and token == tokenizer.eos_token_id):
        return "end"
    if token in target.config.pad_token_ids or (tokenizer and token == tokenizer.pad_token_id):
        return "padding"
    return ""


def _plain(name: str) -> str:
    return name.strip().rstrip("/").rsplit("/", 1)[-1].lower()
