"""A pair's contract and checks as Markdown that can be shown to anybody."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from dflash_desktop import __version__
from dflash_desktop.domain.check_numbers import signature_of
from dflash_desktop.domain.check_words import (
    ACCEPTANCE_SENTENCES,
    SUBJECT_WORDS,
    TEXT_SENTENCES,
    VERDICT_SENTENCES,
    VERDICT_WORDS,
    WEIGHT_WORDS,
    contract_sentence,
)
from dflash_desktop.domain.units import format_rate, format_speedup, significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflash_desktop.domain.benchmark import FirstDifference
    from dflash_desktop.domain.check_summary import CheckSummary
    from dflash_desktop.domain.pair_contract import ContractResult, Finding
    from dflash_desktop.services.diagnostics import PrivateFacts

_LINE_LIMIT: Final = 400
_Plain = Callable[[str], str]


def pair_report(
    title: str,
    contract: ContractResult,
    checks: Sequence[CheckSummary],
    *,
    private: PrivateFacts,
) -> str:
    """The whole report; `checks` are the pair's, the newest first.

    Folders, the user's and the machine's name and whatever looks like a secret are left out.
    """

    def plain(text: str) -> str:
        return _plain(private.mask_folders(text))

    lines = [f"# Does this pair work? {plain(title)}", "", f"DFlash Desktop {__version__}", ""]
    lines += _contract(contract, plain)
    if checks:
        lines += ["", "## Measured check", "", *_check(checks[0], plain)]
    if len(checks) > 1:
        lines += [
            "",
            "## Checks before",
            "",
            "| Checked | Verdict | Speed-up | Per step | Device |",
        ]
        lines += ["| --- | --- | --- | --- | --- |", *(_row(one, plain) for one in checks[1:])]
    return "\n".join(lines) + "\n"


def _contract(contract: ContractResult, plain: _Plain) -> Iterator[str]:
    yield from ("## Contract", "", contract_sentence(contract.findings), "")
    for finding in contract.findings:
        yield from _finding(finding, plain)
    yield f"{len(contract.passed)} checks passed."


def _finding(finding: Finding, plain: _Plain) -> Iterator[str]:
    weight, subject = WEIGHT_WORDS[finding.weight], SUBJECT_WORDS[finding.subject]
    yield f"- **{weight}**: {subject}, {plain(finding.where)} (`{finding.code}`)"
    yield f"  - found: {plain(finding.found)}"
    if finding.expected:
        yield f"  - expected: {plain(finding.expected)}"
    if finding.remedy:
        yield f"  - to do: {plain(finding.remedy)}"


def _check(check: CheckSummary, plain: _Plain) -> Iterator[str]:
    yield f"**{VERDICT_SENTENCES[check.verdict]}**"
    yield ""
    yield from (f"- {name}: {plain(value)}" for name, value in check_facts(check))
    if check.difference is not None:
        yield from (f"- {plain(line)}" for line in difference_lines(check.difference))
    for number, cause in enumerate(check.causes, start=1):
        yield f"{number}. {plain(cause.words)} (`{cause.code}`) {plain(cause.remedy)}"


def _row(check: CheckSummary, plain: _Plain) -> str:
    cells = (
        f"{check.checked_at.astimezone():%Y-%m-%d}",
        VERDICT_WORDS[check.verdict],
        format_speedup(check.speedup),
        per_step_words(check),
        plain(check.device_name) or "–",
    )
    return f"| {' | '.join(cells)} |"


def check_facts(check: CheckSummary) -> tuple[tuple[str, str], ...]:
    """The numbers of a check as names and values; none for a pair that could not run."""
    if check.text is None:
        return (("Checked", f"{check.checked_at.astimezone():%Y-%m-%d %H:%M}"),)
    accepted = ", ".join(f"{rate:.0%}" for rate in check.accepted)
    facts = (
        ("Speed-up", f"{format_speedup(check.speedup)} with {check.assistant_tokens} tokens"),
        ("Without the draft", format_rate(check.baseline_tokens_per_second)),
        ("With the draft", format_rate(check.tokens_per_second)),
        ("Tokens per step", per_step_words(check)),
        ("Accepted by position", accepted or "–"),
        ("Acceptance", ACCEPTANCE_SENTENCES[signature_of(check.accepted)]),
        ("Text", TEXT_SENTENCES[check.text]),
        ("Device", check.device_name),
        ("Driver", check.driver),
        ("Runtime", check.runtime),
        ("KV cache", check.kv_cache_precision),
        ("Checked", f"{check.checked_at.astimezone():%Y-%m-%d %H:%M}"),
    )
    return tuple((name, value) for name, value in facts if value)


def difference_lines(difference: FirstDifference) -> tuple[str, ...]:
    """Where two texts part: both continuations, and how far apart the target finds them."""
    lines = [
        f"First difference at token {difference.token_index + 1}",
        f"Without the draft: “{_short(difference.without_draft)}”",
        f"With the draft: “{_short(difference.with_draft)}”",
    ]
    if difference.gap_nats is not None:
        gap, noise = significant(abs(difference.gap_nats)), significant(difference.noise_nats)
        word = "Numeric tie" if difference.is_numeric_tie else "Wrong token"
        lines.append(f"{word}: {gap} nats apart, and rounding explains {noise}.")
    return tuple(lines)


def per_step_words(check: CheckSummary) -> str:
    """How many tokens one step brings."""
    return "–" if check.tokens_per_step is None else significant(check.tokens_per_step)


def _short(text: str) -> str:
    return " ".join(text.split())[:_LINE_LIMIT]


def _plain(text: str) -> str:
    """One line that Markdown shows as it is, and no longer than a person reads."""
    line = " ".join(text.split())[:_LINE_LIMIT]
    return re.sub(r"([\\`*_<>|\[\]#])", r"\\\1", line)
