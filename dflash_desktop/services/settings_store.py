"""The person's settings on disk: loaded once, changed atomically, told to whoever listens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain.problems import AppError, Problem, Severity
from dflash_desktop.domain.setting_bounds import within_bounds
from dflash_desktop.domain.settings import SETTINGS_VERSION, Settings, SettingsChange
from dflash_desktop.services.atomic_file import (
    file_stamp,
    set_aside,
    write_atomically,
    write_problem,
)
from dflash_desktop.services.file_turn import turn_with
from dflash_desktop.services.safe_json import encode_json
from dflash_desktop.workers.json_paths import decode_path, encode_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Unpack

MIGRATIONS: Mapping[int, Callable[[dict[str, object]], dict[str, object]]] = {}
"""How the JSON object of version n becomes one of n + 1, for every n below the present one."""


class SettingsStore:
    """One `Settings` value; `problem` says what was wrong with the file when it was read.

    The window and commands share the file: a change takes in what another process wrote since,
    so that each changes only the fields that it names.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._listeners: list[Callable[[Settings], None]] = []
        self._must_set_aside = False
        self._stamp: tuple[int, int, int] | None = None
        self._unsaved: SettingsChange = {}
        self.problem: Problem | None = None
        self._value = self._load()

    @property
    def value(self) -> Settings:
        """The settings now."""
        return self._value

    def change(self, **fields: Unpack[SettingsChange]) -> Settings:
        """Change some fields, save, and tell the listeners; numbers are kept within bounds.

        Raises `AppError` (code "disk_full", "not_writable" or "write_failed") when the file could
        not be written; the change then still holds until the program ends.
        """
        before = self._value
        if within_bounds(replace(before, **fields)) == before and not self._unsaved:
            return before
        refusal: AppError | None = None
        with turn_with(self._file):
            changed = within_bounds(replace(self._newest(), **fields))
            self._value = changed
            self._unsaved = {**self._unsaved, **fields}
            try:
                self._save(changed)
            except AppError as error:
                refusal = error
        for listener in tuple(self._listeners):  # after the turn: they may change more
            listener(changed)
        if refusal is not None:
            raise refusal
        return changed

    def look_again(self) -> Settings:
        """The settings with what another process wrote since; for a change made from a value."""
        found = self._newest()
        if found != self._value:
            self._value = found
            self._stamp = file_stamp(self._file)
            for listener in tuple(self._listeners):
                listener(found)
        return found

    def subscribe(self, listener: Callable[[Settings], None]) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _save(self, settings: Settings) -> None:
        data = msgspec.json.format(encode_json(settings, enc_hook=encode_path), indent=2)
        try:
            if self._must_set_aside:
                set_aside(self._file)
                self._must_set_aside = False
            write_atomically(self._file, data)
            self._unsaved = {}
            self._stamp = file_stamp(self._file)
        except OSError as error:
            problem = write_problem(
                error, what="The setting", kept="It holds until you close the program."
            )
            raise AppError(problem) from error

    def _newest(self) -> Settings:
        """What is on disk if another process wrote it, with what this one could not write."""
        stamp = file_stamp(self._file)
        if stamp is None or stamp == self._stamp or self._must_set_aside:
            return self._value
        try:
            found = _decode(self._file.read_bytes())
        except OSError:
            return self._value
        except msgspec.MsgspecError:
            self._must_set_aside = True  # damaged, or of a newer version: it is kept
            return self._value
        return replace(found, **self._unsaved)

    def _load(self) -> Settings:
        self._stamp = file_stamp(self._file)
        try:
            data = self._file.read_bytes()
        except FileNotFoundError:
            return Settings()
        except OSError as error:
            self._must_set_aside = True
            self.problem = _damaged("It is kept, and moved aside before anything is saved.", error)
            return Settings()
        try:
            return within_bounds(_decode(data))
        except msgspec.MsgspecError as error:
            self.problem = self._put_damaged_file_aside(error)
            return Settings()

    def _put_damaged_file_aside(self, error: Exception) -> Problem:
        try:
            kept = set_aside(self._file)
        except OSError:
            self._must_set_aside = True
            return _damaged("It is kept, and moved aside before anything is saved.", error)
        return _damaged(f"The old file was kept beside the new one as {kept.name}.", error)


def _decode(data: bytes) -> Settings:
    raw = msgspec.json.decode(data, type=dict[str, object])
    version = raw.get("version")
    if not isinstance(version, int) or not 1 <= version <= SETTINGS_VERSION:
        raise msgspec.ValidationError(f"this program does not know settings of version {version}")
    for number in range(version, SETTINGS_VERSION):
        raw = MIGRATIONS[number](raw)
    raw["version"] = SETTINGS_VERSION
    return msgspec.convert(raw, type=Settings, dec_hook=decode_path)


def _damaged(kept: str, error: Exception) -> Problem:
    return Problem(
        code="settings_damaged",
        headline="Your settings could not be read, so the defaults are used.",
        advice=kept,
        severity=Severity.WARNING,
        detail=str(error),
    )
