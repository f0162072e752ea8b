"""Which devices OpenVINO finds, and the versions of its three libraries."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from dflash_desktop.domain.devices import Device, DeviceReport

if TYPE_CHECKING:
    from collections.abc import Callable


def list_devices() -> DeviceReport:
    """Every device with the properties that it answers; a silent property stays empty."""
    import openvino as ov

    core = ov.Core()
    return DeviceReport(
        devices=tuple(_device(core, name) for name in core.available_devices),
        openvino_version=str(ov.get_version()),
        genai_version=_version("openvino-genai"),
        tokenizers_version=_version("openvino-tokenizers"),
        python_version=platform.python_version(),
        os=platform.platform(),
    )


def device_named(name: str) -> Device:
    """One device by OpenVINO's name."""
    import openvino as ov

    return _device(ov.Core(), name)


def runtime_version() -> str:
    """The runtime's version, short: "2026.4.1"."""
    return _version("openvino")


def _device(core: Any, name: str) -> Device:  # noqa: ANN401 - openvino's own stubs are skipped
    def ask(key: str) -> object:
        try:
            return core.get_property(name, key)
        except RuntimeError:  # this plugin does not know the property
            return None

    kind = ask("DEVICE_TYPE")
    is_gpu = name.startswith("GPU")
    memory = ask("GPU_DEVICE_TOTAL_MEM_SIZE") if is_gpu else None
    max_allocation = ask("GPU_DEVICE_MAX_ALLOC_MEM_SIZE") if is_gpu else None
    return Device(
        id=name,
        full_name=str(ask("FULL_DEVICE_NAME") or name).strip(),
        driver=_text(ask, "NPU_DRIVER_VERSION") if name.startswith("NPU") else "",
        is_discrete=None if kind is None or name == "CPU" else "DISCRETE" in str(kind).upper(),
        memory_bytes=memory if isinstance(memory, int) else None,
        max_allocation_bytes=max_allocation if isinstance(max_allocation, int) else None,
    )


def _text(ask: Callable[[str], object], key: str) -> str:
    value = ask(key)
    return "" if value is None else str(value)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
