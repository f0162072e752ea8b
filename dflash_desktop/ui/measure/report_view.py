"""A finished measurement: the verdict, why, each setting, each prompt, and how it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHeaderView,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from dflash_desktop.domain.units import format_speedup, significant
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.measure.report_table import COLUMNS, ReportModel, setting_rows
from dflash_desktop.ui.measure.words import (
    conditions,
    identical_line,
    long_context_facts,
    verdict_line,
    verdict_number,
)
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.ui.measure.report_table import SettingRow
    from dflash_desktop.ui.theme import Theme

_BAR_HEIGHT = 8
_ROW_HEIGHT = 32


class ReportView(QWidget):
    """Shows one report at a time."""

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._number = Label(role=TextRole.NUMBER)
        self._line = Label(role=TextRole.MUTED, wraps=True)
        self._reason = Label(wraps=True)
        self._identical = Label(wraps=True)
        self._settings = QGridLayout()
        self._settings.setHorizontalSpacing(GAP_LARGE)
        self._settings.setVerticalSpacing(GAP_SMALL)
        self._settings.setColumnStretch(2, 1)
        self._model = ReportModel(self)
        self._table = _built_table(self._model)
        self._long_title = Label("Behind long prompts", role=TextRole.STRONG)
        self._long_context = _fact_grid()
        self._conditions = _fact_grid()

        verdict = SurfaceFrame(Surface.CARD)
        verdict_column = QVBoxLayout(verdict)
        verdict_column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP)
        verdict_column.setSpacing(GAP_TINY)
        for label in (self._number, self._line):
            verdict_column.addWidget(label)
        verdict_column.addSpacing(GAP_SMALL)
        verdict_column.addWidget(self._reason)
        verdict_column.addWidget(self._identical)
        self.verdict_actions = verdict_column
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(verdict)
        column.addSpacing(GAP_SMALL)
        column.addWidget(Label("Each number of assistant tokens", role=TextRole.STRONG))
        column.addLayout(self._settings)
        column.addSpacing(GAP_SMALL)
        column.addWidget(Label("Each prompt", role=TextRole.STRONG))
        column.addWidget(self._table)
        column.addSpacing(GAP_SMALL)
        column.addWidget(self._long_title)
        column.addLayout(self._long_context)
        column.addSpacing(GAP_SMALL)
        column.addWidget(Label("How it was measured", role=TextRole.STRONG))
        column.addLayout(self._conditions)

    def show_report(self, report: BenchReport) -> None:
        """Show a report in place of the one before."""
        self._number.show_text(verdict_number(report))
        self._line.show_text(verdict_line(report))
        self._reason.show_text(report.chosen.reason)
        self._identical.show_text(identical_line(report))
        self._show_settings(report)
        self._model.show_report(report)
        _fit_height(self._table)
        self._long_title.setVisible(bool(report.long_context))
        _fill(self._long_context, long_context_facts(report))
        _fill(self._conditions, conditions(report))

    def _show_settings(self, report: BenchReport) -> None:
        empty_layout(self._settings)
        for column, title in enumerate(("Tokens", "Speed-up", "", "Per step", "Same text")):
            self._settings.addWidget(Label(title, role=TextRole.OVERLINE), 0, column)
        rows = setting_rows(report)
        most = max([row.speedup or 0.0 for row in rows] + [1.0])
        for line, row in enumerate(rows, start=1):
            is_chosen = row.assistant_tokens == report.chosen.assistant_tokens
            self._show_setting(line, row, most=most, is_chosen=is_chosen)

    def _show_setting(self, line: int, row: SettingRow, *, most: float, is_chosen: bool) -> None:
        role = TextRole.STRONG if is_chosen else TextRole.INTERFACE
        tokens = f"{row.assistant_tokens} · chosen" if is_chosen else str(row.assistant_tokens)
        per_step = "–" if row.tokens_per_step is None else significant(row.tokens_per_step)
        grid = self._settings
        grid.addWidget(Label(tokens, role=role), line, 0)
        grid.addWidget(Label(format_speedup(row.speedup), role=role), line, 1)
        bar = SpeedupBar(row.speedup or 0.0, most=most, theme=self._theme)
        grid.addWidget(bar, line, 2, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(Label(per_step, role=role), line, 3)
        grid.addWidget(Label(f"{row.identical} of {row.prompts}", role=role), line, 4)


class SpeedupBar(QWidget):
    """A speed-up as a bar, with a mark where it would be 1: neither faster nor slower."""

    def __init__(self, speedup: float, *, most: float, theme: Theme) -> None:
        super().__init__()
        self._speedup = speedup
        self._most = most
        self._theme = theme
        self.setFixedHeight(_BAR_HEIGHT + 8)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip("The mark is where the draft neither gains nor costs.")
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(120, _BAR_HEIGHT + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the track, the bar and the mark."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        top = (self.height() - _BAR_HEIGHT) / 2
        painter.setBrush(self._theme.colour(ColourRole.BORDER))
        painter.drawRoundedRect(QRectF(0, top, self.width(), _BAR_HEIGHT), 4, 4)
        role = ColourRole.ACCENT if self._speedup >= 1 else ColourRole.TEXT_MUTED
        painter.setBrush(self._theme.colour(role))
        width = self.width() * self._speedup / self._most
        painter.drawRoundedRect(QRectF(0, top, width, _BAR_HEIGHT), 4, 4)
        mark = self.width() / self._most
        painter.setBrush(self._theme.colour(ColourRole.TEXT))
        painter.drawRect(QRectF(min(mark, self.width() - 2), top - 3, 2, _BAR_HEIGHT + 6))
        painter.end()


def _built_table(model: ReportModel) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName("Each prompt at each number of assistant tokens")
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(len(COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
    table.setTabKeyNavigation(False)
    return table


def _fit_height(table: QTableView) -> None:
    rows = table.model().rowCount() * _ROW_HEIGHT
    table.setFixedHeight(rows + table.horizontalHeader().sizeHint().height() + 2 * GAP_TINY)


def _fact_grid() -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(GAP_LARGE)
    grid.setVerticalSpacing(GAP_TINY)
    grid.setColumnStretch(1, 1)
    return grid


def _fill(grid: QGridLayout, facts: tuple[tuple[str, str], ...]) -> None:
    empty_layout(grid)
    for number, (name, value) in enumerate(facts):
        grid.addWidget(Label(name, role=TextRole.MUTED), number, 0)
        words = Label(value, wraps=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(words, number, 1)
