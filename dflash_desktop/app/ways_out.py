"""Where the pages about models lead out of the window, and what a problem there is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.transfer import Transfer


def named_repo(transfer: Transfer) -> str:
    """The repository that a problem is about: of two, only one may ask for consent."""
    said = "" if transfer.problem is None else transfer.problem.headline
    return next((r.repo_id for r in transfer.request.repos if r.repo_id in said), "")


def open_folder(folder: Path) -> None:
    """Show a folder in the file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def open_page(url: str) -> None:
    """Show a page in the browser."""
    QDesktopServices.openUrl(QUrl(url))
