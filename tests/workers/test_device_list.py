"""Every property of a device may be missing, raise, or be nonsense (a stand-in for the Core)."""

from __future__ import annotations

from itertools import product

import pytest

from dflash_desktop.domain.devices import Device
from dflash_desktop.workers.device_list import device_of, list_devices

B580_UUID = "86800be2000000000300000000000000"
B580: dict[str, object] = {
    "FULL_DEVICE_NAME": "Intel(R) Arc(TM) B580 Graphics (dGPU)",
    "DEVICE_TYPE": "Type.DISCRETE",
    "GPU_DEVICE_TOTAL_MEM_SIZE": 12_216_954_880,
    "GPU_DEVICE_MAX_ALLOC_MEM_SIZE": 11_606_106_112,
    "DEVICE_UUID": B580_UUID,
}


class StandInCore:
    def __init__(self, answers: dict[str, object]) -> None:
        self._answers = answers

    def get_property(self, device: str, key: str) -> object:
        answer = self._answers.get(key, RuntimeError(f"{device} has no {key}"))
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_card_that_tells_everything() -> None:
    assert device_of(StandInCore(B580), "GPU.1") == Device(
        id="GPU.1",
        full_name="Intel(R) Arc(TM) B580 Graphics (dGPU)",
        is_discrete=True,
        memory_bytes=12_216_954_880,
        max_allocation_bytes=11_606_106_112,
        pci_id="8086:e20b",
        pci_address="0000:03:00.0",
    )


def test_what_a_device_states_of_itself_is_told_and_its_settings_are_not() -> None:
    access = {
        "OPTIMIZATION_CAPABILITIES": "RO",
        "FULL_DEVICE_NAME": "RO",
        "GPU_UARCH_VERSION": "RO",
        "MAX_BATCH_SIZE": "RO",
        "SILENT": "RO",
        "NUM_STREAMS": "RW",
    }
    core = StandInCore(
        {
            "SUPPORTED_PROPERTIES": access,
            "OPTIMIZATION_CAPABILITIES": ["FP16", "INT8"],
            "GPU_UARCH_VERSION": "20.4.4",
            "MAX_BATCH_SIZE": 1,
            "NUM_STREAMS": 1,
        }
    )
    assert device_of(core, "GPU").properties == (
        ("GPU_UARCH_VERSION", "20.4.4"),
        ("OPTIMIZATION_CAPABILITIES", "['FP16', 'INT8']"),
    )


@pytest.mark.openvino
def test_this_machines_processor_states_what_it_computes_with() -> None:
    (cpu,) = (one for one in list_devices().devices if one.id == "CPU")
    assert "FP32" in dict(cpu.properties)["OPTIMIZATION_CAPABILITIES"]


NONSENSE: tuple[object, ...] = (
    RuntimeError("no"), TypeError("no conversion"), None, "", 0, -1, 2**70, 1.5, True, [],
)  # fmt: skip


@pytest.mark.parametrize(("key", "answer"), list(product(B580, NONSENSE)))
def test_any_property_may_be_nonsense(key: str, answer: object) -> None:
    device = device_of(StandInCore({**B580, key: answer}), "GPU.0")

    assert device.id == "GPU.0"
    assert device.full_name
    assert device.memory_bytes is None or device.memory_bytes > 0
    assert device.max_allocation_bytes is None or device.max_allocation_bytes > 0


def test_a_device_that_tells_nothing_keeps_its_name() -> None:
    assert device_of(StandInCore({}), "GPU") == Device("GPU", "GPU")


@pytest.mark.parametrize("uuid", ["", "none", "de100bb2" + "0" * 24, "8680", "8680" + "z" * 28])
def test_only_a_uuid_of_intels_driver_tells_the_id(uuid: str) -> None:
    assert device_of(StandInCore({**B580, "DEVICE_UUID": uuid}), "GPU").pci_id == ""


def test_the_processor_is_not_asked_for_graphics() -> None:
    cpu = device_of(StandInCore({**B580, "FULL_DEVICE_NAME": "A CPU"}), "CPU")

    assert cpu == Device("CPU", "A CPU")
