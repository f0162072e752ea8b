"""The program's door leads to the window or to the command line."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import dflash_desktop
from dflash_desktop import __main__, __version__

if TYPE_CHECKING:
    import pytest


def test_without_arguments_the_window_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ModuleType("dflash_desktop.app")
    app.main = lambda: 7  # type: ignore[attr-defined]  # stands in for the window
    monkeypatch.setitem(sys.modules, app.__name__, app)
    monkeypatch.setattr(dflash_desktop, "app", app, raising=False)
    monkeypatch.setattr(sys, "argv", ["dflash-desktop"])

    assert __main__.main() == 7


def test_with_arguments_the_command_line_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dflash-desktop", "--version"])

    assert __main__.main() == 0
    assert __version__ in capsys.readouterr().out
