"""What Windows says about its graphics adapters: name, PCI id and driver from the registry."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.hardware import Adapter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DISPLAY_ADAPTERS: Final = (
    r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
)
_PROCESSOR: Final = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_VALUES: Final = ("DriverDesc", "DriverVersion", "MatchingDeviceId")
_PCI_ID: Final = re.compile(r"ven_([0-9a-f]{4})&dev_([0-9a-f]{4})", re.IGNORECASE)


def adapter_of_values(values: Mapping[str, object]) -> Adapter | None:
    """The adapter that one key of the registry describes; None for remote and virtual screens."""
    pci_id = _PCI_ID.search(str(values.get("MatchingDeviceId", "")))
    if pci_id is None:
        return None
    return Adapter(
        name=str(values.get("DriverDesc", "")).strip(),
        pci_id=f"{pci_id[1]}:{pci_id[2]}".lower(),
        driver=str(values.get("DriverVersion", "")).strip(),
    )


def registry_adapters() -> tuple[Adapter, ...]:
    """Every display adapter with a driver; empty on other systems and if nobody may read it."""
    found = (adapter_of_values(values) for values in _registry_values())
    return tuple(adapter for adapter in found if adapter is not None)


def registry_cpu_name() -> str:
    """The processor as its maker calls it; "" on other systems."""
    return _registry_text(_PROCESSOR, "ProcessorNameString").strip()


if sys.platform == "win32":

    def _registry_text(path: str, name: str) -> str:
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
                return str(winreg.QueryValueEx(key, name)[0])
        except OSError:
            return ""

    def _registry_values() -> Iterator[Mapping[str, object]]:
        import winreg

        try:
            adapters = winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _DISPLAY_ADAPTERS)
        except OSError:
            return
        with adapters:
            for index in range(winreg.QueryInfoKey(adapters)[0]):
                values = {}
                try:
                    with winreg.OpenKey(adapters, winreg.EnumKey(adapters, index)) as adapter:
                        for name in _VALUES:
                            values[name] = winreg.QueryValueEx(adapter, name)[0]
                except OSError:  # "Properties" is closed to normal users; some lack a value
                    continue
                yield values

else:

    def _registry_text(path: str, name: str) -> str:
        return ""

    def _registry_values() -> Iterator[Mapping[str, object]]:
        return iter(())
