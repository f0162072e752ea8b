"""The power mode by files that are made up, and by the ids that Windows uses."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.services.power_mode import linux_power_mode, overlay_name, power_mode

if TYPE_CHECKING:
    from pathlib import Path

PREFERENCE = "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"
DAEMON = "var/lib/power-profiles-daemon/state.ini"
PROFILE = "sys/firmware/acpi/platform_profile"


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def test_the_firmware_then_the_daemon_then_the_processor_is_believed(tmp_path: Path) -> None:
    assert linux_power_mode(tmp_path) == ""
    write(tmp_path, PREFERENCE, "balance_performance\n")
    assert linux_power_mode(tmp_path) == "balance_performance"
    write(tmp_path, DAEMON, "[State]\nDriver=intel_pstate\nProfile=power-saver\n")
    assert linux_power_mode(tmp_path) == "power-saver"
    write(tmp_path, PROFILE, "performance\n")
    assert linux_power_mode(tmp_path) == "performance"


@pytest.mark.parametrize(
    ("guid", "words"),
    [
        ("961cc777-2547-4f9d-8174-7d86181b8a7a", "best power efficiency"),
        ("00000000-0000-0000-0000-000000000000", "balanced"),
        ("ded574b5-45a0-4f42-8737-46345c09c238", "best performance"),
        ("12345678-0000-0000-0000-000000000000", ""),
    ],
)
def test_windows_names_its_overlays_by_ids(guid: str, words: str) -> None:
    assert overlay_name(uuid.UUID(guid).bytes_le) == words


def test_a_windows_without_overlays_tells_nothing() -> None:
    assert overlay_name(b"") == ""


def test_this_machine_can_be_asked() -> None:
    assert isinstance(power_mode(), str)
