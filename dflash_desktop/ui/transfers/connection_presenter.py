"""Opens the dialogs about the way to the hub, and keeps what a person chose in them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from PySide6.QtCore import Qt

from dflash_desktop.ui.tasks import TaskScope
from dflash_desktop.ui.transfers.connection_dialog import Connection, ConnectionDialog
from dflash_desktop.ui.transfers.token_dialog import TokenDialog

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QDialog, QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.ui.theme import Theme

_HUB = "https://huggingface.co"


class Tokens(Protocol):
    """What the dialogs ask of the token's keeper."""

    async def can_keep(self) -> bool:
        """Whether there is a keyring."""

    async def token(self) -> str:
        """The token, or nothing."""

    def use_for_this_run(self, token: str) -> None:
        """Take it until the program ends. Raises `ValueError`."""

    async def keep(self, token: str) -> bool:
        """Put it into the keyring. Raises `ValueError`."""

    async def forget(self) -> None:
        """Remove it."""


class ConnectionPresenter:
    """`parent` is what the dialogs stand over; `open_page(url)` shows a page of the web."""

    def __init__(
        self,
        *,
        parent: QWidget,
        theme: Theme,
        settings: SettingsStore,
        tokens: Tokens,
        endpoint: Callable[[], str],
        open_page: Callable[[str], None],
        on_problem: Callable[[Problem], None],
    ) -> None:
        self._parent = parent
        self._theme = theme
        self._settings = settings
        self._tokens = tokens
        self._endpoint = endpoint
        self._open_page = open_page
        self._on_problem = on_problem
        self._scopes: list[TaskScope] = []

    def open_connection(self) -> ConnectionDialog:
        """Open the dialog about the connection."""
        dialog = ConnectionDialog(
            settings=self._settings.value, theme=self._theme, parent=self._parent
        )
        tasks = self._scope_of(dialog)

        def look_for_token() -> None:
            tasks.start(self._look_for_token(dialog))

        dialog.save_requested.connect(lambda c: tasks.start(self._save(dialog, c)))
        dialog.token_requested.connect(
            lambda: self.open_token((), on_given=look_for_token, over=dialog)
        )
        dialog.token_forgotten.connect(lambda: tasks.start(self._forget(dialog)))
        look_for_token()
        _open(dialog)
        return dialog

    def open_token(
        self,
        repo_ids: tuple[str, ...],
        *,
        on_given: Callable[[], None],
        over: QWidget | None = None,
    ) -> TokenDialog:
        """Ask for a token; `on_given` is called once one was taken."""
        dialog = TokenDialog(repo_ids=repo_ids, theme=self._theme, parent=over or self._parent)
        tasks = self._scope_of(dialog)
        dialog.token_given.connect(
            lambda token, keep: tasks.start(self._take(dialog, token, keep, on_given))
        )
        dialog.page_requested.connect(self.open_model_page)
        dialog.tokens_page_requested.connect(
            lambda: self._open_page(f"{self._hub}/settings/tokens")
        )
        tasks.start(self._look_for_keyring(dialog))
        _open(dialog)
        return dialog

    def open_model_page(self, repo_id: str) -> None:
        """Show a model's page of the hub."""
        self._open_page(f"{self._hub}/{repo_id}")

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for scope in self._scopes:
            scope.close()
            await scope.wait()

    @property
    def _hub(self) -> str:
        return (self._endpoint() or _HUB).rstrip("/")

    async def _save(self, dialog: ConnectionDialog, connection: Connection) -> None:
        error = connection_error(connection)
        if error:
            dialog.show_error(error)
            return
        dialog.accept()
        self._settings.change(**asdict(connection))

    async def _take(
        self, dialog: TokenDialog, token: str, keep: bool, on_given: Callable[[], None]
    ) -> None:
        try:
            if keep:
                await self._tokens.keep(token)
            else:
                self._tokens.use_for_this_run(token)
        except ValueError as error:
            dialog.show_error(str(error))
            return
        dialog.accept()
        on_given()

    async def _look_for_keyring(self, dialog: TokenDialog) -> None:
        dialog.show_keyring(await self._tokens.can_keep())

    def _scope_of(self, dialog: QDialog) -> TaskScope:
        """What a dialog started ends with it: a keyring may ask its own questions for minutes."""
        self._scopes = [scope for scope in self._scopes if scope.is_busy]
        scope = TaskScope(owner=dialog, on_problem=self._on_problem)
        self._scopes.append(scope)
        return scope

    async def _look_for_token(self, dialog: ConnectionDialog) -> None:
        has_token = bool(await self._tokens.token())
        words = "There is one, for models that ask who you are." if has_token else "None"
        dialog.show_token(words, has_token=has_token)

    async def _forget(self, dialog: ConnectionDialog) -> None:
        await self._tokens.forget()
        await self._look_for_token(dialog)


def connection_error(connection: Connection) -> str:
    """What cannot be right about it, or nothing."""
    for name, url in (("model hub", connection.hub_endpoint), ("proxy", connection.hub_proxy)):
        if not url:
            continue
        if not _is_web_address(url):
            return f"The address of the {name} must begin with https:// or http://."
        if "@" in urlsplit(url).netloc:
            return f"Leave name and password out of the address of the {name}."
    file = connection.hub_ca_file
    if file is not None and not file.is_file():
        return f"There is no file {file}."
    return ""


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _open(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
