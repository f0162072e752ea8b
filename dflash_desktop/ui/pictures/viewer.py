"""A picture in full view, over the window: zoom, pan, the next one, and what is on it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pictures.canvas import ZOOM_STEP, PictureCanvas
from dflash_desktop.ui.pictures.pixels import colour_space_of, read_levels
from dflash_desktop.ui.tasks import TaskScope
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label, name_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QImage, QKeyEvent

    from dflash_desktop.ui.pictures.shown_picture import ShownPicture
    from dflash_desktop.ui.theme import Theme

MAX_ALT_TEXT_CHARACTERS: Final = 1000
_SMALLEST: Final = (480, 360)
_DEFAULT: Final = (960, 640)


class PictureViewer(QDialog):
    """Shows pictures one at a time; Left and Right go on, + and - zoom, 0 fits, 1 is 100 %.

    Signals: `alt_text_changed(int, str)` with the picture's place, `shown(int)`.
    """

    alt_text_changed = Signal(int, str)
    shown = Signal(int)

    def __init__(self, *, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._pictures: tuple[ShownPicture, ...] = ()
        self._index = 0
        self._edits_alt_text = False
        self._loads = TaskScope(owner=self, on_problem=lambda _: None)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Picture")
        self.setMinimumSize(*_SMALLEST)
        self.canvas = PictureCanvas(theme=theme)
        self._title = ElidedLabel(role=TextRole.STRONG, mode=Qt.TextElideMode.ElideMiddle)
        self._place = Label(role=TextRole.MUTED)
        self._scale = Button("", theme=theme, kind=ButtonKind.QUIET)
        self._scale.setToolTip("Show at 100 % (1)")
        self._scale.clicked.connect(self.canvas.show_full_size)
        self._facts = Label(role=TextRole.CAPTION, wraps=True)
        self._alt_words = Label(role=TextRole.INTERFACE, wraps=True)
        self._alt = QLineEdit()
        self._alt.setMaxLength(MAX_ALT_TEXT_CHARACTERS)
        self._alt.setPlaceholderText("What is on it, for people who cannot see it")
        self._alt_label = name_label(
            "Description",
            self._alt,
            explanation="Kept with the picture for screen readers; the model does not get it.",
        )
        self._alt_label.setToolTip(self._alt.accessibleDescription())
        self._alt.textEdited.connect(self._on_alt_edited)
        self._back = IconButton(IconName.CHEVRON_LEFT, "Previous picture (Left)", theme=theme)
        self._on = IconButton(IconName.CHEVRON_RIGHT, "Next picture (Right)", theme=theme)
        self._smaller = IconButton(IconName.ZOOM_OUT, "Smaller (-)", theme=theme)
        self._larger = IconButton(IconName.ZOOM_IN, "Larger (+)", theme=theme)
        self._fit = IconButton(IconName.MAXIMIZE, "Fit into the window (0)", theme=theme)
        self._close = IconButton(IconName.CLOSE, "Close (Esc)", theme=theme)
        self._back.clicked.connect(lambda: self._go(self._index - 1))
        self._on.clicked.connect(lambda: self._go(self._index + 1))
        self._smaller.clicked.connect(lambda: self.canvas.zoom(1 / ZOOM_STEP))
        self._larger.clicked.connect(lambda: self.canvas.zoom(ZOOM_STEP))
        self._fit.clicked.connect(self.canvas.fit)
        self._close.clicked.connect(self.reject)
        self.canvas.scale_changed.connect(self._show_scale)
        self._bind_keys()
        self._lay_out()

    def open_at(
        self, pictures: tuple[ShownPicture, ...], index: int, *, edits_alt_text: bool = False
    ) -> None:
        """Open over the parent's window with one of these; the others are a key away.

        Needs the running loop, in which the picture is read.
        """
        parent = self.parentWidget()
        window = parent.window() if parent is not None else None
        self.resize(*_DEFAULT)
        if window is not None:
            self.resize(window.size())
            self.move(window.pos())
        self.show_place(pictures, index, edits_alt_text=edits_alt_text)
        self.open()
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self._load_shown()

    def show_place(
        self, pictures: tuple[ShownPicture, ...], index: int, *, edits_alt_text: bool = False
    ) -> None:
        """Everything about a picture but the picture itself."""
        self._pictures = pictures
        self._edits_alt_text = edits_alt_text
        self._alt.setVisible(edits_alt_text)
        self._alt_label.setVisible(edits_alt_text)
        for widget in (self._back, self._on, self._place):
            widget.setVisible(len(pictures) > 1)
        self._show_index(index)

    def show_levels(self, levels: tuple[QImage, ...]) -> None:
        """The picture itself, or that it cannot be had."""
        self.canvas.show_levels(levels, is_missing=not levels)
        if not levels:
            self._facts.show_text("The file of this picture is missing or cannot be read.")

    @property
    def index(self) -> int:
        """Which picture is shown."""
        return self._index

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Everything that the buttons do, and panning with Shift."""
        with_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        action = self._shift_keys.get(event.key()) if with_shift else None
        action = action or self._keys.get(event.key())
        if action is not None:
            action()
        # Enter would press whatever button a dialog takes for its default.
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def _bind_keys(self) -> None:
        key, canvas = Qt.Key, self.canvas
        self._shift_keys: dict[int, Callable[[], None]] = {
            key.Key_Left: lambda: canvas.pan(-1, 0),
            key.Key_Right: lambda: canvas.pan(1, 0),
        }
        self._keys: dict[int, Callable[[], None]] = {
            key.Key_Left: lambda: self._go(self._index - 1),
            key.Key_PageUp: lambda: self._go(self._index - 1),
            key.Key_Right: lambda: self._go(self._index + 1),
            key.Key_PageDown: lambda: self._go(self._index + 1),
            key.Key_Home: lambda: self._go(0),
            key.Key_End: lambda: self._go(len(self._pictures) - 1),
            key.Key_Up: lambda: canvas.pan(0, -1),
            key.Key_Down: lambda: canvas.pan(0, 1),
            key.Key_Plus: lambda: canvas.zoom(ZOOM_STEP),
            key.Key_Equal: lambda: canvas.zoom(ZOOM_STEP),  # the same key without Shift
            key.Key_Minus: lambda: canvas.zoom(1 / ZOOM_STEP),
            key.Key_0: canvas.fit,
            key.Key_1: canvas.show_full_size,
        }

    def _go(self, index: int) -> None:
        if 0 <= index < len(self._pictures) and index != self._index:
            self._show_index(index)
            self._load_shown()

    def _show_index(self, index: int) -> None:
        self._index = index
        picture = self._pictures[index]
        self.setWindowTitle(picture.title)
        self._title.show_text(picture.title)
        self._place.show_text(f"{index + 1} of {len(self._pictures)}")
        self._facts.show_text(picture.facts)
        self._alt.setText(picture.alt_text)
        self._alt_words.show_text(picture.alt_text)
        self._alt_words.setVisible(bool(picture.alt_text) and not self._edits_alt_text)
        self.canvas.setAccessibleName(picture.alt_text or picture.title)
        self._back.setEnabled(index > 0)
        self._on.setEnabled(index < len(self._pictures) - 1)
        self.canvas.show_levels(())
        self._show_scale(None)
        self.shown.emit(index)

    def _load_shown(self) -> None:
        self._loads.cancel_all()
        self._loads.start(self._load(self._pictures[self._index]))

    async def _load(self, picture: ShownPicture) -> None:
        self.show_levels(await asyncio.to_thread(read_levels, picture.path, colour_space_of(self)))

    def _show_scale(self, scale: float | None) -> None:
        """None while there is nothing to be scaled."""
        is_shown = scale is not None and self.canvas.has_picture
        self._scale.setText(f"{scale * 100:.0f} %" if scale is not None and is_shown else "")
        for button in (self._scale, self._smaller, self._larger, self._fit):
            button.setEnabled(is_shown)

    def _on_alt_edited(self, text: str) -> None:
        pictures = list(self._pictures)
        pictures[self._index] = replace(pictures[self._index], alt_text=text)
        self._pictures = tuple(pictures)
        self.alt_text_changed.emit(self._index, text)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GAP_TINY)
        head.addWidget(self._title, 1)
        head.addWidget(self._back)
        head.addWidget(self._place)
        head.addWidget(self._on)
        head.addSpacing(GAP)
        head.addWidget(self._smaller)
        head.addWidget(self._scale)
        head.addWidget(self._larger)
        head.addWidget(self._fit)
        head.addSpacing(GAP)
        head.addWidget(self._close)
        # As wide as it will ever be, so that nothing moves while one zooms.
        self._scale.setText("1600 %")
        self._scale.setFixedWidth(self._scale.sizeHint().width())
        below = QWidget()
        # Wrapping labels would share the height with the picture.
        below.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        foot = QVBoxLayout(below)
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(GAP_SMALL)
        foot.addWidget(self._facts)
        foot.addWidget(self._alt_words)
        line = QHBoxLayout()
        line.setSpacing(GAP_SMALL)
        line.addWidget(self._alt_label)
        line.addWidget(self._alt, 1)
        foot.addLayout(line)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        column.addLayout(head)
        column.addWidget(self.canvas, 1)
        column.addWidget(below)
