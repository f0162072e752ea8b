"""Rules for the entries that tell the runtime how a draft is run, which an exporter copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.model_facts import parse_integer, parse_layer_ids
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflash_desktop.domain.model_facts import ConfigFacts, ModelFacts

EXPORT_AGAIN: Final = "Export the draft again, or use the target without a draft."
MARKER: Final = ("dflash_mode",)
MASK: Final = ("dflash", "mask_token_id")
LAYERS: Final = ("dflash", "target_layer_ids")
_REPAIR: Final = "Repair it: the entries are taken from config.json, and that can be undone."


def mask_token_named(draft: ModelFacts) -> Iterator[Finding]:
    """The places that the draft fills are marked with the mask token."""
    if not draft.kind().is_dflash_family:
        return
    if mask_token(draft) is not None:
        return
    text = draft.rt_info(*MASK)
    yield Finding(
        "mask_token_missing" if text is None else "mask_token_invalid",
        Weight.BLOCK,
        Subject.DRAFT,
        expected="dflash/mask_token_id, a number",
        found="none" if text is None else f"“{text[:40]}”",
        where=draft.graph_file,
        remedy=metadata_remedy(draft),
    )


def target_layers_named(draft: ModelFacts) -> Iterator[Finding]:
    """The draft says whose hidden states it reads, each layer once."""
    if not draft.kind().is_dflash_family:
        return
    text, ids = draft.rt_info(*LAYERS), target_layers(draft)
    if ids is None:
        code, found = "target_layers_invalid", f"“{(text or '')[:80]}”"
    elif not ids:
        code, found = "target_layers_missing", "none"
    elif len(set(ids)) < len(ids):
        code, found = "target_layers_repeated", ", ".join(map(str, ids))
    else:
        return
    yield Finding(
        code,
        Weight.BLOCK,
        Subject.DRAFT,
        expected="dflash/target_layer_ids, numbers with commas between, each once",
        found=found,
        where=draft.graph_file,
        remedy=metadata_remedy(draft),
    )


def metadata_agrees(draft: ModelFacts) -> Iterator[Finding]:
    """The exporter copies two numbers from config.json into the graph, where the runtime reads."""
    if draft.graph is None or not draft.kind().is_dflash_family:
        return
    mask, layers = mask_token(draft), target_layers(draft)
    config = draft.config
    expected: list[str] = []
    found: list[str] = []
    if mask is not None and config.mask_token_id not in {None, mask}:
        expected.append(f"mask token {config.mask_token_id}")
        found.append(f"{mask}")
    if layers and config.target_layer_ids and config.target_layer_ids != layers:
        expected.append(f"layers {', '.join(map(str, config.target_layer_ids))}")
        found.append(", ".join(map(str, layers)))
    if found:
        yield Finding(
            "draft_metadata_differs",
            Weight.WARN,
            Subject.DRAFT,
            expected=f"as config.json says: {'; '.join(expected)}",
            found="; ".join(found),
            where=draft.graph_file,
            remedy=metadata_remedy(draft),
        )


def mask_token(draft: ModelFacts) -> int | None:
    """The draft's mask token as the runtime reads it; None for none or for what is no number."""
    return parse_integer(draft.rt_info(*MASK) or "")


def target_layers(draft: ModelFacts) -> tuple[int, ...] | None:
    """The target's layers as the runtime reads them: empty for none, None for malformed ones."""
    return parse_layer_ids(draft.rt_info(*LAYERS) or "")


def metadata_remedy(draft: ModelFacts) -> str:
    """Repair, where config.json names what the graph lacks and does not contradict its shape."""
    mask, layers = draft.config.mask_token_id, draft.config.target_layer_ids
    if not draft.is_built_like_dflash() or mask is None or not layers:
        return EXPORT_AGAIN
    return EXPORT_AGAIN if metadata_contradiction(draft, layers) else _REPAIR


def checkpoint_entries(checkpoint: ConfigFacts) -> dict[tuple[str, ...], str]:
    """What the runtime reads of a draft's rt_info, as its config.json has it, by path.

    Empty where it does not name both the mask token and the target's layers.
    """
    mask, layers = checkpoint.mask_token_id, checkpoint.target_layer_ids
    if mask is None or not layers:
        return {}
    return {MARKER: "True", MASK: str(mask), LAYERS: ",".join(map(str, layers))}


def metadata_contradiction(draft: ModelFacts, layers: Sequence[int]) -> str:
    """Why these layers cannot be what the draft's graph was made for, or ""."""
    inputs = {} if draft.graph is None else draft.graph.inputs()
    width, size = (inputs.get(name, ())[2:] for name in ("hidden_states", "inputs_embeds"))
    if len(set(layers)) < len(layers):
        return "config.json names a layer twice."
    if width and size and width[0] > 0 and width[0] != len(layers) * size[0]:
        return (
            f"config.json names {len(layers)} layers × {size[0]}, the graph reads a width of "
            f"{width[0]}."
        )
    return ""
