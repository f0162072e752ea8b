"""The measured checks of all pairs on disk: small, written whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.check_summary import CheckSummary
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.atomic_file import set_aside, write_atomically, write_problem
from dflash_desktop.services.safe_json import encode_json

if TYPE_CHECKING:
    from pathlib import Path

_VERSION: Final = 1
PER_PAIR: Final = 10
IN_ALL: Final = 200
_LIMIT_BYTES: Final = 4 << 20


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    checks: tuple[CheckSummary, ...] = ()


class CheckHistory:
    """The last ten checks of each pair, and no more than 200. Blocking.

    It is read anew each time: the file is small, and another window may have written to it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def of_pair(self, pair_id: str) -> tuple[CheckSummary, ...]:
        """The checks of this pair, the newest first; none when the file cannot be read."""
        return tuple(one for one in reversed(self._read()) if one.pair_id == pair_id)

    def add(self, check: CheckSummary) -> None:
        """Keep a check; the oldest ones go. Raises `AppError` when it cannot be written."""
        checks = self._read()
        same = [one for one in checks if one.pair_id == check.pair_id]
        too_old = same[: max(0, len(same) + 1 - PER_PAIR)]
        kept = [one for one in checks if one not in too_old]
        content = _File(_VERSION, (*kept, check)[-IN_ALL:])
        try:
            write_atomically(self._file, encode_json(content))
        except OSError as error:
            what, kept_words = "The check", "Its result is shown until you leave this page."
            raise AppError(write_problem(error, what=what, kept=kept_words)) from error

    def _read(self) -> tuple[CheckSummary, ...]:
        try:
            with self._file.open("rb") as file:
                content = msgspec.json.decode(file.read(_LIMIT_BYTES), type=_File)
            if content.version == _VERSION:
                return content.checks
        except OSError:  # there is none yet, or it cannot be read now
            return ()
        except (msgspec.MsgspecError, RecursionError):
            pass
        self._put_aside()
        return ()

    def _put_aside(self) -> None:
        """What cannot be read is of a newer program or damaged; it is kept under another name."""
        try:
            set_aside(self._file)
        except OSError:
            return
