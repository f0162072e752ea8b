"""Is it the precision or the draft? The answer, and each draft's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QVBoxLayout

from dflash_desktop.domain.check_words import VERDICT_WORDS
from dflash_desktop.domain.units import format_speedup, significant
from dflash_desktop.ui.pair.words import CHECK_ROLES
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.domain.precision_question import PrecisionCheck, PrecisionComparison

_TITLES = ("Precision", "Verdict", "Speed-up", "Per step", "Draft")


class PrecisionView(SurfaceFrame):
    """One comparison; a new one for each."""

    def __init__(self, comparison: PrecisionComparison) -> None:
        super().__init__(Surface.CARD)
        self.setAccessibleName(comparison.statement)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(Label("Is it the precision or the draft?", role=TextRole.STRONG))
        column.addWidget(Label(comparison.statement, wraps=True))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(GAP_SMALL)
        self._grid.setColumnStretch(len(_TITLES) - 1, 1)
        for place, title in enumerate(_TITLES):
            self._grid.addWidget(Label(title, role=TextRole.OVERLINE), 0, place)
        for row, check in enumerate(comparison.checks, start=1):
            self._add_row(row, check)
        column.addLayout(self._grid)

    def _add_row(self, row: int, check: PrecisionCheck) -> None:
        brought = check.tokens_per_step
        labels = (
            Label(check.precision or "–"),
            Label(VERDICT_WORDS[check.verdict], role=CHECK_ROLES[check.verdict]),
            Label(format_speedup(check.speedup)),
            Label("–" if brought is None else significant(brought)),
            ElidedLabel(check.name),
        )
        for place, (title, label) in enumerate(zip(_TITLES, labels, strict=True)):
            label.setAccessibleName(f"{title}: {label.text()}")
            self._grid.addWidget(label, row, place)
