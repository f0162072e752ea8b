"""The list of the models on this disk: drawn, not built, so that hundreds cost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.models.library_words import ModelRow
from dflash_desktop.ui.theme import (
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    ICON_SIZE,
    SIZE_CAPTION,
    SIZE_INTERFACE,
    STATE_COLOURS,
    interface_font,
)

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

    from dflash_desktop.ui.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_RADIUS: Final = 6
_MOST_ROWS: Final = 8


class ModelRows(QAbstractListModel):
    """The rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ModelRow, ...] = ()

    def show_rows(self, rows: tuple[ModelRow, ...]) -> bool:
        """Replace all rows; False if nothing has changed."""
        if rows == self._rows:
            return False
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()
        return True

    def row(self, index: _Index) -> ModelRow | None:
        """What an index stands for."""
        return self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None

    def index_of(self, model_id: str) -> QModelIndex:
        """Where a model is; invalid when it is not listed."""
        for number, row in enumerate(self._rows):
            if row.model_id == model_id:
                return self.index(number, 0)
        return QModelIndex()

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """One row a model."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words for the eye, the tooltip and screen readers; never raises."""
        row = self.row(index)
        if row is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:  # also what typing letters searches
                return row.title
            case Qt.ItemDataRole.ToolTipRole:
                return f"{row.title}\n{row.facts}"
            case Qt.ItemDataRole.AccessibleTextRole:
                return row.spoken
            case Qt.ItemDataRole.UserRole:
                return row
            case _:
                return None


class ModelDelegate(QStyledItemDelegate):
    """Two lines: name and size, then what it is and its state."""

    def __init__(self, *, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title_font = interface_font(SIZE_INTERFACE, tabular=True, semibold=True)
        self._fact_font = interface_font(SIZE_CAPTION, tabular=True)
        self._title_metrics = QFontMetrics(self._title_font)
        self._fact_metrics = QFontMetrics(self._fact_font)

    @property
    def row_height(self) -> int:
        """Two lines and the room around them, in px."""
        lines = self._title_metrics.height() + self._fact_metrics.height()
        return lines + GAP_TINY + 2 * GAP_SMALL

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """All rows are alike."""
        return QSize(0, self.row_height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw one row."""
        row = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(row, ModelRow):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option)
        area: QRect = option.rect.adjusted(GAP_MEDIUM, GAP_SMALL, -GAP_MEDIUM, -GAP_SMALL)
        top = QRect(area.left(), area.top(), area.width(), self._title_metrics.height())
        below = QRect(
            area.left(),
            area.bottom() - self._fact_metrics.height() + 1,
            area.width(),
            self._fact_metrics.height(),
        )
        self._paint_line(
            painter, top, row.title, row.size, (ColourRole.TEXT, ColourRole.TEXT), self._title_font
        )
        inks = (ColourRole.TEXT_MUTED, STATE_COLOURS[row.state_role])
        left = self._paint_line(painter, below, row.facts, row.state, inks, self._fact_font)
        if row.icon is not None:
            place = QRect(
                left - ICON_SIZE - GAP_TINY, below.center().y() - ICON_SIZE // 2 + 1, 0, 0
            )
            place.setSize(QSize(ICON_SIZE, ICON_SIZE))
            self._theme.icon(row.icon, STATE_COLOURS[row.state_role]).paint(painter, place)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        state = option.state
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        if is_selected or state & QStyle.StateFlag.State_MouseOver:
            colours = self._theme.colours
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.pressed if is_selected else colours.hover))
            painter.drawRoundedRect(option.rect, _RADIUS, _RADIUS)

    def _paint_line(
        self,
        painter: QPainter,
        area: QRect,
        words: str,
        at_right: str,
        inks: tuple[ColourRole, ColourRole],
        font: QFont,
    ) -> int:
        """Draw `words`, shortened to what `at_right` leaves; returns where the latter begins."""
        painter.setFont(font)
        metrics = painter.fontMetrics()
        taken = metrics.horizontalAdvance(at_right)
        left = area.right() - taken + 1
        room = left - area.left() - GAP_MEDIUM - ICON_SIZE
        shown = metrics.elidedText(" ".join(words.split()), Qt.TextElideMode.ElideRight, room)
        painter.setPen(self._theme.colour(inks[0]))
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.setPen(self._theme.colour(inks[1]))
        painter.drawText(
            area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, at_right
        )
        return left


class ModelListView(QListView):
    """As high as its rows, up to eight; then it scrolls."""

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = ModelRows(self)
        self._delegate = ModelDelegate(theme=theme, parent=self)
        self.setModel(self.rows)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName("Models on this disk")
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        theme.changed.connect(self.viewport().update)

    def show_rows(self, rows: tuple[ModelRow, ...]) -> bool:
        """Replace all rows; False if nothing has changed."""
        has_changed = self.rows.show_rows(rows)
        if has_changed:
            count = max(1, min(_MOST_ROWS, len(rows)))
            self.setFixedHeight(count * self._delegate.row_height + 2 * self.frameWidth() + 2)
        return has_changed

    def chosen_id(self) -> str:
        """The id of the chosen model, or nothing."""
        row = self.rows.row(self.currentIndex())
        return "" if row is None else row.model_id
