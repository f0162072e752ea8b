"""The picture that a new one begins with: chosen, dropped or taken from the gallery."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pictures.thumbnail import PictureThumbnail
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label, name_label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

FILTER: Final = (
    "Pictures (*.png *.jpg *.jpeg *.webp *.bmp *.gif *.tif *.tiff *.avif *.heic);;All files (*)"
)
_SIDE_PX: Final = 64
_PERCENT: Final = 100
_USUAL_STRENGTH: Final = 75


@dataclass(frozen=True, slots=True)
class Source:
    """A prepared picture; `gallery_id` if it is one of the gallery's."""

    path: Path
    thumbnail: Path
    title: str
    gallery_id: str = ""


class SourcePart(QWidget):
    """Signals: `file_chosen(path)` to be prepared, `mask_requested`, `changed`."""

    file_chosen = Signal(str)
    mask_requested = Signal()
    changed = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self.source: Source | None = None
        self.mask_file: Path | None = None
        self._takes_mask = False
        self._choose = Button("Begin with a picture…", theme=theme, icon=IconName.PAPERCLIP)
        self._choose.setToolTip("Choose a picture, or drop one on the page")
        self._choose.clicked.connect(self._on_choose)
        self._thumbnail = PictureThumbnail(side_px=_SIDE_PX, theme=theme)
        self._thumbnail.clicked.connect(self._on_choose)
        self._title = ElidedLabel(role=TextRole.STRONG, mode=Qt.TextElideMode.ElideMiddle)
        self._note = Label(role=TextRole.CAPTION, wraps=True)
        self._lost = Label(role=TextRole.WARN, wraps=True)
        self._lost.hide()
        remove = IconButton(IconName.CLOSE, "Begin without a picture", theme=theme)
        remove.clicked.connect(self.clear)
        self._strength = QSlider(Qt.Orientation.Horizontal)
        self._strength.setRange(1, _PERCENT)
        self._strength.setValue(_USUAL_STRENGTH)
        self._strength.valueChanged.connect(self._on_strength)
        self._strength_value = Label()
        self._mask = Button("Change only a part…", theme=theme, icon=IconName.HIGHLIGHTER)
        self._mask.clicked.connect(self.mask_requested)
        self._all = Button("Change all of it", theme=theme, kind=ButtonKind.QUIET)
        self._all.clicked.connect(lambda: self.show_mask(None))
        self._lay_out(remove)
        self._on_strength()
        self._show()

    @property
    def strength(self) -> float:
        """How much of the picture may change, above 0 and at most 1."""
        return self._strength.value() / _PERCENT

    def show_source(
        self, source: Source | None, *, strength: float | None = None, lost: str = ""
    ) -> None:
        """Begin with this picture, or with none; what was painted on another one goes.

        `lost` says what of an earlier picture's beginning cannot be had again.
        """
        self._lost.setVisible(bool(lost))
        self._lost.show_text(lost)
        if source != self.source:
            self.mask_file = None
        self.source = source
        if source is not None:
            self._thumbnail.show_file(source.thumbnail, source.title)
            self._title.show_text(source.title)
        if strength is not None:
            self._strength.setValue(round(strength * _PERCENT))
        self._show()
        self.changed.emit()

    def clear(self) -> None:
        """Begin without a picture."""
        self.show_source(None)

    def show_mask(self, mask: Path | None) -> None:
        """Change only what is white in this file, or all of it."""
        self.mask_file = mask
        self._lost.hide()
        self._show()
        self.changed.emit()

    def show_offers(self, *, takes_picture: bool, takes_mask: bool) -> None:
        """What the chosen model can do with a picture."""
        self._takes_mask = takes_mask
        self.setVisible(takes_picture)
        if not takes_mask:
            self.mask_file = None
        self._show()

    def _show(self) -> None:
        has_source = self.source is not None
        self._choose.setVisible(not has_source)
        self._card.setVisible(has_source)
        self._mask.setVisible(has_source and self._takes_mask)
        self._all.setVisible(self.mask_file is not None)
        self._mask.setText("Change the mask…" if self.mask_file else "Change only a part…")
        self._note.show_text(
            "Only what you painted is made anew." if self.mask_file else "All of it may change."
        )

    def _on_strength(self) -> None:
        self._strength_value.show_text(f"{self._strength.value()} %")
        self.changed.emit()

    def _on_choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Begin with a picture", "", FILTER)
        if path:
            self.file_chosen.emit(str(Path(path)))

    def _lay_out(self, remove: IconButton) -> None:
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._title)
        words.addWidget(self._note)
        words.addStretch(1)
        top = QHBoxLayout()
        top.setSpacing(GAP_MEDIUM)
        top.addWidget(self._thumbnail)
        top.addLayout(words, 1)
        top.addWidget(remove, 0, Qt.AlignmentFlag.AlignTop)
        strength = QHBoxLayout()
        strength.setSpacing(GAP_SMALL)
        label = name_label(
            "Strength", self._strength, explanation="How much of the picture may change"
        )
        label.setToolTip("How much of the picture may change")
        strength.addWidget(label)
        strength.addWidget(self._strength, 1)
        strength.addWidget(self._strength_value)
        self._card = QWidget()
        card = QVBoxLayout(self._card)
        card.setContentsMargins(0, 0, 0, 0)
        card.setSpacing(GAP_SMALL)
        card.addLayout(top)
        card.addLayout(strength)
        card.addLayout(FlowRow(self._mask, self._all))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._lost)
        column.addWidget(self._choose)
        column.addWidget(self._card)
