from __future__ import annotations

import pytest

from dflash_desktop.screen import why_no_qt, why_no_window


def loads_all(library: str) -> bool:
    return True


def test_without_any_display_the_command_line_is_named() -> None:
    words = why_no_window({}, platform="linux", can_load=loads_all)
    assert words is not None
    assert "no display" in words
    assert "dflash-desktop chat" in words


def test_missing_libraries_are_named_by_their_debian_packages() -> None:
    words = why_no_window(
        {"DISPLAY": ":0"}, platform="linux", can_load=lambda name: "cursor" not in name
    )
    assert words is not None
    assert "apt-get install libxcb-cursor0\n" in words


@pytest.mark.parametrize(
    ("environment", "platform"),
    [
        ({"DISPLAY": ":0"}, "linux"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux"),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux"),
        ({"QT_QPA_PLATFORM": "vnc:size=800x600"}, "linux"),
        ({}, "win32"),
        ({}, "darwin"),
    ],
)
def test_nothing_is_missing(environment: dict[str, str], platform: str) -> None:
    assert why_no_window(environment, platform=platform, can_load=loads_all) is None


def test_a_wayland_desktop_needs_no_x11_libraries() -> None:
    environment = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    assert why_no_window(environment, platform="linux", can_load=lambda name: False) is None


def test_an_asked_for_x11_without_a_display_is_told() -> None:
    environment = {"QT_QPA_PLATFORM": "xcb"}
    assert why_no_window(environment, platform="linux", can_load=loads_all) is not None


def test_a_qt_that_does_not_load_names_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ImportError("libEGL.so.1: cannot open shared object file")
    monkeypatch.setattr("sys.platform", "linux")
    assert "libEGL.so.1" in why_no_qt(error)
    assert "apt-get install libegl1" in why_no_qt(error)
    monkeypatch.setattr("sys.platform", "win32")
    assert "apt-get" not in why_no_qt(error)
