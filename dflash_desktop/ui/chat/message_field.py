"""The field of a message: grows with the text, and tells apart what is pasted into it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPlainTextEdit

from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY, SIZE_READING, TextRole, interface_font
from dflash_desktop.ui.widgets.drop_sheet import local_paths

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData
    from PySide6.QtGui import (
        QDragEnterEvent,
        QDragMoveEvent,
        QFocusEvent,
        QKeyEvent,
        QResizeEvent,
    )

MAX_LINES: Final = 8
MAX_FIELD_CHARACTERS: Final = 20_000
"""A longer paste becomes a chip: a field with a megabyte in it freezes at every key."""

_PICTURE_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/tiff", "image/bmp")
"""Taken as they are, colour profile included; other pictures are what Qt makes of them."""


class MessageField(QPlainTextEdit):
    """Enter sends, Shift+Enter begins a line, Esc stops; grows to `MAX_LINES`.

    Signals beside these: `paste_too_long(str)`, `files_given(paths)` as strings, and
    `picture_pasted(bytes | QImage)`.
    """

    send_requested = Signal()
    stop_requested = Signal()
    paste_too_long = Signal(str)
    files_given = Signal(tuple)
    picture_pasted = Signal(object)
    focus_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.is_answering = False
        self.setProperty("kind", "bare")
        self.setProperty("text_role", TextRole.READING.value)
        self.setPlaceholderText("Message …")
        self.setAccessibleName("Message")
        self.setAccessibleDescription("Enter sends, Shift and Enter begins a new line")
        self.setFont(interface_font(SIZE_READING))
        self.document().setDefaultFont(interface_font(SIZE_READING))
        self.document().setDocumentMargin(GAP_TINY)
        self.setTabChangesFocus(True)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        # QPlainTextEdit counts its document's height in lines.
        lines = min(MAX_LINES, max(1, round(self.document().size().height())))
        line = math.ceil(self.fontMetrics().lineSpacing())
        self.setFixedHeight(lines * line + 2 * GAP_TINY + GAP_SMALL)
        is_full = self.document().size().height() > MAX_LINES
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if is_full
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste plain text, files or a picture; what is too long for a field is handed on."""
        if (paths := local_paths(source)) and len(paths) == len(source.urls()):
            self.files_given.emit(paths)
            return
        if (picture := _picture_in(source)) is not None:
            self.picture_pasted.emit(picture)
            return
        text = source.text()
        if len(text) + self.document().characterCount() > MAX_FIELD_CHARACTERS:
            self.paste_too_long.emit(text)
        elif text:
            self.insertPlainText(text)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Text, files and pictures."""
        return source.hasText() or source.hasUrls() or source.hasImage()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files are for the whole page, which takes them as copies and never moves them."""
        if event.mimeData().hasUrls():
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """The same while they are over the field."""
        if event.mimeData().hasUrls():
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send, stop, or write."""
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.send_requested.emit()
        elif event.key() == Qt.Key.Key_Escape and self.is_answering:
            self.stop_requested.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines wrap anew."""
        super().resizeEvent(event)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The card around the field shows the ring."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """And no more."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


def _picture_in(source: QMimeData) -> bytes | QImage | None:
    """The picture, if that is what was copied: office programs add one to every piece of text."""
    if not source.hasImage() or source.hasFormat("text/plain"):
        return None
    for kind in _PICTURE_TYPES:
        if source.hasFormat(kind) and (data := bytes(source.data(kind).data())):
            return data
    image = source.imageData()
    return image if isinstance(image, QImage) and not image.isNull() else None
