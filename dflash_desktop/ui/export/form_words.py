"""The words of the form for an export: what each choice means and when to take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_request import ExportRole, WeightFormat
from dflash_desktop.ui.export.source_words import short_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.export_request import ExportItem

ROLE_TITLES: Final = {ExportRole.TARGET: "Model", ExportRole.DRAFT: "Draft"}
ROLE_EXPLANATIONS: Final = {
    ExportRole.TARGET: "The target: the one that answers.",
    ExportRole.DRAFT: "A small DFlash model that was trained for this model. It may be left out.",
}
PLACEHOLDERS: Final = {
    ExportRole.TARGET: "owner/name on the hub, or a folder",
    ExportRole.DRAFT: "owner/name, a folder, or a GGUF file",
}
FORMATS: Final = (
    (WeightFormat.INT4, "int4", "A quarter of the size. The usual choice."),
    (WeightFormat.INT8, "int8", "Half of the size, nearer to the original."),
    (WeightFormat.FP16, "fp16", "Every weight as it is. The largest and the slowest."),
)
GROUP_SIZES: Final = (
    (None, "Automatic", "128, or the largest size that divides the width of the model."),
    (16, "16", "The most exact and the largest. For drafts that ship as GGUF."),
    (32, "32", "More exact, a little larger."),
    (64, "64", "A good middle for small drafts."),
    (128, "128", "The usual size. The width of the model must divide by it."),
)
GROUP_ADVICE: Final = (
    "So many int4 weights share one scale. Smaller groups are nearer to the original and take a "
    "little more room. Only int4 has groups."
)
ALL_LAYERS_TITLE: Final = "Pack the draft's last matrix as int4, too"
ALL_LAYERS_ADVICE: Final = (
    "It stays int8 otherwise. A few percent smaller, and no loss was measured."
)
DEVELOPMENT_TITLE: Final = "Allow development builds of the exporter"
DEVELOPMENT_ADVICE: Final = (
    "Only they know DFlash 2 and DSpark drafts. Nobody has checked these builds, and what they "
    "make may not run here. They are kept apart from the others."
)
THREADS_TITLE: Final = "Processor cores"
THREADS_ADVICE: Final = (
    "Fewer keep the machine quicker for everything else. An export takes longer then, and a "
    "little less memory."
)
NO_GROUPS: Final = "Only int4 weights have groups."


def title_of(items: Sequence[ExportItem]) -> str:
    """What an export is called: "Qwen3-8B int4 with Qwen3-8B-DFlash-b16 int4"."""
    return " with ".join(f"{short_name(item.source)} {item.weight_format.value}" for item in items)


def format_advice(weight_format: WeightFormat) -> str:
    """When to take it."""
    return next(advice for one, _, advice in FORMATS if one is weight_format)
