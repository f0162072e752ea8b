"""Values of the registry, as recorded, become adapters."""

from __future__ import annotations

import sys

import pytest

from dflash_desktop.domain.hardware import Adapter
from dflash_desktop.workers.windows_graphics import adapter_of_values, registry_adapters

ARC = {
    "DriverDesc": "Intel(R) Arc(TM) 140V GPU (16GB)",
    "DriverVersion": "32.0.101.8132",
    "MatchingDeviceId": r"PCI\VEN_8086&DEV_64A0&SUBSYS_00000000",
}


def test_an_adapter_has_name_id_and_driver() -> None:
    assert adapter_of_values(ARC) == Adapter(
        "Intel(R) Arc(TM) 140V GPU (16GB)", "8086:64a0", "32.0.101.8132"
    )


@pytest.mark.parametrize("device_id", [r"root\basicdisplay", "", "usb\\vid_17e9"])
def test_screens_that_are_on_no_bus_are_left_out(device_id: str) -> None:
    assert adapter_of_values({**ARC, "MatchingDeviceId": device_id}) is None


def test_values_may_be_missing() -> None:
    assert adapter_of_values({}) is None
    assert adapter_of_values({"MatchingDeviceId": ARC["MatchingDeviceId"]}) == Adapter(
        pci_id="8086:64a0"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there it has one")
def test_without_a_registry_there_are_no_adapters() -> None:
    assert registry_adapters() == ()
