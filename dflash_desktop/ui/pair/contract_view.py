"""The contract of a pair as a list: what fails and what is doubtful open, the rest folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.domain.check_words import SUBJECT_WORDS, WEIGHT_WORDS, contract_sentence
from dflash_desktop.domain.pair_contract import ContractResult, Verdict, Weight, verdict_of
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.fact_rows import FactRows
from dflash_desktop.ui.pair.icon_line import IconLine
from dflash_desktop.ui.pair.words import (
    CONTRACT_LOOKS,
    WEIGHT_LOOKS,
    notes_title,
    passed_line,
    passed_title,
)
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.fold import Fold
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.pair_contract import Finding, PassedRule
    from dflash_desktop.ui.theme import Theme

_NAME_WIDTH: Final = 72


class FindingCard(SurfaceFrame):
    """One finding: whose, what was found and expected, and what to do."""

    def __init__(self, finding: Finding, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        head = f"{WEIGHT_WORDS[finding.weight]} · {SUBJECT_WORDS[finding.subject]}"
        self.setAccessibleName(f"{head}: {finding.found}")
        facts = [("Found", finding.found)]
        if finding.expected:
            facts.append(("Expected", finding.expected))
        facts.append(("Where", finding.where))
        if finding.remedy:
            facts.append(("To do", finding.remedy))
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_SMALL)
        column.addWidget(IconLine(WEIGHT_LOOKS[finding.weight], head, theme=theme))
        column.addWidget(FactRows(facts, name_width=_NAME_WIDTH))
        column.addWidget(Label(finding.code, role=TextRole.CAPTION))


class ContractView(QWidget):
    """Shows one contract at a time."""

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sentence = IconLine(CONTRACT_LOOKS[Verdict.GOOD], "", theme=theme)
        self._parts: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_SMALL)
        self._column.addWidget(self._sentence)

    def show_contract(self, contract: ContractResult) -> None:
        """Replace what is shown."""
        verdict = verdict_of(contract.findings)
        self._sentence.show_line(CONTRACT_LOOKS[verdict], contract_sentence(contract.findings))
        for old in self._parts:
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        open_ones = [one for one in contract.findings if one.weight is not Weight.INFO]
        notes = [one for one in contract.findings if one.weight is Weight.INFO]
        self._parts = [FindingCard(one, theme=self._theme) for one in open_ones]
        if notes:
            title = notes_title(len(notes))
            self._parts.append(Fold(title, self._notes(notes), theme=self._theme))
        if contract.passed:
            title = passed_title(len(contract.passed))
            self._parts.append(Fold(title, self._passed(contract.passed), theme=self._theme))
        for part in self._parts:
            self._column.addWidget(part)

    def _notes(self, notes: Sequence[Finding]) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        for note in notes:
            column.addWidget(FindingCard(note, theme=self._theme))
        return part

    def _passed(self, passed: Sequence[PassedRule]) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_TINY)
        look = (IconName.CHECK, CONTRACT_LOOKS[Verdict.GOOD][1])
        for rule in passed:
            line = IconLine(look, passed_line(rule), theme=self._theme, role=TextRole.INTERFACE)
            column.addWidget(line)
        return part
