"""Words to a person who clicked an icon, where no window can be opened."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.desktop_words import box_command, tell

if TYPE_CHECKING:
    from pathlib import Path

DESKTOP = {"DISPLAY": ":0"}


@pytest.mark.parametrize("program", ["zenity", "kdialog", "notify-send", "xmessage"])
def test_what_the_desktop_has_shows_the_words(program: str) -> None:
    command = box_command(
        "libfoo is missing",
        environment=DESKTOP,
        find=lambda name: name if name == program else None,
    )
    assert command is not None
    assert command[0] == program
    assert any("libfoo is missing" in argument for argument in command)


def test_without_a_desktop_there_is_no_box() -> None:
    assert box_command("words", environment={}, find=lambda name: name) is None
    assert box_command("words", environment=DESKTOP, find=lambda name: None) is None


@pytest.mark.skipif(sys.platform == "win32", reason="shows a box of Windows")
def test_the_box_is_started_only_without_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tmp_path / "shown"
    zenity = tmp_path / "zenity"
    zenity.write_text(f'#!/bin/sh\nprintf "%s" "$*" > "{shown}"\n', encoding="utf-8")
    zenity.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    tell("in the terminal", environment=DESKTOP)
    assert not shown.exists()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    tell("by the icon", environment=DESKTOP)
    assert "--text=by the icon" in shown.read_text(encoding="utf-8")
