"""Findings of the contract as commands print them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_words import WEIGHT_WORDS
from dflash_desktop.domain.pair_contract import Finding, Verdict, verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_CODES: Final = {Verdict.GOOD: 0, Verdict.WARNINGS: 1, Verdict.BLOCKED: 2}


def exit_code_of(findings: Sequence[Finding]) -> int:
    """For scripts: 0 good, 1 warnings, 2 blocked."""
    return EXIT_CODES[verdict_of(findings)]


def finding_form(finding: Finding) -> dict[str, object]:
    """The fields that docs/json.md describes."""
    return {
        "code": finding.code,
        "severity": finding.weight,
        "subject": finding.subject,
        "expected": finding.expected,
        "found": finding.found,
        "where": finding.where,
        "remedy": finding.remedy,
    }


def finding_paragraph(finding: Finding) -> str:
    """Several lines for a person."""
    weight, where = WEIGHT_WORDS[finding.weight], f"{finding.subject}, {finding.where}"
    lines = [f"{weight}: {where} ({finding.code})", f"  found     {finding.found}"]
    if finding.expected:
        lines.append(f"  expected  {finding.expected}")
    if finding.remedy:
        lines.append(f"  to do     {finding.remedy}")
    return "\n".join(lines)
