"""Fixtures of the tests that need Qt."""

from __future__ import annotations

import gc
from itertools import count
from typing import TYPE_CHECKING, Final

import pytest

from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.ui.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication


FULL_COLLECTION_EVERY: Final = 20
_tests = count(1)


@pytest.fixture(autouse=True, scope="package")
def _garbage_of_the_last_test() -> Iterator[None]:
    yield
    gc.collect()


@pytest.fixture(autouse=True, scope="package")
def _closing_a_window_ends_no_loop(qapp: QApplication) -> None:
    """As in the program (ui/application.py); else a window of an earlier test, deleted while a
    loop runs, ends that loop."""
    qapp.setQuitOnLastWindowClosed(False)


@pytest.fixture(autouse=True)
def _garbage_in_this_thread() -> Iterator[None]:
    """Widgets die in the thread that they live in, as in the program (see ui/garbage.py)."""
    gc.disable()
    yield
    gc.collect(2 if next(_tests) % FULL_COLLECTION_EVERY == 0 else 1)
    gc.enable()


@pytest.fixture(scope="session")
def _session_theme(qapp: QApplication) -> Theme:
    return Theme(qapp)


@pytest.fixture
def theme(_session_theme: Theme) -> Iterator[Theme]:
    """The application's theme, light at the start of each test."""
    _session_theme.choose(ThemeChoice.LIGHT)
    yield _session_theme
    _session_theme.choose(ThemeChoice.LIGHT)
