"""How a result is told: what the check of the files said, and what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.check_words import VERDICT_SENTENCES
from dflash_desktop.domain.units import format_speedup
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.words import CHECK_ROLES
from dflash_desktop.ui.theme import TextRole

if TYPE_CHECKING:
    from dflash_desktop.domain.export_run import ExportedModel, ExportResult

_CONTRACT_LOOKS: Final = {
    "good": ("The files are as they should be", TextRole.GOOD, IconName.CIRCLE_CHECK),
    "warnings": ("It can run, with doubts", TextRole.WARN, IconName.TRIANGLE_ALERT),
    "blocked": ("It cannot run", TextRole.BAD, IconName.CIRCLE_ALERT),
}

_VERDICT_ICONS: Final = {
    TextRole.GOOD: IconName.CIRCLE_CHECK,
    TextRole.WARN: IconName.TRIANGLE_ALERT,
    TextRole.BAD: IconName.CIRCLE_ALERT,
}


def contract_look(model: ExportedModel) -> tuple[str, TextRole, IconName]:
    """What the check of a model's files said."""
    unknown = (model.contract_verdict, TextRole.MUTED, IconName.INFO)
    return _CONTRACT_LOOKS.get(model.contract_verdict, unknown)


def pair_look(result: ExportResult) -> tuple[str, TextRole, IconName] | None:
    """What the measured check said; None if nothing was measured."""
    if not result.pair_verdict:
        return None
    try:
        verdict = CheckVerdict(result.pair_verdict)
    except ValueError:  # kept by a later version of the program
        return (result.pair_verdict, TextRole.MUTED, IconName.INFO)
    words = VERDICT_SENTENCES[verdict]
    if result.speed_up is not None:
        words += f" {format_speedup(result.speed_up)} of the speed without it, measured here."
    role = CHECK_ROLES[verdict]
    return (words, role, _VERDICT_ICONS[role])
