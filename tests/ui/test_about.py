from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from dflash_desktop import __version__
from dflash_desktop.ui.about import AboutDialog, version_facts

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def test_versions_name_the_program_qt_and_the_runtime() -> None:
    facts = dict(version_facts())
    assert facts["DFlash Desktop"] == __version__
    assert {"Python", "Qt", "openvino", "openvino-genai", "System"} <= set(facts)


def test_licences_are_shown_and_versions_can_be_copied(qtbot: QtBot, theme: Theme) -> None:
    dialog = AboutDialog(theme=theme, logo=QIcon(), licences={"lucide": "ISC License"})
    qtbot.addWidget(dialog)
    text = dialog.findChild(QPlainTextEdit)
    assert isinstance(text, QPlainTextEdit)
    assert text.toPlainText() == "lucide\n\nISC License"
    next(b for b in dialog.findChildren(QPushButton) if b.text() == "Copy").click()
    assert f"DFlash Desktop: {__version__}" in QGuiApplication.clipboard().text()


def test_the_setup_can_be_begun_from_the_help(qtbot: QtBot, theme: Theme) -> None:
    dialog = AboutDialog(theme=theme, logo=QIcon(), licences={})
    qtbot.addWidget(dialog)
    with qtbot.waitSignal(dialog.setup_requested):
        next(b for b in dialog.findChildren(QPushButton) if b.text() == "Set up…").click()
