"""What a rule of the contract reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Weight(StrEnum):
    """Only what was shown to fail blocks; what is not certain warns."""

    BLOCK = "block"
    WARN = "warn"
    INFO = "info"


class Subject(StrEnum):
    """Whose fault it is: one folder's, or that of choosing both together."""

    TARGET = "target"
    DRAFT = "draft"
    PAIR = "pair"


class Verdict(StrEnum):
    """The worst finding, in one word."""

    GOOD = "good"
    WARNINGS = "warnings"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule or one fact; `code` is stable and for programs, the rest is for people."""

    code: str
    weight: Weight
    subject: Subject
    expected: str
    found: str
    where: str  # the file
    remedy: str = ""

    @property
    def is_repairable(self) -> bool:
        """Whether `repair` mends it, and no other model or export is needed."""
        return self.remedy.startswith("Repair it")


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """What the findings mean together."""
    weights = {finding.weight for finding in findings}
    if Weight.BLOCK in weights:
        return Verdict.BLOCKED
    return Verdict.WARNINGS if Weight.WARN in weights else Verdict.GOOD
