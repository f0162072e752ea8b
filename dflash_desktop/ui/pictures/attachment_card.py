"""One picture beside the message that is being written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pictures.thumbnail import PictureThumbnail
from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import IconButton
from dflash_desktop.ui.widgets.labels import ElidedLabel
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

_SIDE_PX: Final = 48
_KEYS: Final = "Enter opens it, Alt and the arrow keys move it, Delete removes it."


@dataclass(frozen=True, slots=True)
class AttachmentState:
    """What a card shows; without `thumbnail` the picture is still being prepared."""

    key: int
    title: str
    caption: str
    explanation: str = ""
    thumbnail: Path | None = None


class AttachmentCard(SurfaceFrame):
    """Signals: `opened`, `removed`, `moved(int)` by -1 or 1, `dragged(QPoint)` on the screen,
    `dropped`.
    """

    opened = Signal()
    removed = Signal()
    moved = Signal(int)
    dragged = Signal(QPoint)
    dropped = Signal()

    def __init__(self, state: AttachmentState, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._pressed_at: QPoint | None = None
        self._is_dragged = False
        self.thumbnail = PictureThumbnail(side_px=_SIDE_PX, theme=theme)
        self.thumbnail.setAccessibleDescription(_KEYS)
        self.thumbnail.clicked.connect(self.opened)
        self.thumbnail.installEventFilter(self)
        self._title = ElidedLabel(role=TextRole.INTERFACE, mode=Qt.TextElideMode.ElideMiddle)
        self._caption = ElidedLabel(role=TextRole.CAPTION)
        self._remove = IconButton(IconName.CLOSE, "Remove", theme=theme)
        self._remove.clicked.connect(self.removed)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addStretch()
        words.addWidget(self._title)
        words.addWidget(self._caption)
        words.addStretch()
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_TINY, GAP_TINY, 0, GAP_TINY)
        row.setSpacing(GAP_SMALL)
        row.addWidget(self.thumbnail)
        row.addLayout(words, 1)
        row.addWidget(self._remove, alignment=Qt.AlignmentFlag.AlignTop)
        self.show_state(state)

    def show_state(self, state: AttachmentState) -> None:
        """Show what has become of it."""
        self._title.show_text(state.title)
        self._caption.show_text(state.caption)
        self.setToolTip(state.explanation)
        self._remove.show_label(f"Remove {state.title}")
        name = f"Attached picture {state.title}, {state.caption}"
        self.thumbnail.show_file(state.thumbnail, name)
        self.thumbnail.setToolTip(state.explanation)
        self.thumbnail.setEnabled(state.thumbnail is not None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the thumbnail, and dragging that begins on it."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            return self._take_key(event) or super().eventFilter(watched, event)
        if isinstance(event, QMouseEvent) and self._take_mouse(event):
            return True
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The card can be dragged everywhere."""
        self._take_mouse(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag it."""
        self._take_mouse(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Drop it."""
        self._take_mouse(event)

    def _take_key(self, event: QKeyEvent) -> bool:
        is_alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        match event.key():
            case Qt.Key.Key_Left if is_alt:
                self.moved.emit(-1)
            case Qt.Key.Key_Right if is_alt:
                self.moved.emit(1)
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace:
                self.removed.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.thumbnail.click()
            case _:
                return False
        return True

    def _take_mouse(self, event: QMouseEvent) -> bool:
        """True for what belongs to dragging and is no click."""
        at = event.globalPosition().toPoint()
        match event.type():
            case QEvent.Type.MouseButtonPress if event.button() is Qt.MouseButton.LeftButton:
                self._pressed_at, self._is_dragged = at, False
            case QEvent.Type.MouseMove if self._pressed_at is not None:
                far = (at - self._pressed_at).manhattanLength()
                if self._is_dragged or far >= QApplication.startDragDistance():
                    self._is_dragged = True
                    self.dragged.emit(at)
                    return True
            case QEvent.Type.MouseButtonRelease:
                was_dragged, self._is_dragged, self._pressed_at = self._is_dragged, False, None
                if was_dragged:
                    self.thumbnail.setDown(False)
                    self.dropped.emit()
                    return True
            case _:
                pass
        return False
