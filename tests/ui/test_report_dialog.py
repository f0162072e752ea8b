"""The dialog that shows everything before it is saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QFileDialog, QListWidget, QPlainTextEdit

from dflash_desktop.ui.report_dialog import ReportDialog
from dflash_desktop.ui.theme import Theme

if TYPE_CHECKING:
    import pytest
    from pytestqt.qtbot import QtBot


def _dialog(qtbot: QtBot) -> ReportDialog:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    dialog = ReportDialog(theme=Theme(application), file_name="report.zip")
    qtbot.addWidget(dialog)
    return dialog


def test_each_file_can_be_read_and_stays_chosen_when_read_again(qtbot: QtBot) -> None:
    dialog = _dialog(qtbot)
    names, text = dialog.findChild(QListWidget), dialog.findChild(QPlainTextEdit)
    assert names is not None
    assert text is not None
    dialog.show_files([("what-happened.txt", "versions"), ("logs/window.log", "line 1")])
    assert text.toPlainText() == "versions"
    names.setCurrentRow(1)
    assert text.toPlainText() == "line 1"
    dialog.show_files([("what-happened.txt", "versions"), ("logs/window.log", "line 1\nline 2")])
    assert text.toPlainText() == "line 1\nline 2"
    assert text.isReadOnly()


def test_it_is_saved_where_a_person_says(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    dialog = _dialog(qtbot)
    dialog.show_files([("what-happened.txt", "versions")])
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", staticmethod(lambda *_: ("place/report.zip", ""))
    )
    with qtbot.waitSignal(dialog.save_requested) as asked:
        dialog._save.click()
    assert asked.args == [Path("place/report.zip")]
