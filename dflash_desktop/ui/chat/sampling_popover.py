"""How the next word is chosen, with one sentence for each number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QGridLayout, QSpinBox

from dflash_desktop.domain.generation import DraftState, SamplingParams, ThinkingMode
from dflash_desktop.domain.setting_bounds import SAMPLING_BOUNDS
from dflash_desktop.domain.settings import SAMPLING_TEXTS
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.popover import Popover

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.generation import DraftUse
    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 400
_FIELD_WIDTH: Final = 128

_THINKING_WORDS: Final = {
    ThinkingMode.MODEL_DEFAULT: "As the model likes",
    ThinkingMode.ON: "On",
    ThinkingMode.OFF: "Off",
}


def sampling_words(params: SamplingParams, draft: DraftUse) -> str:
    """What the button says: "Greedy · draft on"."""
    how = "Greedy" if params.is_greedy else f"Temperature {params.temperature:g}"
    match draft.state:
        case DraftState.ON:
            return f"{how} · draft on"
        case DraftState.RESTING:
            return f"{how} · draft rests"
        case DraftState.OFF:
            return how


class SamplingPopover(Popover):
    """Signals: `changed(SamplingParams)` when it closes with other values."""

    changed = Signal(object)

    def __init__(self, *, theme: Theme, parent: QWidget) -> None:
        super().__init__("Sampling", theme=theme, width=_WIDTH, parent=parent)
        self._params = SamplingParams()
        self._temperature = _decimal_field("temperature", step=0.1)
        self._top_p = _decimal_field("top_p", step=0.05)
        self._top_k = _whole_field("top_k")
        self._penalty = _decimal_field("repetition_penalty", step=0.05)
        self._seed = _whole_field("seed")
        self._longest = _whole_field("max_new_tokens")
        self._thinking = QComboBox()
        self._thinking.setAccessibleName("Thinking")
        self._thinking.setFixedWidth(_FIELD_WIDTH)
        for mode, words in _THINKING_WORDS.items():
            self._thinking.addItem(words, mode)
        self._thinking_label = Label("Thinking")
        self._draft = Label(role=TextRole.CAPTION, wraps=True)
        self._temperature.valueChanged.connect(self._show_what_counts)
        self.rows.addWidget(Label("Sampling", role=TextRole.STRONG))
        self.rows.addWidget(self._draft)
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnStretch(0, 1)
        fields = (
            ("temperature", self._temperature),
            ("top_p", self._top_p),
            ("top_k", self._top_k),
            ("repetition_penalty", self._penalty),
            ("seed", self._seed),
            ("max_new_tokens", self._longest),
        )
        for row, (name, field) in enumerate(fields):
            label = Label(SAMPLING_TEXTS[name].title)
            label.setToolTip(SAMPLING_TEXTS[name].help)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(self._thinking_label, len(fields), 0)
        grid.addWidget(self._thinking, len(fields), 1)
        self.rows.addLayout(grid)

    def show_params(self, params: SamplingParams, draft: DraftUse, *, can_think: bool) -> None:
        """The values as they are now, and what they mean for the draft."""
        self._params = params
        self._temperature.setValue(params.temperature)
        self._top_p.setValue(params.top_p)
        self._top_k.setValue(params.top_k)
        self._penalty.setValue(params.repetition_penalty)
        self._seed.setValue(params.seed)
        self._longest.setValue(params.max_new_tokens)
        self._thinking.setCurrentIndex(self._thinking.findData(params.thinking))
        for widget in (self._thinking, self._thinking_label):
            widget.setVisible(can_think)
        attached = draft.state is not DraftState.OFF
        self._draft.show_text(
            "The draft works with greedy decoding only. Above a temperature of 0 it rests."
            if attached
            else "At temperature 0 the most likely word is always taken."
        )
        self._show_what_counts()

    def _show_what_counts(self) -> None:
        is_sampling = self._temperature.value() > 0
        for field in (self._top_p, self._top_k, self._seed):
            field.setEnabled(is_sampling)
            why = "" if is_sampling else "Greedy decoding does not use this. "
            field.setToolTip(why + SAMPLING_TEXTS[field.objectName()].help)

    def hideEvent(self, event: QHideEvent) -> None:
        """Closing takes the values over."""
        super().hideEvent(event)
        chosen = replace(
            self._params,
            temperature=round(self._temperature.value(), 2),
            top_p=round(self._top_p.value(), 2),
            top_k=self._top_k.value(),
            repetition_penalty=round(self._penalty.value(), 2),
            seed=self._seed.value(),
            max_new_tokens=self._longest.value(),
            thinking=ThinkingMode(self._thinking.currentData()),
        )
        if chosen != self._params:
            self._params = chosen
            self.changed.emit(chosen)


def _decimal_field(name: str, *, step: float) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    bounds = SAMPLING_BOUNDS[name]
    field.setRange(bounds.minimum, bounds.maximum)
    field.setSingleStep(step)
    field.setDecimals(2)
    _name(field, name)
    return field


def _whole_field(name: str) -> QSpinBox:
    field = QSpinBox()
    bounds = SAMPLING_BOUNDS[name]
    field.setRange(int(bounds.minimum), int(bounds.maximum))
    _name(field, name)
    return field


def _name(field: QDoubleSpinBox | QSpinBox, name: str) -> None:
    field.setObjectName(name)
    field.setFixedWidth(_FIELD_WIDTH)
    # Qt gives the text of a styled spin box no padding.
    field.lineEdit().setTextMargins(GAP_SMALL, 0, 0, 0)
    field.setAccessibleName(SAMPLING_TEXTS[name].title)
    field.setAccessibleDescription(SAMPLING_TEXTS[name].help)
    field.setToolTip(SAMPLING_TEXTS[name].help)
