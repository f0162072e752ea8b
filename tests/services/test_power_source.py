from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from dflash_desktop.services.power_source import power_source


@pytest.mark.parametrize(
    ("battery", "expected"),
    [
        (SimpleNamespace(power_plugged=True), "mains"),
        (SimpleNamespace(power_plugged=False), "battery"),
        (SimpleNamespace(power_plugged=None), "unknown"),
        (None, "mains"),
    ],
)
def test_the_power_source_is_what_the_system_says(
    monkeypatch: pytest.MonkeyPatch, battery: object, expected: str
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert power_source() == expected


def test_a_system_that_cannot_tell_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(psutil, "sensors_battery", refuse, raising=False)
    assert power_source() == "unknown"
    monkeypatch.delattr(psutil, "sensors_battery")
    assert power_source() == "unknown"
