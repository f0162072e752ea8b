"""Conversations on disk, one JSON file each: saved whole, listed cheaply, deleted reversibly."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain.conversation import UNTITLED, Conversation
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.safe_json import encode_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LOG = logging.getLogger(__name__)

FILE_VERSION = 1
TRASH = "trash"


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One line of the list; `problem` is why the conversation cannot be opened, if it cannot."""

    id: str
    title: str
    changed_at: datetime
    problem: Problem | None = None


class _Record(msgspec.Struct, frozen=True):
    version: int
    changed_at: datetime
    conversation: Conversation


class _HeadConversation(msgspec.Struct, frozen=True):
    title: str


class _Head(msgspec.Struct, frozen=True):
    """The record without its messages, which msgspec then skips."""

    version: int
    changed_at: datetime
    conversation: _HeadConversation


class _TextMessage(msgspec.Struct, frozen=True):
    text: str


class _TextConversation(msgspec.Struct, frozen=True):
    title: str
    messages: tuple[_TextMessage, ...]


class _Texts(msgspec.Struct, frozen=True):
    conversation: _TextConversation


_RECORD = msgspec.json.Decoder(_Record)
_HEAD = msgspec.json.Decoder(_Head)
_TEXTS = msgspec.json.Decoder(_Texts)
_Stamp = tuple[int, int]


class ConversationStore:
    """The conversations of one folder.

    What could not be written stays in memory, is listed like the others, and is tried again by
    `save_pending`. Damaged files are listed as unreadable and never changed or removed.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._pending: dict[str, _Record] = {}
        self._summaries: dict[str, tuple[_Stamp, ConversationSummary]] = {}
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change of the list; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def save(self, conversation: Conversation) -> None:
        """Write the conversation as it is now.

        Raises `AppError` (code "disk_full", "not_writable" or "write_failed") when the disk
        refuses; the conversation is then kept in memory.
        """
        self._write(_Record(FILE_VERSION, datetime.now(UTC), conversation))

    @property
    def pending(self) -> tuple[str, ...]:
        """The ids of conversations that are in memory only, because the disk refused them."""
        return tuple(self._pending)

    def save_pending(self) -> None:
        """Try again to write what the disk refused. Raises `AppError` if it still does."""
        for record in tuple(self._pending.values()):
            self._write(record)

    def file_of(self, conversation_id: str) -> Path:
        """Where a conversation is kept, so that a damaged file can be shown to the person."""
        return self._path(conversation_id)

    def load(self, conversation_id: str) -> Conversation:
        """The conversation. Raises `AppError` (code "conversation_damaged" or "..._missing")."""
        return self._record(conversation_id).conversation

    def list(self) -> tuple[ConversationSummary, ...]:
        """All conversations, newest first; reads only what has changed since the last call."""
        known: dict[str, tuple[_Stamp, ConversationSummary]] = {}
        for path in self._directory.glob("*.json"):
            try:
                status = path.stat()
            except FileNotFoundError:  # deleted by another window in between
                continue
            stamp = (status.st_mtime_ns, status.st_size)
            cached = self._summaries.get(path.stem)
            if cached and cached[0] == stamp and cached[1].problem is None:
                known[path.stem] = cached
            else:
                changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                known[path.stem] = (stamp, _summary(path, changed_at))
        self._summaries = known
        summaries = {name: summary for name, (_, summary) in known.items()}
        for name, record in tuple(self._pending.items()):
            title = record.conversation.title
            summaries[name] = ConversationSummary(name, title, record.changed_at)
        return tuple(sorted(summaries.values(), key=lambda s: s.changed_at, reverse=True))

    def search(self, words: str) -> frozenset[str]:
        """The ids of conversations whose title or messages contain `words`, whatever the case.

        Reads every file, so call it outside the window's thread.
        """
        wanted = words.casefold()
        found = set()
        for path in self._directory.glob("*.json"):
            try:
                conversation = _TEXTS.decode(path.read_bytes()).conversation
            except (OSError, msgspec.MsgspecError):
                continue
            texts = (conversation.title, *(m.text for m in conversation.messages))
            if any(wanted in text.casefold() for text in texts):
                found.add(path.stem)
        return frozenset(found)

    def rename(self, conversation_id: str, title: str) -> Conversation:
        """Give it another title (blank: untitled) without moving it in the list.

        Raises `AppError` like `load` and `save`.
        """
        record = self._record(conversation_id)
        cleaned = " ".join(title.split()) or UNTITLED
        renamed = replace(record.conversation, title=cleaned)
        self._write(_Record(FILE_VERSION, record.changed_at, renamed))
        return renamed

    def delete(self, conversation_id: str) -> None:
        """Move the conversation to the trash, from where `restore` brings it back.

        Raises `AppError` when the disk refuses.
        """
        pending = self._pending.pop(conversation_id, None)
        path = self._path(conversation_id)
        trashed = self._trashed(conversation_id)
        try:
            trashed.parent.mkdir(parents=True, exist_ok=True)
            if pending is not None:
                write_atomically(trashed, encode_json(pending))
                path.unlink(missing_ok=True)
            else:
                path.replace(trashed)
        except FileNotFoundError:
            _LOG.info("conversation %s was already gone", conversation_id)
        except OSError as error:
            if pending is not None:
                self._pending[conversation_id] = pending
            raise AppError(_refused(error)) from error
        self._tell()

    def restore(self, conversation_id: str) -> None:
        """Undo `delete`; what was saved again since then stays.

        Raises `AppError` when the trash no longer has it or the disk refuses.
        """
        path = self._path(conversation_id)
        if path.exists():
            return
        try:
            self._trashed(conversation_id).replace(path)
        except FileNotFoundError as error:
            raise AppError(_missing(conversation_id)) from error
        except OSError as error:
            raise AppError(_refused(error)) from error
        self._tell()

    def empty_trash(self) -> None:
        """Remove for good what was deleted; called at the next start, when Undo is past."""
        for path in (self._directory / TRASH).glob("*.json"):
            try:
                path.unlink()
            except OSError:
                _LOG.warning("a deleted conversation stays in the trash", exc_info=True)

    def _write(self, record: _Record) -> None:
        conversation_id = record.conversation.id
        path = self._path(conversation_id)
        try:
            write_atomically(path, encode_json(record))
        except OSError as error:
            self._pending[conversation_id] = record
            self._tell()
            raise AppError(_refused(error)) from error
        self._pending.pop(conversation_id, None)
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    def _record(self, conversation_id: str) -> _Record:
        pending = self._pending.get(conversation_id)
        if pending is not None:
            return pending
        path = self._path(conversation_id)
        try:
            record = _RECORD.decode(path.read_bytes())
            _check_version(record.version)
        except FileNotFoundError as error:
            raise AppError(_missing(conversation_id)) from error
        except (OSError, msgspec.MsgspecError) as error:
            raise AppError(_damaged(path, error)) from error
        # A copied file is a conversation of its own, whatever id it was copied from.
        return msgspec.structs.replace(
            record, conversation=replace(record.conversation, id=conversation_id)
        )

    def _path(self, conversation_id: str) -> Path:
        return self._directory / f"{conversation_id}.json"

    def _trashed(self, conversation_id: str) -> Path:
        return self._directory / TRASH / f"{conversation_id}.json"


def _summary(path: Path, changed_at: datetime) -> ConversationSummary:
    try:
        head = _HEAD.decode(path.read_bytes())
        _check_version(head.version)
    except (OSError, msgspec.MsgspecError) as error:
        return ConversationSummary(path.stem, path.name, changed_at, _damaged(path, error))
    return ConversationSummary(path.stem, head.conversation.title, head.changed_at)


def _check_version(version: int) -> None:
    if version != FILE_VERSION:
        raise msgspec.ValidationError(f"this program does not know files of version {version}")


def _damaged(path: Path, error: Exception) -> Problem:
    return Problem(
        code="conversation_damaged",
        headline="This conversation cannot be read.",
        advice=(
            f"Its file {path.name} is damaged or was written by a newer version of this program. "
            "It was left as it is, so that you can look into it or restore it from a backup."
        ),
        detail=f"{path}: {error}",
    )


def _missing(conversation_id: str) -> Problem:
    return Problem(
        code="conversation_missing",
        headline="This conversation is no longer there.",
        advice="Its file was removed outside the program. Choose another one or start a new chat.",
        detail=conversation_id,
    )


def _refused(error: OSError) -> Problem:
    return write_problem(
        error,
        what="The conversation",
        kept="It stays open here, and nothing in it is lost until you close the program.",
    )
