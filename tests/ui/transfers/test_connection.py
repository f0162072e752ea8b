"""The dialogs about the way to the hub, and what becomes of what a person enters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDoubleSpinBox,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from dflash_desktop.domain.settings import SETTING_TEXTS, Settings
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.token_store import checked_token
from dflash_desktop.ui.transfers.connection_dialog import Connection, ConnectionDialog
from dflash_desktop.ui.transfers.connection_presenter import (
    ConnectionPresenter,
    connection_error,
)
from dflash_desktop.ui.widgets.labels import Label
from tests.fakes.engine import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from PySide6.QtWidgets import QDialog
    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

REPO = "google/gemma-4-12b-it"
TOKEN = "hf_made_up"  # noqa: S105 - no secret


def test_an_explanation_stands_nearer_to_its_field_than_to_the_next(
    qtbot: QtBot, theme: Theme
) -> None:
    dialog = ConnectionDialog(settings=Settings(), theme=theme)
    qtbot.addWidget(dialog)
    dialog.show()
    QApplication.processEvents()
    fields = {field.accessibleName(): field for field in dialog.findChildren(QLineEdit)}
    address, proxy = (fields[SETTING_TEXTS[name].title] for name in ("hub_endpoint", "hub_proxy"))
    words = SETTING_TEXTS["hub_endpoint"].help
    hint = next(label for label in dialog.findChildren(Label) if label.text() == words)
    text_end = hint.geometry().bottom() - hint.contentsMargins().bottom()
    above = hint.y() - address.geometry().bottom()
    assert proxy.y() - text_end > 1.5 * above
    needed = hint.heightForWidth(hint.width()) - hint.contentsMargins().bottom()
    assert text_end - hint.y() >= needed - 1  # all of it


class FakeTokens:
    """Checks as the real one does, and has a keyring or not."""

    def __init__(self) -> None:
        self.has_keyring = True
        self.kept = ""
        self.of_this_run = ""

    async def can_keep(self) -> bool:
        return self.has_keyring

    async def token(self) -> str:
        return self.of_this_run or self.kept

    def use_for_this_run(self, token: str) -> None:
        self.of_this_run = checked_token(token)

    async def keep(self, token: str) -> bool:
        self.kept = checked_token(token)
        return True

    async def forget(self) -> None:
        self.kept = self.of_this_run = ""


class Setup:
    def __init__(self, theme: Theme, folder: Path) -> None:
        self.window = QWidget()
        self.settings = SettingsStore(folder / "settings.json")
        self.tokens = FakeTokens()
        self.opened: list[str] = []
        self.given: list[str] = []
        self.problems: list[Problem] = []
        self.presenter = ConnectionPresenter(
            parent=self.window,
            theme=theme,
            settings=self.settings,
            tokens=self.tokens,
            endpoint=lambda: self.settings.value.hub_endpoint,
            open_page=self.opened.append,
            on_problem=self.problems.append,
        )


def press(dialog: QDialog, label: str) -> None:
    next(b for b in dialog.findChildren(QPushButton) if b.text() == label).click()


def says(dialog: QDialog, words: str) -> bool:
    return any(words in label.text() for label in dialog.findChildren(Label) if label.isVisible())


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Setup]:
    setup = Setup(theme, tmp_path)
    qtbot.addWidget(setup.window)
    setup.window.show()
    yield setup
    await setup.presenter.close()


async def test_a_token_is_kept_in_the_keyring_and_the_transfer_told(setup: Setup) -> None:
    dialog = setup.presenter.open_token((REPO,), on_given=lambda: setup.given.append("now"))
    field = dialog.findChildren(QLineEdit)[0]
    assert field.echoMode() is QLineEdit.EchoMode.Password
    field.setText(f"  {TOKEN} ")
    press(dialog, "Use this token")
    await until(lambda: setup.given == ["now"])
    assert setup.tokens.kept == TOKEN


async def test_without_a_keyring_a_token_holds_for_this_run_only(setup: Setup) -> None:
    setup.tokens.has_keyring = False
    dialog = setup.presenter.open_token((REPO,), on_given=lambda: setup.given.append("now"))
    keep, once = dialog.findChildren(QRadioButton)
    await until(lambda: not keep.isEnabled())
    assert once.isChecked()
    assert says(dialog, "no keyring")
    dialog.findChildren(QLineEdit)[0].setText(TOKEN)
    press(dialog, "Use this token")
    await until(lambda: setup.given == ["now"])
    assert (setup.tokens.kept, setup.tokens.of_this_run) == ("", TOKEN)


async def test_what_is_no_token_is_refused_in_the_dialog_without_repeating_it(
    setup: Setup,
) -> None:
    dialog = setup.presenter.open_token((REPO,), on_given=lambda: setup.given.append("now"))
    dialog.findChildren(QLineEdit)[0].setText("my secret words")
    press(dialog, "Use this token")
    await until(lambda: says(dialog, "not a token"))
    assert not says(dialog, "secret")
    assert dialog.isVisible()
    assert setup.given == []


async def test_enter_in_the_field_uses_the_token_and_does_not_cancel(setup: Setup) -> None:
    dialog = setup.presenter.open_token((REPO,), on_given=lambda: setup.given.append("now"))
    field = dialog.findChildren(QLineEdit)[0]
    field.setText("my secret words")
    QTest.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: says(dialog, "not a token"))
    assert dialog.isVisible()
    field.setText(TOKEN)
    QTest.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: setup.given == ["now"])
    assert setup.opened == []


async def test_the_pages_of_the_hub_that_is_set_are_opened(setup: Setup) -> None:
    setup.settings.change(hub_endpoint="https://mirror.example/")
    dialog = setup.presenter.open_token((REPO,), on_given=lambda: None)
    press(dialog, REPO)
    press(dialog, "Make a token")
    assert setup.opened == [
        "https://mirror.example/google/gemma-4-12b-it",
        "https://mirror.example/settings/tokens",
    ]


async def test_the_connection_is_saved_as_it_was_entered(setup: Setup, tmp_path: Path) -> None:
    certificates = tmp_path / "own.pem"
    certificates.write_text("-")
    dialog = setup.presenter.open_connection()
    endpoint, proxy, ca_file = [
        f for f in dialog.findChildren(QLineEdit) if f.objectName() != "qt_spinbox_lineedit"
    ]
    endpoint.setText(" https://mirror.example ")
    proxy.setText("http://proxy.example:3128")
    ca_file.setText(str(certificates))
    limit = dialog.findChild(QDoubleSpinBox)
    assert isinstance(limit, QDoubleSpinBox)
    assert limit.text() == "No limit"
    limit.setValue(2.5)
    (xet,) = [box for box in dialog.findChildren(QCheckBox) if "Xet" in box.text()]
    assert not xet.isChecked()  # a file that it began cannot be continued
    xet.setChecked(True)
    press(dialog, "Save")
    await until(lambda: setup.settings.value.hub_endpoint == "https://mirror.example")
    value = setup.settings.value
    assert value.hub_proxy == "http://proxy.example:3128"
    assert value.hub_ca_file == certificates
    assert value.download_limit_bytes_per_second == 2_500_000
    assert value.use_xet


async def test_an_address_that_cannot_be_right_is_said_and_not_saved(setup: Setup) -> None:
    dialog = setup.presenter.open_connection()
    dialog.findChildren(QLineEdit)[0].setText("mirror.example")
    press(dialog, "Save")
    await until(lambda: says(dialog, "must begin with https://"))
    assert setup.settings.value.hub_endpoint == ""


async def test_a_token_can_be_forgotten(setup: Setup) -> None:
    setup.tokens.kept = TOKEN
    dialog = setup.presenter.open_connection()
    await until(lambda: says(dialog, "There is one"))
    assert not says(dialog, TOKEN)
    press(dialog, "Forget it")
    await until(lambda: says(dialog, "None"))
    assert setup.tokens.kept == ""


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        (Connection("", "", None, None, True, False, False, False), ""),
        (Connection("ftp://hub", "", None, None, True, False, False, False), "must begin with"),
        (Connection("https://[", "", None, None, True, False, False, False), "must begin with"),
        (
            Connection("", "http://me:secret@proxy", None, None, True, False, False, False),
            "Leave name",
        ),
        (
            Connection("", "", Path("nowhere.pem"), None, True, False, False, False),
            "There is no file",
        ),
    ],
)
def test_what_cannot_be_right_is_named(connection: Connection, words: str) -> None:
    error = connection_error(connection)
    assert words in error
    assert "secret" not in error
    assert bool(error) is bool(words)
