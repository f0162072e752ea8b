"""Asks for an access token, and says where one comes from and where it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QRadioButton, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 520


class TokenDialog(QDialog):
    """`repo_ids` are the models that ask for it; without any the token is for later.

    Signals: `token_given(token, keep)`, `page_requested(repo_id)`, `tokens_page_requested`.
    """

    token_given = Signal(str, bool)
    page_requested = Signal(str)
    tokens_page_requested = Signal()

    def __init__(
        self, *, repo_ids: tuple[str, ...], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._repo_ids = repo_ids
        self.setWindowTitle("Access token")
        self.setMinimumWidth(_WIDTH)
        self._token = QLineEdit()
        self._token.setEchoMode(QLineEdit.EchoMode.Password)
        self._token.setPlaceholderText("hf_…")
        self._token.setAccessibleName("Access token")
        self._token.textChanged.connect(self._on_text_changed)
        self._keep = QRadioButton("Keep it in the system's keyring")
        self._once = QRadioButton("Use it until the program ends")
        self._keep.setChecked(True)
        self._keyring_words = Label(role=TextRole.CAPTION, wraps=True)
        self._error = Label(role=TextRole.BAD, wraps=True)
        self._save = Button("Use this token", theme=theme, kind=ButtonKind.PRIMARY)
        # Else Enter in the field would press the dialog's first button, which cancels.
        self._save.setDefault(True)
        self._save.clicked.connect(self._on_save_clicked)
        cancel = Button("Cancel", theme=theme)
        cancel.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_LARGE, GAP_LARGE, GAP_LARGE, GAP)
        column.setSpacing(GAP_SMALL)
        self._add_steps(column)
        for part in (self._token, self._error, self._keep, self._once, self._keyring_words):
            column.addWidget(part)
        column.addSpacing(GAP_SMALL)
        column.addLayout(buttons)
        self._error.hide()
        self._keyring_words.hide()
        self._on_text_changed()
        self._token.setFocus()

    def show_keyring(self, can_keep: bool) -> None:
        """Whether this system has a keyring that a token may be trusted to."""
        self._keep.setEnabled(can_keep)
        self._keyring_words.setVisible(not can_keep)
        if not can_keep:
            self._once.setChecked(True)
            words = "This system has no keyring, so a token cannot be kept safely."
            self._keep.setToolTip(words)
            self._keyring_words.show_text(words)

    def show_error(self, words: str) -> None:
        """Say why the token was not taken."""
        self._error.show_text(words)
        self._error.show()
        self._token.setFocus()

    def _add_steps(self, column: QVBoxLayout) -> None:
        if self._repo_ids:
            column.addWidget(Label("This model asks who you are", role=TextRole.HEADING))
            column.addWidget(
                Label(
                    "1.  On the model's page, log in and accept its licence.",
                    wraps=True,
                )
            )
            pages = [self._link(repo_id) for repo_id in self._repo_ids]
            column.addLayout(FlowRow(*pages))
            text = "2.  Make a token that may read, copy it, and paste it here."
        else:
            column.addWidget(Label("Access token", role=TextRole.HEADING))
            text = "Some models ask who you are. Make a token that may read, and paste it here."
        column.addWidget(Label(text, wraps=True))
        make = Button(
            "Make a token", theme=self._theme, kind=ButtonKind.LINK, icon=IconName.EXTERNAL_LINK
        )
        make.clicked.connect(self.tokens_page_requested)
        column.addLayout(FlowRow(make))

    def _link(self, repo_id: str) -> Button:
        link = Button(
            repo_id, theme=self._theme, kind=ButtonKind.LINK, icon=IconName.EXTERNAL_LINK
        )
        link.setAccessibleName(f"Open the page of {repo_id}")
        link.clicked.connect(lambda: self.page_requested.emit(repo_id))
        return link

    def _on_text_changed(self) -> None:
        has_text = bool(self._token.text().strip())
        self._save.setEnabled(has_text)
        self._save.setToolTip("" if has_text else "Paste a token first.")
        self._error.hide()

    def _on_save_clicked(self) -> None:
        if self._save.isEnabled():
            self.token_given.emit(self._token.text(), self._keep.isChecked())
