"""What else drafts for this target: how the ways compare here, or a button that measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout

from dflash_desktop.domain.draft_rivals import USED_WHERE, worth_words
from dflash_desktop.domain.units import format_rate
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.draft_rivals import WaysCompared
    from dflash_desktop.ui.theme import Theme

_TITLES: Final = ("Speed-up", "Tokens", "Without a draft", "Pair")
_NOT_MEASURED: Final = (
    "Nobody has measured yet which of them is faster on this machine. Measuring takes about half "
    "a minute for each with a small model; the faster one is loaded afterwards."
)
_MEASURE_TIP: Final = "Asks the same questions with each of them, one after the other"


class WaysCard(SurfaceFrame):
    """Hidden where the target has no other draft. Signals: `measure_requested`."""

    measure_requested = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._title = Label(role=TextRole.STRONG, wraps=True)
        self._words = Label(wraps=True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(GAP_SMALL)
        self._grid.setColumnStretch(len(_TITLES) - 1, 1)
        self._measure = Button("", theme=theme)
        self._measure.clicked.connect(self.measure_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(self._title)
        column.addWidget(self._words)
        column.addLayout(self._grid)
        column.addLayout(FlowRow(self._measure))
        self.show_busy("")
        self.hide()

    def show_ways(self, titles: Sequence[str], compared: WaysCompared | None) -> None:
        """The pairs that this target makes, and what was measured of them."""
        self.setVisible(len(titles) > 1)
        count = len(titles)
        self._title.show_text(f"This target can draft in {count} ways")
        empty_layout(self._grid)
        if compared is None:
            listed = ", ".join(f"“{title}”" for title in titles)
            self._words.show_text(f"{listed}. {_NOT_MEASURED}")
            self._measure.setText("Measure both" if count == 2 else f"Measure all {count}")
        else:
            used = f" {USED_WHERE}" if compared.pays else ""
            self._words.show_text(f"{compared.statement}{used}")
            self._measure.setText("Measure both again" if count == 2 else "Measure all again")
            self._show_rows(compared)

    def show_busy(self, why: str) -> None:
        """Why nothing can be measured now; empty: it can."""
        self._measure.setEnabled(not why)
        self._measure.setToolTip(why or _MEASURE_TIP)

    def _show_rows(self, compared: WaysCompared) -> None:
        for place, title in enumerate(_TITLES):
            self._grid.addWidget(Label(title, role=TextRole.OVERLINE), 0, place)
        for row, report in enumerate(compared.reports, start=1):
            is_fastest = compared.pays and report is compared.fastest
            role = TextRole.STRONG if is_fastest else TextRole.INTERFACE
            pair = f"{report.pair_title} · fastest" if is_fastest else report.pair_title
            labels = (
                Label(worth_words(report), role=role),
                Label(str(report.chosen.assistant_tokens), role=role),
                Label(format_rate(report.baseline_tokens_per_second), role=role),
                ElidedLabel(pair, role=role),
            )
            for place, (title, label) in enumerate(zip(_TITLES, labels, strict=True)):
                label.setAccessibleName(f"{title}: {label.text()}")
                self._grid.addWidget(label, row, place)
