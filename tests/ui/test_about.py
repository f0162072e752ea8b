from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from dflash_desktop import __version__
from dflash_desktop.services.installation import InstallationKind, installation_kind
from dflash_desktop.ui.about import AboutDialog, version_facts
from dflash_desktop.ui.update_words import update_words

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def test_versions_name_the_program_qt_and_the_runtime() -> None:
    facts = dict(version_facts())
    assert facts["DFlash Desktop"] == __version__
    assert {"Python", "Qt", "openvino", "openvino-genai", "System"} <= set(facts)


def test_licences_are_shown_and_versions_can_be_copied(qtbot: QtBot, theme: Theme) -> None:
    dialog = AboutDialog(theme=theme, logo=QIcon(), licences={"lucide": "ISC License"}, updates=())
    qtbot.addWidget(dialog)
    text = dialog.findChild(QPlainTextEdit)
    assert isinstance(text, QPlainTextEdit)
    assert text.toPlainText() == "lucide\n\nISC License"
    next(b for b in dialog.findChildren(QPushButton) if b.text() == "Copy").click()
    assert f"DFlash Desktop: {__version__}" in QGuiApplication.clipboard().text()


def test_the_setup_can_be_begun_from_the_help(qtbot: QtBot, theme: Theme) -> None:
    dialog = AboutDialog(theme=theme, logo=QIcon(), licences={}, updates=())
    qtbot.addWidget(dialog)
    with qtbot.waitSignal(dialog.setup_requested):
        next(b for b in dialog.findChildren(QPushButton) if b.text() == "Set up…").click()


@pytest.mark.parametrize("kind", list(InstallationKind))
def test_how_to_check_for_updates_is_said_for_each_installation(
    qtbot: QtBot, theme: Theme, kind: InstallationKind
) -> None:
    words = update_words(kind, version="1.2.3", data_dir="/home/ada/data")
    dialog = AboutDialog(theme=theme, logo=QIcon(), licences={}, updates=words)
    qtbot.addWidget(dialog)
    shown = "\n".join(label.text() for label in dialog.findChildren(QLabel))
    assert "does not look for updates" in shown
    assert "1.2.3" in shown
    assert "/home/ada/data" in shown


def test_how_it_was_installed_is_seen_from_where_it_is(tmp_path: Path) -> None:
    def kind(program: Path, **environment: str) -> InstallationKind:
        return installation_kind(executable=program, environment=environment, is_frozen=True)

    assert kind(Path("/usr/lib/dflash-desktop/dflash-desktop")) is InstallationKind.PACKAGE
    assert kind(tmp_path / "dflash-desktop") is InstallationKind.FOLDER
    assert kind(tmp_path / "x", APPIMAGE="/home/ada/x.AppImage") is InstallationKind.APPIMAGE
    (tmp_path / "unins000.exe").touch()
    assert kind(tmp_path / "dflash-desktop.exe") is InstallationKind.INSTALLER
    assert installation_kind(is_frozen=False) is InstallationKind.SOURCES
