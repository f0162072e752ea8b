from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from dflash_desktop.domain.conversation import Conversation
from dflash_desktop.services.conversation_store import ConversationStore
from dflash_desktop.ui.conversations_presenter import ConversationsPresenter
from dflash_desktop.ui.sidebar import Sidebar
from tests.fakes.engine import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.conversation_list import Row
    from dflash_desktop.ui.theme import Theme


def conversation(name: str, title: str) -> Conversation:
    return Conversation(name, datetime.now(UTC), title=title)


class FakeChat:
    def __init__(self) -> None:
        self.conversation = conversation("blank", "New chat")

    @property
    def conversation_id(self) -> str:
        return self.conversation.id

    async def open(self, conversation: Conversation) -> None:
        await asyncio.sleep(0)
        self.conversation = conversation

    async def new(self) -> None:
        await asyncio.sleep(0)
        self.conversation = conversation("fresh", "New chat")


class Shell:
    """A real left side over a real store, and what was last shown."""

    def __init__(self, theme: Theme, folder: Path) -> None:
        self.store = ConversationStore(folder)
        self.chat = FakeChat()
        self.problems: list[Problem] = []
        self.sidebar = Sidebar(theme=theme)
        self.rows: tuple[Row, ...] = ()
        self.empty_words = ""
        self.undo: str | None = None
        show_undo = self.sidebar.show_undo

        def remember(rows: tuple[Row, ...], current_id: str, empty_words: str) -> None:
            self.rows, self.empty_words = rows, empty_words

        def remember_undo(title: str | None) -> None:
            self.undo = title
            show_undo(title)

        self.sidebar.show_conversations = remember  # type: ignore[method-assign]  # a spy
        self.sidebar.show_undo = remember_undo  # type: ignore[method-assign]  # a spy

    @property
    def titles(self) -> list[str]:
        return [row.title for row in self.rows if hasattr(row, "title")]


@pytest.fixture
def shell(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Shell:
    shell = Shell(theme, tmp_path)
    qtbot.addWidget(shell.sidebar)
    shell.store.save(conversation("a", "Poem"))
    shell.store.save(conversation("b", "Packing list"))
    return shell


@pytest_asyncio.fixture
async def presenter(shell: Shell) -> AsyncIterator[ConversationsPresenter]:
    presenter = ConversationsPresenter(
        sidebar=shell.sidebar,
        store=shell.store,
        chat=shell.chat,
        on_problem=shell.problems.append,
    )
    await until(lambda: shell.titles == ["Packing list", "Poem"])
    yield presenter
    await presenter.close()


@pytest.mark.usefixtures("presenter")
async def test_what_is_saved_appears_at_the_top(shell: Shell) -> None:
    shell.store.save(conversation("c", "New one"))
    await until(lambda: shell.titles == ["New one", "Packing list", "Poem"])


@pytest.mark.usefixtures("presenter")
async def test_search_narrows_the_list_and_says_when_nothing_is_found(shell: Shell) -> None:
    shell.sidebar.search_changed.emit("  PO ")
    await until(lambda: shell.titles == ["Poem"])
    shell.sidebar.search_changed.emit("zebra")
    await until(lambda: shell.titles == [])
    assert shell.empty_words == "Nothing found for “zebra”."
    shell.sidebar.search_changed.emit("")
    await until(lambda: len(shell.titles) == 2)


@pytest.mark.usefixtures("presenter")
async def test_choosing_a_conversation_opens_it(shell: Shell) -> None:
    shell.sidebar.conversation_chosen.emit("a")
    await until(lambda: shell.chat.conversation.title == "Poem")


@pytest.mark.usefixtures("presenter")
async def test_a_conversation_that_cannot_be_read_is_told_and_the_open_one_stays(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text("damaged", encoding="utf-8")
    shell.sidebar.conversation_chosen.emit("a")
    await until(lambda: bool(shell.problems))
    assert shell.problems[0].code == "conversation_damaged"
    assert shell.chat.conversation_id == "blank"


@pytest.mark.usefixtures("presenter")
async def test_a_new_title_reaches_the_store_and_the_open_chat(shell: Shell) -> None:
    shell.sidebar.conversation_chosen.emit("a")
    await until(lambda: shell.chat.conversation_id == "a")
    shell.sidebar.rename_requested.emit("a", "Song")
    await until(lambda: "Song" in shell.titles)
    assert shell.chat.conversation.title == "Song"


@pytest.mark.usefixtures("presenter")
async def test_deleting_the_open_conversation_begins_a_new_one_and_can_be_undone(
    shell: Shell,
) -> None:
    shell.sidebar.conversation_chosen.emit("a")
    await until(lambda: shell.chat.conversation_id == "a")
    shell.sidebar.delete_requested.emit("a")
    await until(lambda: shell.titles == ["Packing list"])
    assert shell.chat.conversation_id == "fresh"
    assert shell.undo == "Poem"
    shell.sidebar.undo_requested.emit()
    await until(lambda: "Poem" in shell.titles)
    assert shell.undo is None


@pytest.mark.usefixtures("presenter")
async def test_deleting_another_conversation_leaves_the_open_one(shell: Shell) -> None:
    shell.sidebar.delete_requested.emit("b")
    await until(lambda: shell.titles == ["Poem"])
    assert shell.chat.conversation_id == "blank"


async def test_after_close_nothing_is_listened_to(shell: Shell) -> None:
    presenter = ConversationsPresenter(
        sidebar=shell.sidebar,
        store=shell.store,
        chat=shell.chat,
        on_problem=shell.problems.append,
    )
    await presenter.close()
    before = shell.rows
    shell.store.save(conversation("c", "Late"))
    await asyncio.sleep(0.05)
    assert shell.rows == before
