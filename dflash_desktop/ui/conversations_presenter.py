"""Keeps the list of conversations, its search and its undo in step with the store."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from dflash_desktop.ui.conversation_list import grouped
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.conversation import Conversation
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.conversation_store import ConversationStore, ConversationSummary
    from dflash_desktop.ui.sidebar import Sidebar


class OpenChat(Protocol):
    """What this presenter asks of the chat."""

    @property
    def conversation_id(self) -> str:
        """The conversation that the chat shows."""

    async def open(self, conversation: Conversation) -> None:
        """Show another conversation; an answer that still runs is stopped and kept."""

    async def new(self) -> None:
        """Show a blank conversation, in the same way."""


_NOTHING_YET = "Your conversations will be listed here."
_SEARCH_PAUSE_SECONDS = 0.15
"""So that fast typing does not read every file for every letter."""


class ConversationsPresenter:
    """Connects the left side with the store and the chat."""

    def __init__(
        self,
        *,
        sidebar: Sidebar,
        store: ConversationStore,
        chat: OpenChat,
        on_problem: Callable[[Problem], None],
    ) -> None:
        self._sidebar = sidebar
        self._store = store
        self._chat = chat
        self._on_problem = on_problem
        self._tasks = TaskScope(owner=sidebar, on_problem=on_problem)
        self._lists = TaskScope(owner=sidebar, on_problem=on_problem)
        self._words = ""
        self._deleted_id = ""
        self._summaries: tuple[ConversationSummary, ...] = ()
        self._end = store.subscribe(self.refresh)
        sidebar.search_changed.connect(self._on_search_changed)
        sidebar.new_chat_requested.connect(lambda: self._tasks.start(self._new()))
        sidebar.conversation_chosen.connect(lambda i: self._tasks.start(self._open(i)))
        sidebar.rename_requested.connect(lambda i, t: self._tasks.start(self._rename(i, t)))
        sidebar.delete_requested.connect(lambda i: self._tasks.start(self._delete(i)))
        sidebar.undo_requested.connect(lambda: self._tasks.start(self._undo()))
        sidebar.file_requested.connect(self._show_file)
        self.refresh()

    def refresh(self) -> None:
        """Read the list again and show it."""
        self._lists.cancel_all()
        self._lists.start(self._show_list())

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        self._end()
        for scope in (self._tasks, self._lists):
            scope.close()
            await scope.wait()

    async def _show_list(self, *, pause_seconds: float = 0.0) -> None:
        await asyncio.sleep(pause_seconds)
        # Many conversations on a slow disk take longer than the window may stand still.
        self._summaries = await asyncio.to_thread(self._store.list)
        shown = self._summaries
        empty_words = _NOTHING_YET
        if self._words:
            found = await asyncio.to_thread(self._store.search, self._words)
            shown = tuple(s for s in shown if s.id in found)
            empty_words = f"Nothing found for “{self._words}”."
        rows = grouped(shown, datetime.now().astimezone())
        self._sidebar.show_conversations(rows, self._chat.conversation_id, empty_words)

    async def _new(self) -> None:
        await self._chat.new()
        self._sidebar.show_current(self._chat.conversation_id)

    async def _open(self, conversation_id: str) -> None:
        try:
            if conversation_id != self._chat.conversation_id:
                await self._chat.open(self._store.load(conversation_id))
        finally:
            self._sidebar.show_current(self._chat.conversation_id)

    async def _rename(self, conversation_id: str, title: str) -> None:
        renamed = self._store.rename(conversation_id, title)
        if conversation_id == self._chat.conversation_id:
            await self._chat.open(renamed)

    async def _delete(self, conversation_id: str) -> None:
        title = next((s.title for s in self._summaries if s.id == conversation_id), "")
        if conversation_id == self._chat.conversation_id:
            await self._chat.new()
        self._store.delete(conversation_id)
        self._deleted_id = conversation_id
        self._sidebar.show_undo(title)

    async def _undo(self) -> None:
        self._sidebar.show_undo(None)
        self._store.restore(self._deleted_id)

    def _on_search_changed(self, words: str) -> None:
        self._words = " ".join(words.split())
        self._lists.cancel_all()
        self._lists.start(self._show_list(pause_seconds=_SEARCH_PAUSE_SECONDS))

    def _show_file(self, conversation_id: str) -> None:
        folder = self._store.file_of(conversation_id).parent
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
