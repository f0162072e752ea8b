"""Takes files and folders that are dragged onto a page, and says so while they are over it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QDragMoveEvent, QDropEvent, QPainter, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData
    from PySide6.QtGui import QPaintEvent

    from dflash_desktop.ui.theme import Theme

_VEIL: Final = 0.96
_RADIUS: Final = 10
_BORDER_PX: Final = 2


class DropSheet(QWidget):
    """Covers `area` while something that it may take is over it; nothing is read before the drop.

    Signal: `dropped(paths)`, a tuple of str. What is dropped is never moved from where it is.
    """

    dropped = Signal(tuple)

    def __init__(self, area: QWidget, *, explanation: str, theme: Theme) -> None:
        super().__init__(area)
        self._area = area
        self._theme = theme
        self._words = ElidedLabel(role=TextRole.HEADING, mode=Qt.TextElideMode.ElideMiddle)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._explanation = Label(explanation, role=TextRole.MUTED, wraps=True)
        self._explanation.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_LARGE * 2, GAP_LARGE, GAP_LARGE * 2, GAP_LARGE)
        column.setSpacing(GAP_SMALL)
        column.addStretch(1)
        column.addWidget(self._words)
        column.addWidget(self._explanation)
        column.addStretch(1)
        area.setAcceptDrops(True)
        area.installEventFilter(self)
        theme.changed.connect(self.update)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is dragged over the area; everything else goes on its way."""
        match event.type():
            case QEvent.Type.DragEnter | QEvent.Type.DragMove:
                assert isinstance(event, QDragMoveEvent)  # noqa: S101 - the base of both
                self._take_or_leave(event)
                return True
            case QEvent.Type.DragLeave:
                self.hide()
                return True
            case QEvent.Type.Drop:
                assert isinstance(event, QDropEvent)  # noqa: S101
                self._on_drop(event)
                return True
            case QEvent.Type.Resize:
                self.setGeometry(self._area.rect())
            case _:
                pass
        return super().eventFilter(watched, event)

    def show_over(self, paths: tuple[str, ...]) -> None:
        """Say that these can be dropped."""
        name = Path(paths[0]).name or paths[0]
        what = f"“{name}”" if len(paths) == 1 else f"{len(paths)} files"
        self._words.show_text(f"Drop {what} here")
        self.setGeometry(self._area.rect())
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A veil over the page with a border."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(self._theme.colour(ColourRole.SURFACE))
        veil.setAlphaF(_VEIL)
        painter.fillRect(self.rect(), veil)
        pen = QPen(self._theme.colour(ColourRole.ACCENT), _BORDER_PX, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawRoundedRect(
            QRectF(self.rect()).adjusted(GAP, GAP, -GAP, -GAP), _RADIUS, _RADIUS
        )
        painter.end()

    def _take_or_leave(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        if paths and _accept(event):
            self.show_over(paths)
        else:
            self.hide()
            event.ignore()

    def _on_drop(self, event: QDropEvent) -> None:
        self.hide()
        paths = local_paths(event.mimeData())
        if paths and _accept(event):
            self.dropped.emit(paths)
        else:
            event.ignore()


def _accept(event: QDropEvent) -> bool:
    """As a copy or a link: after a "move" the file manager would delete the file."""
    for action in (Qt.DropAction.CopyAction, Qt.DropAction.LinkAction):
        if event.possibleActions() & action:
            event.setDropAction(action)
            event.accept()
            return True
    return False


def local_paths(data: QMimeData) -> tuple[str, ...]:
    """The files and folders of this machine that are dragged or pasted."""
    return tuple(str(Path(url.toLocalFile())) for url in data.urls() if url.isLocalFile())
