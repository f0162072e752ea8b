from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dflash_desktop.domain.conversation import UNTITLED, Conversation, Message, with_message
from dflash_desktop.domain.generation import (
    DraftState,
    DraftUse,
    FinishReason,
    GenerationStats,
    Role,
    TextOrigin,
    TextRun,
)
from dflash_desktop.domain.pictures import Picture
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.conversation_store import ConversationStore

ANSWER = Message(
    Role.ASSISTANT,
    "Two.",
    thinking="1 + 1",
    runs=(TextRun("Two", TextOrigin.TARGET, 0), TextRun(".", TextOrigin.DRAFT, 1)),
    stats=GenerationStats(5, 2, 1, 1, 0.2, 0.1, 3),
    draft=DraftUse(DraftState.ON, "measured", 3),
    finish=FinishReason.STOP,
    model_title="Starter",
)


def conversation(name: str, text: str = "What is 1 + 1?") -> Conversation:
    empty = Conversation(name, datetime(2026, 1, 2, tzinfo=UTC))
    return with_message(with_message(empty, Message(Role.USER, text)), ANSWER)


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path)


def test_a_saved_conversation_comes_back_whole_after_a_restart(tmp_path: Path) -> None:
    saved = conversation("a")
    ConversationStore(tmp_path).save(saved)
    assert ConversationStore(tmp_path).load("a") == saved


def test_the_list_has_the_last_changed_first_and_a_rename_does_not_move_it(
    store: ConversationStore,
) -> None:
    for name in ("a", "b", "c"):
        store.save(conversation(name))
    store.save(conversation("a"))
    store.rename("b", "  Poem \n about  rain ")
    assert [(s.id, s.title) for s in store.list()] == [
        ("a", "What is 1 + 1?"),
        ("c", "What is 1 + 1?"),
        ("b", "Poem about rain"),
    ]


def test_a_blank_title_means_untitled(store: ConversationStore) -> None:
    store.save(conversation("a"))
    assert store.rename("a", " \n").title == UNTITLED


def test_listing_again_reads_only_what_changed(
    store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        store.save(conversation(name))
    store.list()
    read: list[str] = []
    real = Path.read_bytes

    def counted(self: Path) -> bytes:
        read.append(self.stem)
        return real(self)

    monkeypatch.setattr(Path, "read_bytes", counted)
    store.list()
    assert read == []
    store.save(replace(conversation("b"), title="Longer than before"))
    assert next(s.title for s in store.list()) == "Longer than before"
    assert read == ["b"]


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe", b"[]", b'{"version": 9, "changed_at": "2026-01-01T00:00:00Z"}'],
)
def test_a_damaged_file_is_listed_as_unreadable_and_left_alone(
    store: ConversationStore, tmp_path: Path, data: bytes
) -> None:
    store.save(conversation("good"))
    bad = tmp_path / "bad.json"
    bad.write_bytes(data)
    summaries = {s.id: s.problem for s in store.list()}
    assert summaries["good"] is None
    problem = summaries["bad"]
    assert problem is not None
    assert problem.code == "conversation_damaged"
    with pytest.raises(AppError):
        store.load("bad")
    with pytest.raises(AppError):
        store.rename("bad", "New")
    assert bad.read_bytes() == data


def test_a_conversation_of_a_newer_version_is_not_opened(
    store: ConversationStore, tmp_path: Path
) -> None:
    store.save(conversation("a"))
    path = tmp_path / "a.json"
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    with pytest.raises(AppError) as raised:
        store.load("a")
    assert raised.value.problem.code == "conversation_damaged"


def test_a_deleted_conversation_can_be_brought_back(store: ConversationStore) -> None:
    store.save(conversation("a"))
    store.delete("a")
    assert store.list() == ()
    store.restore("a")
    assert store.load("a") == conversation("a")


def test_the_next_start_ends_undo(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path)
    store.save(conversation("a"))
    store.delete("a")
    later = ConversationStore(tmp_path)
    later.empty_trash()
    with pytest.raises(AppError) as raised:
        later.restore("a")
    assert raised.value.problem.code == "conversation_missing"


def test_undo_does_not_replace_what_was_saved_after_the_delete(store: ConversationStore) -> None:
    store.save(conversation("a"))
    store.delete("a")
    newer = replace(conversation("a"), title="Newer")
    store.save(newer)
    store.restore("a")
    assert store.load("a") == newer


def test_deleting_what_is_already_gone_is_no_error(store: ConversationStore) -> None:
    store.delete("a")
    assert store.list() == ()


def test_a_copied_file_does_not_overwrite_its_original(
    store: ConversationStore, tmp_path: Path
) -> None:
    store.save(conversation("a"))
    (tmp_path / "copy.json").write_bytes((tmp_path / "a.json").read_bytes())
    store.rename("copy", "Copy")
    assert store.load("a").title == "What is 1 + 1?"
    assert store.load("copy").title == "Copy"


def test_a_full_disk_keeps_the_conversation_in_memory_until_there_is_space(
    store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(conversation("a"))
    longer = with_message(conversation("a"), Message(Role.USER, "And 2 + 2?"))
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", _full_disk)
        with pytest.raises(AppError) as raised:
            store.save(longer)
        assert raised.value.problem.code == "disk_full"
        assert store.load("a") == longer
        assert ConversationStore(tmp_path).load("a") == conversation("a")
        assert list(store.pending) == ["a"]
        assert len(store.list()) == 1
        with pytest.raises(AppError):
            store.save_pending()
    store.save_pending()
    assert not store.pending
    assert ConversationStore(tmp_path).load("a") == longer
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_deleting_what_is_only_in_memory_can_be_undone(
    store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", _full_disk)
        with pytest.raises(AppError):
            store.save(conversation("a"))
        with pytest.raises(AppError):
            store.delete("a")
        assert store.load("a") == conversation("a")
    store.delete("a")
    assert store.list() == ()
    store.restore("a")
    assert store.load("a") == conversation("a")


def test_search_finds_words_in_titles_and_messages_in_any_case(store: ConversationStore) -> None:
    store.save(conversation("a", "Explain RAIN to a child"))
    store.save(replace(conversation("b"), title="Straße"))
    assert store.search("rain") == {"a"}
    assert store.search("STRASSE") == {"b"}
    assert store.search("two.") == {"a", "b"}


def test_listeners_hear_every_change_of_the_list_also_a_refused_one(
    store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[list[str]] = []
    leave = store.subscribe(lambda: titles.append([s.title for s in store.list()]))
    store.save(replace(conversation("a"), title="A"))
    store.rename("a", "B")
    store.delete("a")
    store.restore("a")
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", _full_disk)
        with pytest.raises(AppError):
            store.save(replace(conversation("a"), title="C"))
    leave()
    store.save_pending()
    assert titles == [["A"], ["B"], [], ["B"], ["C"]]


def test_half_a_character_does_not_keep_a_conversation_from_being_saved(
    store: ConversationStore,
) -> None:
    store.save(replace(conversation("a"), system_prompt="broken \ud83d paste"))
    assert store.load("a").system_prompt == "broken ? paste"


def _full_disk(handle: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_pictures_come_back_with_their_message_and_files_of_before_have_none(
    tmp_path: Path,
) -> None:
    picture = Picture("a" * 64, "b.png", 80, 48, 800, 480, ("The first of 2 frames.",), "a dog")
    said = with_message(conversation("a"), Message(Role.USER, "", pictures=(picture,)))
    ConversationStore(tmp_path).save(said)
    assert ConversationStore(tmp_path).load("a") == said
    path = ConversationStore(tmp_path).file_of("a")
    record = json.loads(path.read_bytes())
    for message in record["conversation"]["messages"]:
        del message["pictures"]
    path.write_text(json.dumps(record), encoding="utf-8")
    assert all(not m.pictures for m in ConversationStore(tmp_path).load("a").messages)
