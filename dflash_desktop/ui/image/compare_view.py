"""Two pictures side by side, and the settings in which they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.image.words import differing_rows, picture_title
from dflash_desktop.ui.pictures.canvas import PictureCanvas
from dflash_desktop.ui.theme import GAP, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label

if TYPE_CHECKING:
    from PySide6.QtGui import QImage, QKeyEvent

    from dflash_desktop.services.gallery_store import GalleryEntry
    from dflash_desktop.ui.theme import Theme


class CompareView(QWidget):
    """Signals: `back_requested`, `opened(id)` to look at one of them alone."""

    back_requested = Signal()
    opened = Signal(str)

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._ids = ("", "")
        self.canvases = (PictureCanvas(theme=theme), PictureCanvas(theme=theme))
        self._titles = tuple(Button("", theme=theme, kind=ButtonKind.LINK) for _ in self.canvases)
        for place, title in enumerate(self._titles):
            title.clicked.connect(lambda _=False, p=place: self.opened.emit(self._ids[p]))
        back = Button("Gallery", theme=theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_LEFT)
        back.setToolTip("Back to all pictures (Esc)")
        back.clicked.connect(self.back_requested)
        self._differences = QGridLayout()
        self._differences.setHorizontalSpacing(GAP)
        self._differences.setVerticalSpacing(GAP_TINY)
        head = QHBoxLayout()
        head.setSpacing(GAP_SMALL)
        head.addWidget(back)
        head.addWidget(Label("Side by side", role=TextRole.STRONG), 1)
        pair = QHBoxLayout()
        pair.setSpacing(GAP)
        for canvas, title in zip(self.canvases, self._titles, strict=True):
            column = QVBoxLayout()
            column.setSpacing(GAP_TINY)
            column.addWidget(canvas, 1)
            column.addWidget(title, 0, Qt.AlignmentFlag.AlignHCenter)
            pair.addLayout(column, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(GAP_SMALL)
        whole.addLayout(head)
        whole.addLayout(pair, 1)
        whole.addLayout(self._differences)

    def show_pair(self, left: GalleryEntry, right: GalleryEntry) -> None:
        """Show what is known of both; their pixels come with `show_levels`."""
        self._ids = (left.id, right.id)
        for canvas, title, entry in zip(self.canvases, self._titles, (left, right), strict=True):
            picture = entry.picture
            words = picture_title(picture)
            seed = "" if picture is None else f"seed {picture.recipe.seed}"
            title.setText(seed or "Look at it")
            title.setToolTip(words)
            canvas.setAccessibleName(words)
            canvas.show_levels(())
        self._show_differences(left, right)

    def show_levels(self, place: int, levels: tuple[QImage, ...]) -> None:
        """The pixels of the left (0) or the right (1) one."""
        self.canvases[place].show_levels(levels, is_missing=not levels)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.back_requested.emit()
        else:
            super().keyPressEvent(event)

    def _show_differences(self, left: GalleryEntry, right: GalleryEntry) -> None:
        empty_layout(self._differences)
        if left.picture is None or right.picture is None:
            return
        rows = differing_rows(left.picture, right.picture)
        if not rows:
            words = Label("Made with the same settings.", role=TextRole.MUTED)
            self._differences.addWidget(words, 0, 0)
        for row, (name, ours, theirs) in enumerate(rows):
            self._differences.addWidget(Label(name, role=TextRole.MUTED), row, 0)
            for column, value in ((1, ours), (2, theirs)):
                self._differences.addWidget(ElidedLabel(value), row, column)
        self._differences.setColumnStretch(1, 1)
        self._differences.setColumnStretch(2, 1)
