"""Builds "About": gathers what it shows of this installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop import __version__
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.installation import installation_kind
from dflash_desktop.ui.about import AboutDialog
from dflash_desktop.ui.update_words import update_words

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.paths import AppPaths
    from dflash_desktop.ui.theme import Theme


def about_dialog(*, theme: Theme, logo: QIcon, paths: AppPaths, parent: QWidget) -> AboutDialog:
    """The dialog, not open yet."""
    folder = resources_dir() / "licences"
    licences = {p.stem: p.read_text(encoding="utf-8") for p in sorted(folder.glob("*.txt"))}
    updates = update_words(installation_kind(), version=__version__, data_dir=str(paths.data_dir))
    return AboutDialog(theme=theme, logo=logo, licences=licences, updates=updates, parent=parent)
