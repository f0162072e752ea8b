"""What the pages ask of the probe of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.hardware import HardwareReport


class MachineLook(Protocol):
    """Tells the machine, anew or from memory."""

    async def look(self) -> tuple[HardwareReport, DeviceReport]:
        """This machine now. Raises `AppError`."""

    async def remembered(self) -> tuple[HardwareReport, DeviceReport] | None:
        """As last time, at once; None where that may be wrong."""
