"""Keeps a file as it was before a repair, and gives it back."""

from __future__ import annotations

import contextlib
import re
import shutil
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.atomic_file import replace_file, write_atomically
from dflash_desktop.services.file_hashing import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORD_FILE: Final = "dflash-repair.json"
_RECORD_LIMIT_BYTES: Final = 64 << 10
_NAME: Final = re.compile(
    r"(?:openvino_[a-z_]{1,60}\.xml|openvino_(?:de)?tokenizer\.bin|config\.json)"
)
_ORIGINAL: Final = re.compile(r"\.original(?:-[0-9]{1,3})?")


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    original: str  # where the file is as it was; empty: there was none
    sha256_before: str
    sha256_after: str = ""  # empty while the repair is being written


class _Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int = 1
    files: tuple[_Entry, ...] = ()


class RepairRecord:
    """The repairs in one folder. Blocking; raises `OSError`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / RECORD_FILE

    def names(self) -> tuple[str, ...]:
        """The files that can be given back."""
        return tuple(self._read())

    @contextlib.contextmanager
    def keeping(self, name: str) -> Iterator[None]:
        """Keep the file as it is now, or that there is none, while it is written inside.

        Several repairs of one file go back to the first original; a file that somebody else
        changed in between becomes a new original, and the older one stays beside it.
        """
        entries = self._read()
        now = self._sha256(name)
        known = entries.get(name)
        if known is None or now not in {known.sha256_after, known.sha256_before}:
            known = _Entry(name, self._keep(name) if now else "", now)
        self._write({**entries, name: msgspec.structs.replace(known, sha256_after="")})
        try:
            yield
        except BaseException:
            self._give_up(known, now, entries)
            raise
        path = self._folder / name
        if known.original:
            shutil.copymode(self._folder / known.original, path)
        self._write(
            {**entries, name: msgspec.structs.replace(known, sha256_after=file_sha256(path))}
        )

    def restore(self, name: str) -> bool:
        """Give the original back; False if the file is the original already.

        Raises `AppError`: "repair_changed_since" when it is neither that nor what was written,
        "original_missing" when somebody has removed the file from before.
        """
        entries = self._read()
        entry, path = entries[name], self._folder / name
        now = self._sha256(name)
        if not entry.original:
            return self._take_away(entry, now, entries)
        original = self._folder / entry.original
        if now != entry.sha256_before and not original.exists():
            raise AppError(_original_missing(name, original.name))
        is_ours = now in {entry.sha256_after, ""} or not entry.sha256_after
        if now == entry.sha256_before:
            original.unlink(missing_ok=True)
        elif not is_ours or file_sha256(original) != entry.sha256_before:
            raise AppError(_changed_since(name, original.name))
        else:
            if now and not entry.sha256_after:
                # The repair was killed, so this may be its work, or what a person edited since.
                self._keep(name)
            replace_file(original, path)
        self._write({other: entries[other] for other in entries if other != name})
        return now != entry.sha256_before

    def _take_away(self, entry: _Entry, now: str, entries: dict[str, _Entry]) -> bool:
        """Give back that there was no such file."""
        if now and now != entry.sha256_after:
            if entry.sha256_after:
                raise AppError(_changed_since(entry.name, ""))
            self._keep(entry.name)  # perhaps a person's, see `restore`
        if now:
            (self._folder / entry.name).unlink()
        self._write({other: entries[other] for other in entries if other != entry.name})
        return bool(now)

    def _sha256(self, name: str) -> str:
        path = self._folder / name
        return file_sha256(path) if path.exists() else ""

    def _give_up(self, known: _Entry, now: str, entries: dict[str, _Entry]) -> None:
        """Leave the file as it was before this attempt, or at least able to be given back."""
        path, original = self._folder / known.name, self._folder / known.original
        if not known.original:
            path.unlink(missing_ok=True)
        elif self._sha256(known.name) != now:
            if known.sha256_before != now:
                return  # what an earlier repair wrote is gone; the first original is not
            replace_file(original, path)
        elif known.name not in entries or entries[known.name].original != known.original:
            original.unlink(missing_ok=True)
        self._write(entries)

    def _keep(self, name: str) -> str:
        """A second name for the same bytes; where the disk knows no such thing, a copy."""
        for number in range(1, 1000):
            kept = f"{name}.original" + ("" if number == 1 else f"-{number}")
            try:
                (self._folder / kept).hardlink_to((self._folder / name).resolve())
            except FileExistsError:
                continue
            except OSError:
                shutil.copy2(self._folder / name, self._folder / kept)
            return kept
        raise FileExistsError(f"too many originals of {name}")

    def _read(self) -> dict[str, _Entry]:
        """The record is not trusted: it may have come with a download."""
        try:
            with self._file.open("rb") as file:
                content = msgspec.json.decode(file.read(_RECORD_LIMIT_BYTES), type=_Content)
        except (FileNotFoundError, msgspec.MsgspecError):
            return {}
        return {
            entry.name: entry
            for entry in content.files
            if content.version == 1
            and _NAME.fullmatch(entry.name)
            and _is_original(entry.original, entry.name)
        }

    def _write(self, entries: dict[str, _Entry]) -> None:
        if entries:
            write_atomically(self._file, msgspec.json.encode(_Content(1, tuple(entries.values()))))
        else:
            self._file.unlink(missing_ok=True)


def _is_original(original: str, name: str) -> bool:
    is_beside = original.startswith(name) and _ORIGINAL.fullmatch(original[len(name) :])
    return not original or bool(is_beside)


def repaired_files(folder: Path) -> tuple[str, ...]:
    """The files here that a repair has rewritten; none if that cannot be read. Blocking."""
    try:
        return RepairRecord(folder).names()
    except OSError:
        return ()


def _changed_since(name: str, original: str) -> Problem:
    return Problem(
        code="repair_changed_since",
        headline=f"{name} was changed by somebody else after it was repaired.",
        advice=f"It was left as it is. The file from before the repair is {original}, if it is "
        "still there."
        if original
        else "It was left as it is. Before the repair there was none: delete it if you want that.",
    )


def _original_missing(name: str, original: str) -> Problem:
    return Problem(
        code="original_missing",
        headline=f"{original}, the file from before the repair, is gone.",
        advice=f"{name} was left as it is. To have the original, download or export the model "
        "again.",
    )
