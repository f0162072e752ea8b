"""What the contract and the measured check say, in the window and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_numbers import USELESS_BELOW, Signature, TextVerdict
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.pair_contract import Subject, Verdict, Weight, verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.pair_contract import Finding

VERDICT_SENTENCES: Final = {
    CheckVerdict.WORKING: "The draft works.",
    CheckVerdict.USELESS: "The draft is attached but useless: hardly any token is accepted.",
    CheckVerdict.SLOWER: "The draft's tokens are accepted, but it is not faster here.",
    CheckVerdict.WRONG_TEXT: "With the draft the text is not the target's own.",
    CheckVerdict.NOT_ATTACHED: "The draft cannot run with this target.",
}

VERDICT_WORDS: Final = {
    CheckVerdict.WORKING: "Working",
    CheckVerdict.USELESS: "Useless",
    CheckVerdict.SLOWER: "Slower",
    CheckVerdict.WRONG_TEXT: "Wrong text",
    CheckVerdict.NOT_ATTACHED: "Not attached",
}

TEXT_SENTENCES: Final = {
    TextVerdict.IDENTICAL: "All texts are identical, token by token.",
    TextVerdict.NUMERIC_TIE: "Numeric tie: where the texts part, the target finds both tokens "
    "equal within rounding.",
    TextVerdict.WRONG_TOKEN: "Wrong token: the target itself would not have chosen it.",
    TextVerdict.UNEXPLAINED: "A text ends earlier with the draft; there is no token to compare.",
}

_CONTRACT_SENTENCES: Final = {
    Verdict.GOOD: "Nothing speaks against it.",
    Verdict.WARNINGS: "It may work. Check it before you rely on it.",
    Verdict.BLOCKED: "This cannot work.",
}

_UNVERIFIED: Final = "Unverified: no card says that the draft was trained on this target."

WEIGHT_WORDS: Final = {Weight.BLOCK: "Fails", Weight.WARN: "Doubtful", Weight.INFO: "Note"}

SUBJECT_WORDS: Final = {Subject.TARGET: "Target", Subject.DRAFT: "Draft", Subject.PAIR: "Pair"}


ACCEPTANCE_SENTENCES: Final = {
    Signature.NOTHING: "Nothing is accepted, as of a draft of another target.",
    Signature.FIRST_ONLY: "Accepted at the first position only: its output is shifted.",
    Signature.LOW: f"Low: below {USELESS_BELOW} tokens a step nothing can pay.",
    Signature.ORDINARY: f"Ordinary: {USELESS_BELOW} tokens a step or more at the longest setting.",
}


def contract_sentence(findings: Sequence[Finding]) -> str:
    """The verdict in words; what nothing speaks against is not proven to belong together."""
    verdict = verdict_of(findings)
    is_unverified = any(finding.code == "pair_unverified" for finding in findings)
    sentence = _CONTRACT_SENTENCES[verdict]
    return f"{sentence} {_UNVERIFIED}" if verdict is Verdict.GOOD and is_unverified else sentence
