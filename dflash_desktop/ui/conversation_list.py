"""The list of conversations under the headings Today, Yesterday and Earlier."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate

from dflash_desktop.services.conversation_store import ConversationSummary
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import (
    CONTROL_HEIGHT,
    GAP_SMALL,
    GAP_TINY,
    ICON_SIZE,
    SIZE_CAPTION,
    interface_font,
)

if TYPE_CHECKING:
    from datetime import datetime

    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

    from dflash_desktop.ui.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_HEADING_HEIGHT = 32
_RADIUS = 6
MORE_BUTTON_WIDTH = 32
"""Kept free at the right of the row that shows its menu button."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A row that only names a group."""

    text: str


Row = Heading | ConversationSummary


def group_name(changed_at: datetime, now: datetime) -> str:
    """The heading for a conversation, by the calendar of the time zone of `now`."""
    days = (now.date() - changed_at.astimezone(now.tzinfo).date()).days
    if days <= 0:
        return "Today"
    return "Yesterday" if days == 1 else "Earlier"


def grouped(summaries: tuple[ConversationSummary, ...], now: datetime) -> tuple[Row, ...]:
    """The rows of the list: a heading before each group; the order stays."""
    rows: list[Row] = []
    for name, group in groupby(summaries, key=lambda s: group_name(s.changed_at, now)):
        rows.append(Heading(name))
        rows.extend(group)
    return tuple(rows)


class ConversationModel(QAbstractListModel):
    """The rows. Signals: `rename_requested(id, title)` when a title was edited in place."""

    rename_requested = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Row, ...] = ()

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        """Replace all rows."""
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def summary(self, index: _Index) -> ConversationSummary | None:
        """The conversation of a row, or None for a heading or no row."""
        row = self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None
        return row if isinstance(row, ConversationSummary) else None

    def index_of(self, conversation_id: str) -> QModelIndex:
        """Where a conversation is; invalid when it is not listed."""
        for number, row in enumerate(self._rows):
            if isinstance(row, ConversationSummary) and row.id == conversation_id:
                return self.index(number, 0)
        return QModelIndex()

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Headings count as rows."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words for the eye, the editor, the tooltip and screen readers; never raises."""
        if not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if isinstance(row, Heading):
            return row.text if role == Qt.ItemDataRole.DisplayRole else None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return row.title
            case Qt.ItemDataRole.ToolTipRole:
                return row.problem.headline if row.problem else row.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{row.title}, cannot be read" if row.problem else row.title
            case _:
                return None

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for a new title; the row changes when the store has it."""
        summary = self.summary(index)
        if summary is None or role != Qt.ItemDataRole.EditRole:
            return False
        if str(value).strip() and str(value) != summary.title:
            self.rename_requested.emit(summary.id, str(value))
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Headings cannot be chosen; what cannot be read cannot be renamed."""
        summary = self.summary(index)
        if summary is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags if summary.problem else flags | Qt.ItemFlag.ItemIsEditable


class ConversationDelegate(QStyledItemDelegate):
    """Draws a heading or a title, and edits titles in place."""

    def __init__(self, *, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.menu_row = -1
        """The row whose right end holds the menu button."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Headings stand a little apart."""
        is_entry = bool(index.flags() & Qt.ItemFlag.ItemIsEnabled)
        return QSize(0, CONTROL_HEIGHT if is_entry else _HEADING_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw one row."""
        text = str(index.data(Qt.ItemDataRole.DisplayRole))
        area: QRect = option.rect.adjusted(GAP_SMALL, 0, -GAP_SMALL, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not index.flags() & Qt.ItemFlag.ItemIsEnabled:
            painter.setFont(interface_font(SIZE_CAPTION, semibold=True))
            painter.setPen(self._theme.colour(ColourRole.TEXT_MUTED))
            below = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
            painter.drawText(area.adjusted(0, 0, 0, -GAP_TINY), below, text)
        else:
            self._paint_entry(painter, option, index, area, text)
        painter.restore()

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: _Index
    ) -> QWidget:
        """One line for the title."""
        editor = QLineEdit(parent)
        editor.setAccessibleName("Title of the conversation")
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: _Index
    ) -> None:
        """The whole row."""
        editor.setGeometry(option.rect)

    def _paint_entry(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: _Index,
        area: QRect,
        text: str,
    ) -> None:
        state = option.state
        colours = self._theme.colours
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        if is_selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.pressed if is_selected else colours.hover))
            painter.drawRoundedRect(option.rect, _RADIUS, _RADIUS)
        if index.data(Qt.ItemDataRole.AccessibleTextRole) != text:
            icon = self._theme.icon(IconName.TRIANGLE_ALERT, ColourRole.WARN)
            top = area.center().y() - ICON_SIZE // 2 + 1
            icon.paint(painter, QRect(area.left(), top, ICON_SIZE, ICON_SIZE))
            area = area.adjusted(ICON_SIZE + GAP_SMALL, 0, 0, 0)
        if index.row() == self.menu_row:
            area = area.adjusted(0, 0, -MORE_BUTTON_WIDTH + GAP_SMALL, 0)
        painter.setPen(self._theme.colour(ColourRole.TEXT))
        shown = option.fontMetrics.elidedText(
            " ".join(text.split()), Qt.TextElideMode.ElideRight, area.width()
        )
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
