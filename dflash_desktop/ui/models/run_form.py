"""Where and how models run: device, KV cache and exact text, for the next load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSizePolicy

from dflash_desktop.domain.devices import Device, default_kv_cache_precision
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.settings import SETTING_TEXTS
from dflash_desktop.ui.theme import GAP, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.device_box import DeviceBox
from dflash_desktop.ui.widgets.labels import Label, name_label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.widgets.switch import Switch
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.settings import Settings
    from dflash_desktop.ui.theme import Theme

_PRECISION_WORDS = {
    KvCachePrecision.F32: "f32 · exact, takes the most memory",
    KvCachePrecision.F16: "f16 · half the memory",
    KvCachePrecision.U8: "u8 · a quarter of the memory, answers may differ with a draft",
}

_CHOSEN_BY_EXACT = "Exact text chooses it. Switch that off to choose yourself."


class RunForm(SurfaceFrame):
    """Signals: `device_chosen(identity)` ("": automatic), `precision_chosen(precision | None)`,
    `exact_chosen(on)`.
    """

    device_chosen = Signal(str)
    precision_chosen = Signal(object)
    exact_chosen = Signal(bool)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.CARD, parent)
        self._device = DeviceBox()
        self._precision = ChoiceBox()
        self._exact = Switch(SETTING_TEXTS["exact_text"].title, theme=theme)
        self._exact.clicked.connect(self.exact_chosen)
        self._device.device_chosen.connect(self.device_chosen)
        self._precision.activated.connect(self._on_precision_activated)
        grid = QGridLayout(self)
        grid.setContentsMargins(GAP, GAP, GAP, GAP)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_TINY)
        grid.setColumnStretch(1, 1)
        rows: tuple[tuple[ChoiceBox, str], ...] = (
            (self._device, "device"),
            (self._precision, "kv_cache_precision"),
        )
        for number, (box, name) in enumerate(rows):
            words = SETTING_TEXTS[name]
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            box.setMinimumContentsLength(16)
            label = name_label(words.title, box, explanation=words.help)
            grid.addWidget(label, 3 * number, 0)
            grid.addWidget(box, 3 * number, 1)
            grid.addWidget(Label(words.help, role=TextRole.CAPTION, wraps=True), 3 * number + 1, 1)
            grid.setRowMinimumHeight(3 * number + 2, GAP_SMALL)
        self._add_exact(grid, row=3 * len(rows))

    def _add_exact(self, grid: QGridLayout, *, row: int) -> None:
        words = SETTING_TEXTS["exact_text"]
        label = name_label(words.title, self._exact, explanation=words.help)
        grid.addWidget(label, row, 0)
        grid.addWidget(self._exact, row, 1, alignment=Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(Label(words.help, role=TextRole.CAPTION, wraps=True), row + 1, 1)

    def focus_device(self) -> None:
        """Put the keyboard on the device."""
        self._device.setFocus()

    def show_choices(self, devices: tuple[Device, ...], settings: Settings) -> None:
        """The devices that were found, and what the person chose among them."""
        chosen = self._device.show_devices(devices, settings.device)
        usual = "f16 on graphics, f32 on the CPU"
        if settings.exact_text:
            usual = "what was proven exact here, else f32"
        elif chosen is not None:
            usual = default_kv_cache_precision(chosen).value
        self._precision.clear()
        self._precision.addItem(f"Automatic · {usual}", None)
        for precision, words in _PRECISION_WORDS.items():
            self._precision.addItem(words, precision)
        wanted = settings.kv_cache_precision
        position = 0 if wanted is None else 1 + list(_PRECISION_WORDS).index(wanted)
        self._precision.setCurrentIndex(position)
        is_exact = settings.exact_text
        self._exact.setChecked(is_exact)
        self._precision.setEnabled(not is_exact)
        self._precision.setToolTip(_CHOSEN_BY_EXACT if is_exact else "")

    def _on_precision_activated(self) -> None:
        # Qt keeps a StrEnum as plain text.
        data = self._precision.currentData()
        self.precision_chosen.emit(None if data is None else KvCachePrecision(data))
