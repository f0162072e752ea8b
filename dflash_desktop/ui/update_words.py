"""How a person finds out whether there is a newer version: the program itself never asks."""

from __future__ import annotations

from typing import Final

from dflash_desktop.services.installation import InstallationKind

_HOW: Final = {
    InstallationKind.PACKAGE: (
        "If there is a newer one, download its .deb file and open it with your system's software "
        "manager, or run: sudo apt install ./FILE.deb"
    ),
    InstallationKind.APPIMAGE: (
        "If there is a newer one, download its AppImage and put it in the place of this one."
    ),
    InstallationKind.INSTALLER: (
        "If there is a newer one, download its installer and run it: it updates the program where "
        "it is. With winget: winget upgrade DFlashDesktop.DFlashDesktop"
    ),
    InstallationKind.FOLDER: (
        "If there is a newer one, unpack it beside this folder, start it from there, and delete "
        "this folder when you are content."
    ),
    InstallationKind.SOURCES: "You run it from a checkout. There, run: git pull && make run",
}


def update_words(kind: InstallationKind, *, version: str, data_dir: str) -> tuple[str, str, str]:
    """How to check, how to update, and what stays; a paragraph each."""
    check = (
        "DFlash Desktop does not look for updates, since it calls nobody by itself. To check, "
        "open the page that you got it from and compare its newest version with yours, "
        f"{version}."
    )
    stays = (
        f"Models, conversations and settings are not in the program's folder but in {data_dir}. "
        "An update keeps them. An older version does not open what a newer one wrote: it says so "
        "and changes nothing."
    )
    return check, _HOW[kind], stays
