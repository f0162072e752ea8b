"""The size of a picture: one of the usual shapes, or any that the model takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from dflash_desktop.domain.picture_request import MAX_SIDE_PX, allowed_size, size_presets
from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.wheel_through import AmountBox, ChoiceBox

if TYPE_CHECKING:
    from dflash_desktop.domain.image_models import ImageModel

_OTHER: Final = "Other size"


class SizeField(QWidget):
    """Signals: `changed` with another size."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._model: ImageModel | None = None
        self.choice = ChoiceBox()
        self.choice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.choice.currentIndexChanged.connect(self._on_chosen)
        self._own = QWidget()
        self._sides = (_side("Width in pixels"), _side("Height in pixels"))
        for side in self._sides:
            side.valueChanged.connect(self.changed)
            side.editingFinished.connect(self._snap)
        own = QHBoxLayout(self._own)
        own.setContentsMargins(0, 0, 0, 0)
        own.setSpacing(GAP_SMALL)
        own.addWidget(self._sides[0], 1)
        own.addWidget(Label("×"))
        own.addWidget(self._sides[1], 1)
        self._own.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_TINY)
        column.addWidget(self.choice)
        column.addWidget(self._own)

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height that the model takes; (0, 0) without a model."""
        if self._model is None:
            return 0, 0
        chosen = self.choice.currentData()
        if chosen is not None:
            return int(chosen[0]), int(chosen[1])
        width, height = (round(side.value()) for side in self._sides)
        return allowed_size(self._model, width, height)

    def show_model(self, model: ImageModel) -> None:
        """Offer what this model takes; begins with its first shape."""
        self._model = model
        for side in self._sides:
            side.setRange(
                model.size_step_px, MAX_SIDE_PX // model.size_step_px * model.size_step_px
            )
            side.setSingleStep(model.size_step_px)
            side.setValue(model.native_px)
        self.choice.clear()
        for preset in size_presets(model):
            words = f"{preset.name} · {preset.width} × {preset.height}"
            self.choice.addItem(words, (preset.width, preset.height))
        self.choice.addItem(_OTHER, None)

    def choose(self, width: int, height: int) -> None:
        """Take over a size, whether it is a usual one or not."""
        for index in range(self.choice.count() - 1):
            if tuple(self.choice.itemData(index)) == (width, height):
                self.choice.setCurrentIndex(index)
                return
        for side, value in zip(self._sides, (width, height), strict=True):
            side.setValue(value)
        self._snap()
        self.choice.setCurrentIndex(self.choice.count() - 1)

    def _on_chosen(self) -> None:
        self._own.setVisible(self.choice.count() > 0 and self.choice.currentData() is None)
        self.changed.emit()

    def _snap(self) -> None:
        if self._model is None:
            return
        size = allowed_size(self._model, *(round(side.value()) for side in self._sides))
        for side, value in zip(self._sides, size, strict=True):
            side.setValue(value)


def _side(name: str) -> AmountBox:
    field = AmountBox()
    field.setDecimals(0)
    field.setRange(1, MAX_SIDE_PX)
    field.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    field.setAccessibleName(name)
    field.setToolTip(name)
    field.lineEdit().setTextMargins(GAP_SMALL, 0, 0, 0)
    return field
