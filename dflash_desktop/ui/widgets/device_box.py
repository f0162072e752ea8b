"""A choice of the device that models run on, kept by what the device is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy

from dflash_desktop.domain.device_identity import devices_meant, identity_of
from dflash_desktop.domain.settings import SETTING_TEXTS
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox

if TYPE_CHECKING:
    from dflash_desktop.domain.devices import Device

_LEAST_LETTERS = 16


class DeviceBox(ChoiceBox):
    """Signals: `device_chosen(identity)`, which is empty for automatic."""

    device_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        words = SETTING_TEXTS["device"]
        self.setAccessibleName(words.title)
        self.setAccessibleDescription(words.help)
        self.setToolTip(words.help)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumContentsLength(_LEAST_LETTERS)
        self.activated.connect(lambda: self.device_chosen.emit(self.currentData()))

    def show_devices(
        self, devices: tuple[Device, ...], wanted: str, *, automatic: str = ""
    ) -> Device | None:
        """The devices that were found; returns the wanted one if it is among them.

        One that is not there is still shown, as not found. `automatic` names what is taken
        unless the person chooses.
        """
        self.clear()
        self.addItem(f"Automatic · {automatic}" if automatic else "Automatic", "")
        meant = devices_meant(wanted, devices) if wanted else ()
        chosen = next((device for device in devices if (device.id,) == meant), None)
        for device in devices:
            self.addItem(f"{device.id} · {device.full_name}", identity_of(device, devices))
            if device is chosen:
                self.setCurrentIndex(self.count() - 1)
        if wanted and chosen is None:
            self.addItem(f"{wanted} · not found", wanted)
            self.setCurrentIndex(self.count() - 1)
        return chosen
