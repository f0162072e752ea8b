"""Which devices OpenVINO finds, and the versions of its three libraries."""

from __future__ import annotations

import platform
import re
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.devices import Device, DeviceReport, normal_device_id
from dflash_desktop.workers.model_folder import ModelFolderError
from dflash_desktop.workers.package_version import package_version

if TYPE_CHECKING:
    from collections.abc import Callable

_UUID: Final = re.compile(r"8680([0-9a-f]{2})([0-9a-f]{2}).{4}(..)(..)(..)(..)(..).{10}")
"""Maker, device, revision, then domain, bus, device and function: low bytes first.

Intel's drivers agreed on this form: `DeviceUUID` in https://github.com/intel/compute-runtime.
"""


_NOT_FACTS: Final = frozenset(
    {
        "SUPPORTED_PROPERTIES",  # the list itself
        "AVAILABLE_DEVICES",
        "FULL_DEVICE_NAME",  # told in a field of its own
        "COMPATIBILITY_CHECK",  # these three are about a model
        "OPTIMAL_BATCH_SIZE",
        "MAX_BATCH_SIZE",
    }
)
_LONGEST_TOLD: Final = 300


def list_devices() -> DeviceReport:
    """Every device with the properties that it answers; a silent property stays empty."""
    import openvino as ov

    core = ov.Core()
    return DeviceReport(
        devices=tuple(device_of(core, str(name)) for name in core.available_devices),
        openvino_version=str(ov.get_version()),
        genai_version=package_version("openvino-genai"),
        tokenizers_version=package_version("openvino-tokenizers"),
        python_version=platform.python_version(),
        os=platform.platform(),
    )


def device_named(name: str) -> Device:
    """One device by OpenVINO's name."""
    import openvino as ov

    return device_of(ov.Core(), name)


def meant_device(wanted: str, maker_name: str = "") -> Device:
    """The device of this name.

    Raises `ModelFolderError` ("device_changed") when its maker calls it otherwise by now.
    """
    device = device_named(normal_device_id(wanted))
    if maker_name and device.full_name != maker_name:
        raise ModelFolderError(
            "device_changed", f"{device.id} is {device.full_name}, not {maker_name}"
        )
    return device


def runtime_version() -> str:
    """The runtime's version, short: "2026.4.1"."""
    return package_version("openvino")


def device_of(core: Any, name: str) -> Device:  # noqa: ANN401 - openvino's stubs are skipped
    """What `core` tells about one device; every property may be missing, raise, or be nonsense."""

    def ask(key: str) -> object:
        try:
            return core.get_property(name, key)
        except Exception:  # noqa: BLE001 - plugins raise what they like, and what cannot be converted is a TypeError
            return None

    is_gpu = name.startswith("GPU")
    kind = _text(ask, "DEVICE_TYPE").upper() if name != "CPU" else ""
    pci_id, pci_address = _pci_place(_text(ask, "DEVICE_UUID")) if is_gpu else ("", "")
    return Device(
        id=name,
        full_name=_text(ask, "FULL_DEVICE_NAME") or name,
        driver=_text(ask, "NPU_DRIVER_VERSION") if name.startswith("NPU") else "",
        is_discrete="DISCRETE" in kind if kind else None,
        memory_bytes=_size(ask, "GPU_DEVICE_TOTAL_MEM_SIZE") if is_gpu else None,
        max_allocation_bytes=_size(ask, "GPU_DEVICE_MAX_ALLOC_MEM_SIZE") if is_gpu else None,
        pci_id=pci_id,
        pci_address=pci_address,
        properties=_told_properties(ask),
    )


def _told_properties(ask: Callable[[str], object]) -> tuple[tuple[str, str], ...]:
    """What a device states about itself, for experts; what is only a setting is left out."""
    supported = ask("SUPPORTED_PROPERTIES")
    if not isinstance(supported, dict):
        return ()
    stated = sorted(str(key) for key, access in supported.items() if str(access) == "RO")
    told = ((key, _text(ask, key)[:_LONGEST_TOLD]) for key in stated if key not in _NOT_FACTS)
    return tuple((key, text) for key, text in told if text)


def _text(ask: Callable[[str], object], key: str) -> str:
    value = ask(key)
    return "" if value is None else str(value).strip()


def _size(ask: Callable[[str], object], key: str) -> int | None:
    """A number of bytes; 0 means that the driver does not know."""
    value = ask(key)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value > 0 else None


def _pci_place(uuid: str) -> tuple[str, str]:
    """ "8086:64a0" and "0000:00:02.0" from a UUID of Intel's driver; empty for any other."""
    digits = uuid.replace("-", "").lower()
    parts = _UUID.fullmatch(digits) if re.fullmatch("[0-9a-f]{32}", digits) else None
    if parts is None:
        return "", ""
    low, high, domain_low, domain_high, bus, device, function = parts.groups()
    place = f"{domain_high}{domain_low}:{bus}:{device}.{int(function, 16):x}"
    return f"8086:{high}{low}", place
