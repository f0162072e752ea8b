"""A process's memory as Linux tells it, on a made-up /proc and on the real one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.workers.linux_memory import ProcessMemory, process_memory

if TYPE_CHECKING:
    from pathlib import Path

STATUS = (
    "Name:\tengine\nVmHWM:\t 3000 kB\nRssAnon:\t 1000 kB\nRssFile:\t 900 kB\nRssShmem:\t 24 kB\n"
)
CLIENT = "drm-driver:\txe\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t{client}\n"
REGIONS = (
    "drm-resident-vram0:\t{vram} KiB\ndrm-resident-gtt:\t{gtt} KiB\n"
    "drm-total-vram0:\t9999999 KiB\n"
)


def process(root: Path, *descriptors: str, status: str = STATUS) -> Path:
    folder = root / "proc" / "7"
    (folder / "fdinfo").mkdir(parents=True)
    (folder / "status").write_text(status, encoding="ascii")
    for number, text in enumerate(descriptors):
        (folder / "fdinfo" / str(number)).write_text(text, encoding="ascii")
    return root


def client(number: int, *, vram: int = 0, gtt: int = 0) -> str:
    return CLIENT.format(client=number) + REGIONS.format(vram=vram, gtt=gtt)


def test_files_that_are_mapped_are_not_the_processs_own(tmp_path: Path) -> None:
    assert process_memory(7, process(tmp_path)) == ProcessMemory(1024 * 1024)


def test_each_client_of_a_driver_counts_once(tmp_path: Path) -> None:
    card = client(1, vram=4096, gtt=16)
    root = process(tmp_path, "pos:\t0\n", card, card, client(2, gtt=1024))

    memory = process_memory(7, root)

    assert memory is not None
    assert memory.on_card_bytes == 4096 * 1024
    assert memory.of_system_on_gpu_bytes == (16 + 1024) * 1024


@pytest.mark.parametrize(
    "nonsense", ["drm-client-id:\t1\ndrm-resident-vram0:\tmany KiB\n", "drm-client-id", "\xff"]
)
def test_nonsense_of_a_driver_counts_as_nothing(tmp_path: Path, nonsense: str) -> None:
    memory = process_memory(7, process(tmp_path, nonsense.encode("ascii", "replace").decode()))

    assert memory == ProcessMemory(1024 * 1024)


def test_a_process_that_is_gone_has_no_memory(tmp_path: Path) -> None:
    assert process_memory(8, process(tmp_path)) is None
    assert process_memory(7, process(tmp_path / "zombie", status="Name:\tengine\n")) is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_process_has_some() -> None:
    memory = process_memory(os.getpid())

    assert memory is not None
    assert memory.own_bytes > 10_000_000
