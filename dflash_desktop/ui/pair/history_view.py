"""The checks of a pair, the newest first, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QWidget

from dflash_desktop.domain.check_words import VERDICT_WORDS
from dflash_desktop.domain.units import format_speedup
from dflash_desktop.services.pair_report import per_step_words
from dflash_desktop.ui.pair.words import CHECK_ROLES, when_words
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.check_summary import CheckSummary

_TITLES = ("Checked", "Verdict", "Speed-up", "Per step", "Device")


class HistoryView(QWidget):
    """Shows nothing until there is a check."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(GAP_SMALL)
        self._grid.setColumnStretch(len(_TITLES) - 1, 1)

    def show_checks(self, checks: Sequence[CheckSummary]) -> None:
        """Replace all lines."""
        empty_layout(self._grid)
        for column, title in enumerate(_TITLES):
            self._grid.addWidget(Label(title, role=TextRole.OVERLINE), 0, column)
        for row, check in enumerate(checks, start=1):
            self._add_row(row, check)

    def _add_row(self, row: int, check: CheckSummary) -> None:
        verdict = VERDICT_WORDS[check.verdict]
        device = ElidedLabel(f"{check.device_name} {check.kv_cache_precision}".strip() or "–")
        labels = (
            Label(when_words(check)),
            Label(verdict, role=CHECK_ROLES[check.verdict]),
            Label(format_speedup(check.speedup)),
            Label(per_step_words(check)),
            device,
        )
        for column, (title, label) in enumerate(zip(_TITLES, labels, strict=True)):
            if column == 0:
                label.setToolTip(f"{check.checked_at.astimezone():%d %B %Y, %H:%M:%S}")
            label.setAccessibleName(f"{title}: {label.text()}")
            self._grid.addWidget(label, row, column)
