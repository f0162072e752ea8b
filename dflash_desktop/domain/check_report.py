"""The outcome of checking a pair by running it."""

from __future__ import annotations

from dataclasses import dataclass

from dflash_desktop.domain.benchmark import BenchReport
from dflash_desktop.domain.check_numbers import CheckNumbers
from dflash_desktop.domain.check_verdict import Judgement
from dflash_desktop.domain.pair_contract import Finding


@dataclass(frozen=True, slots=True)
class CheckReport:
    """One check. Without `report` and `numbers` the pair could not run at all."""

    title: str
    judgement: Judgement
    findings: tuple[Finding, ...]
    report: BenchReport | None = None
    numbers: CheckNumbers | None = None
