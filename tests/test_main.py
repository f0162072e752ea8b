"""The program's door leads to the window or to the command line."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import dflash_desktop
from dflash_desktop import __main__, __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def test_without_arguments_the_window_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_the_window(monkeypatch, lambda files: 7 if files == [] else 1)

    assert __main__.main() == 7


def test_files_that_a_desktop_passes_go_to_the_window(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = str(tmp_path / "chat")  # the name of a command, too
    stand_in_for_the_window(monkeypatch, lambda files: 7 if files == [file] else 1)
    monkeypatch.setattr(sys, "argv", ["dflash-desktop", file])

    assert __main__.main() == 7


def test_ctrl_c_before_the_window_is_there_needs_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(files: list[str]) -> int:
        raise KeyboardInterrupt

    stand_in_for_the_window(monkeypatch, interrupted)

    assert __main__.main() == 130


def test_with_arguments_the_command_line_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dflash-desktop", "--version"])

    assert __main__.main() == 0
    assert __version__ in capsys.readouterr().out


def stand_in_for_the_window(
    monkeypatch: pytest.MonkeyPatch, main: Callable[[list[str]], int]
) -> None:
    app = ModuleType("dflash_desktop.app")
    app.main = main  # type: ignore[attr-defined]  # what the real package has
    monkeypatch.setitem(sys.modules, app.__name__, app)
    monkeypatch.setattr(dflash_desktop, "app", app, raising=False)
    monkeypatch.setattr(sys, "argv", ["dflash-desktop"])


def test_a_windowed_program_without_streams_prints_to_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    stand_in_for_the_window(monkeypatch, lambda files: sys.stderr.write("heard by nobody"))

    assert __main__.main() == len("heard by nobody")
    sys.stdout.close()
    sys.stderr.close()
