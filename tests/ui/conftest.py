"""Fixtures of the tests that need Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.ui.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication


@pytest.fixture(scope="session")
def _session_theme(qapp: QApplication) -> Theme:
    return Theme(qapp)


@pytest.fixture
def theme(_session_theme: Theme) -> Iterator[Theme]:
    """The application's theme, light at the start of each test."""
    _session_theme.choose(ThemeChoice.LIGHT)
    yield _session_theme
    _session_theme.choose(ThemeChoice.LIGHT)
