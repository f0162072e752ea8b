"""What the page of a pair says about its contract, a repair and a check."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.check_words import SUBJECT_WORDS
from dflash_desktop.domain.pair_contract import Verdict, Weight
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import TextRole

if TYPE_CHECKING:
    from dflash_desktop.domain.check_summary import CheckSummary
    from dflash_desktop.domain.pair_contract import PassedRule
    from dflash_desktop.domain.repair_plan import NotRepaired, Repair, RepairPlan

Look = tuple[IconName, ColourRole]

_GOOD: Final = (IconName.CIRCLE_CHECK, ColourRole.GOOD)
_WARN: Final = (IconName.TRIANGLE_ALERT, ColourRole.WARN)
_BAD: Final = (IconName.CIRCLE_ALERT, ColourRole.BAD)
_NOTE: Final = (IconName.INFO, ColourRole.TEXT_MUTED)

WEIGHT_LOOKS: Final[dict[Weight, Look]] = {
    Weight.BLOCK: _BAD,
    Weight.WARN: _WARN,
    Weight.INFO: _NOTE,
}
CONTRACT_LOOKS: Final[dict[Verdict, Look]] = {
    Verdict.GOOD: _GOOD,
    Verdict.WARNINGS: _WARN,
    Verdict.BLOCKED: _BAD,
}
CHECK_LOOKS: Final[dict[CheckVerdict, Look]] = {
    CheckVerdict.WORKING: _GOOD,
    CheckVerdict.SLOWER: _WARN,
    CheckVerdict.USELESS: _WARN,
    CheckVerdict.WRONG_TEXT: _BAD,
    CheckVerdict.NOT_ATTACHED: _BAD,
}
CHECK_ROLES: Final = {
    CheckVerdict.WORKING: TextRole.GOOD,
    CheckVerdict.SLOWER: TextRole.WARN,
    CheckVerdict.USELESS: TextRole.WARN,
    CheckVerdict.WRONG_TEXT: TextRole.BAD,
    CheckVerdict.NOT_ATTACHED: TextRole.BAD,
}
_LONG_WORD: Final = re.compile(r"\S{24,}")
_PLACE_TO_BREAK: Final = re.compile(r"(?<=[_/\\.\-,;])")
_LETTERS_UNBROKEN: Final = 24
ACCEPTED: Final = frozenset({CheckVerdict.WORKING, CheckVerdict.SLOWER})
"""After these a repair was worth it."""

TAKE_BACK: Final = (
    "The draft is not accepted after the repair either. You can take the repair back with Undo."
)
CAN_TAKE_BACK: Final = (
    "A repair was made here. The files from before are kept beside the new ones; Undo puts them "
    "back."
)


def breakable(text: str) -> str:
    """The same words, with places to break (that nobody sees) in very long ones."""
    return _LONG_WORD.sub(lambda word: _broken(word.group()), text)


def _broken(word: str) -> str:
    step = _LETTERS_UNBROKEN
    parts = (part for part in _PLACE_TO_BREAK.split(word) if part)
    lines = (part[at : at + step] for part in parts for at in range(0, len(part), step))
    return "\u200b".join(lines)


def passed_line(rule: PassedRule) -> str:
    """One rule that holds."""
    return f"{SUBJECT_WORDS[rule.subject]}: {rule.words[:1].lower()}{rule.words[1:]}"


def passed_title(count: int) -> str:
    """The words on the fold."""
    return f"{count} {'check' if count == 1 else 'checks'} passed"


def notes_title(count: int) -> str:
    """The words on the fold of what is merely worth knowing."""
    return f"{count} {'note' if count == 1 else 'notes'}"


def repair_line(repair: Repair) -> str:
    """What will be written, and where."""
    return f"{SUBJECT_WORDS[repair.subject]}, {repair.file}: {repair.words}"


def not_repaired_line(fault: NotRepaired) -> str:
    """What a repair cannot mend, and what to do instead."""
    return f"{SUBJECT_WORDS[fault.subject]}: {fault.reason} {fault.advice}"


def repair_title(plan: RepairPlan, *, can_undo: bool) -> str:
    """The head of the card."""
    if plan.repairs:
        return "This can be repaired"
    return "It was repaired" if can_undo else "This cannot be repaired here"


def position_words(check: CheckSummary) -> str:
    """The bars as one sentence, for whoever cannot see them."""
    if not check.accepted:
        return "Nothing was proposed."
    words = ", ".join(f"{n}: {rate:.0%}" for n, rate in enumerate(check.accepted, start=1))
    return f"Accepted by position: {words}"


def when_words(check: CheckSummary) -> str:
    """When it was checked, in this person's time."""
    return f"{check.checked_at.astimezone():%d %b, %H:%M}"
