"""The grid of the gallery: drawn, not built, so that thousands cost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate

from dflash_desktop.services.gallery_store import GalleryEntry
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.image.words import picture_facts, picture_title
from dflash_desktop.ui.pictures.pixels import draw_rounded
from dflash_desktop.ui.theme import GAP_MEDIUM

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtGui import QKeyEvent, QResizeEvent
    from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

    from dflash_desktop.ui.image.thumbnail_shelf import ThumbnailShelf
    from dflash_desktop.ui.theme import Theme

THUMBNAIL_PX: Final = 148
_CELL_PX: Final = THUMBNAIL_PX + GAP_MEDIUM
_RADIUS_PX: Final = 6
_ICON_PX: Final = 32
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


class GalleryModel(QAbstractListModel):
    """The entries, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[GalleryEntry, ...] = ()

    def show_entries(self, entries: tuple[GalleryEntry, ...]) -> None:
        """Replace all; one that is new on top keeps the others where they are."""
        if len(entries) == len(self._entries) + 1 and entries[1:] == self._entries:
            self.beginInsertRows(_NO_INDEX, 0, 0)
            self._entries = entries
            self.endInsertRows()
        elif entries != self._entries:
            self.beginResetModel()
            self._entries = entries
            self.endResetModel()

    @property
    def entries(self) -> tuple[GalleryEntry, ...]:
        """All that are shown."""
        return self._entries

    def entry(self, index: _Index) -> GalleryEntry | None:
        """What an index stands for."""
        return self._entries[index.row()] if 0 <= index.row() < len(self._entries) else None

    def index_of(self, picture_id: str) -> QModelIndex:
        """Where a picture is; invalid when it is not there."""
        for number, entry in enumerate(self._entries):
            if entry.id == picture_id:
                return self.index(number, 0)
        return QModelIndex()

    def on_arrived(self, picture_id: str) -> None:
        """A small picture can be drawn now."""
        index = self.index_of(picture_id)
        if index.isValid():
            self.dataChanged.emit(index, index, [Qt.ItemDataRole.DecorationRole])

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """One row a picture."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words for the tooltip and screen readers; never raises."""
        entry = self.entry(index)
        if entry is None:
            return None
        picture = entry.picture
        match role:
            case Qt.ItemDataRole.ToolTipRole:
                return f"{picture_title(picture)}\n{picture_facts(picture)}"
            case Qt.ItemDataRole.AccessibleTextRole:
                alt = picture.alt_text if picture is not None else ""
                return alt or picture_title(picture)
            case Qt.ItemDataRole.UserRole:
                return entry
            case _:
                return None


class GalleryDelegate(QStyledItemDelegate):
    """Draws one small picture with the frame of its state."""

    def __init__(self, *, theme: Theme, shelf: ThumbnailShelf, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shelf = shelf

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """All the same."""
        return QSize(_CELL_PX, _CELL_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """The picture, or that there is none."""
        entry = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(entry, GalleryEntry):
            return
        rect: QRect = option.rect
        area = QRectF(rect.left(), rect.top(), THUMBNAIL_PX, THUMBNAIL_PX)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pixmap = self._shelf.pixmap(entry.id, entry.path)
        if pixmap is not None:
            draw_rounded(painter, area, pixmap, _RADIUS_PX)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour(ColourRole.SURFACE_RAISED))
            painter.drawRoundedRect(area, _RADIUS_PX, _RADIUS_PX)
            if self._shelf.is_broken(entry.id):
                icon = self._theme.icon(IconName.IMAGE_OFF, ColourRole.TEXT_MUTED)
                middle = area.center().toPoint()
                left, top = middle.x() - _ICON_PX // 2, middle.y() - _ICON_PX // 2
                icon.paint(painter, left, top, _ICON_PX, _ICON_PX)
        self._paint_frame(painter, area, option.state)
        painter.restore()

    def _paint_frame(self, painter: QPainter, area: QRectF, state: QStyle.StateFlag) -> None:
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        is_hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        has_focus = bool(state & QStyle.StateFlag.State_HasFocus)
        width = 3 if is_selected else 2 if has_focus else 1
        ink = ColourRole.ACCENT if is_selected or has_focus or is_hovered else ColourRole.BORDER
        painter.setPen(QPen(self._theme.colour(ink), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        edge = width / 2
        painter.drawRoundedRect(area.adjusted(edge, edge, -edge, -edge), _RADIUS_PX, _RADIUS_PX)


class GalleryGrid(QListView):
    """Signals: `opened(id)` with a click or Enter, `marked(ids)`, `delete_requested(ids)`.

    With Ctrl or Shift several are marked and none is opened.
    """

    opened = Signal(str)
    marked = Signal(tuple)
    delete_requested = Signal(tuple)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.pictures = GalleryModel(self)
        self.setModel(self.pictures)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setUniformItemSizes(True)
        self.setGridSize(QSize(_CELL_PX, _CELL_PX))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("kind", "sidebar")
        self.setAccessibleName("Gallery")
        self.setMouseTracking(True)
        self.clicked.connect(self._on_clicked)
        self.selectionModel().selectionChanged.connect(lambda *_: self.marked.emit(self.marks()))
        theme.changed.connect(self.viewport().update)

    def use_shelf(self, shelf: ThumbnailShelf) -> None:
        """Where the small pictures come from."""
        self.setItemDelegate(GalleryDelegate(theme=self._theme, shelf=shelf, parent=self))
        shelf.arrived.connect(self.pictures.on_arrived)

    def marks(self) -> tuple[str, ...]:
        """The ids of what is marked, from the top."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        return tuple(self.pictures.entries[row].id for row in rows)

    def choose(self, picture_id: str) -> None:
        """Put the keyboard on a picture."""
        index = self.pictures.index_of(picture_id)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Spread the columns over the width."""
        width = self.viewport().width() - 1  # a row that is as wide as the view is broken
        columns = max(1, (width + GAP_MEDIUM) // _CELL_PX)
        self.setGridSize(QSize(max(_CELL_PX, width // columns), _CELL_PX))
        super().resizeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, Delete asks to remove."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        elif event.key() == Qt.Key.Key_Delete and self.marks():
            self.delete_requested.emit(self.marks())
        else:
            super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        if len(self.marks()) == 1:
            self._open(index)

    def _open(self, index: QModelIndex) -> None:
        entry = self.pictures.entry(index)
        if entry is not None:
            self.opened.emit(entry.id)
