"""The queue of transfers on disk: it survives the end of the program, however that comes."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from dflash_desktop.domain.library import ModelFile
from dflash_desktop.domain.problems import Problem
from dflash_desktop.domain.transfer import RepoPlan, TransferRequest
from dflash_desktop.services.atomic_file import set_aside, write_atomically
from dflash_desktop.services.safe_json import encode_json

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

_FOLDER_DIGITS: Final = 16
"""Short, since Windows counts every character of a path."""


@dataclass(frozen=True, slots=True)
class StoredTransfer:
    """What must be known of a transfer at the next start. It never holds a token."""

    request: TransferRequest
    is_paused: bool = False
    plans: tuple[RepoPlan, ...] = ()  # with their commits: a resumed transfer takes the same
    installed: tuple[str, ...] = ()  # repositories of `plans` that are in the library by now
    fetched: tuple[tuple[ModelFile, ...], ...] = ()  # of `missing_plans`, once all were verified
    done_bytes: int = 0  # as it was last shown
    problem: Problem | None = None

    @property
    def missing_plans(self) -> tuple[RepoPlan, ...]:
        """What is not in the library yet."""
        return tuple(plan for plan in self.plans if plan.repo_id not in self.installed)

    @property
    def folder_name(self) -> str:
        """Its folder in the incoming folder; an id may hold what no file system takes."""
        return hashlib.sha256(self.request.id.encode()).hexdigest()[:_FOLDER_DIGITS]


class _File(msgspec.Struct, frozen=True):
    version: Literal[1]
    transfers: tuple[StoredTransfer, ...]


class TransferStore:
    """One file. Only the process that owns the queue may write it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._must_set_aside = False

    def load(self) -> tuple[StoredTransfer, ...]:
        """The queue; one that cannot be read is kept under another name."""
        self._must_set_aside = False
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_File).transfers
        except FileNotFoundError:
            return ()
        except OSError as error:  # a virus scanner holds it just now, for instance
            self._must_set_aside = True
            _log.warning("the queue of downloads cannot be read: %s", error)
        except msgspec.MsgspecError as error:
            _log.warning("the queue of downloads is damaged: %s", error)
            try:
                set_aside(self._file)
            except OSError as refusal:
                _log.warning("it cannot be moved aside: %s", refusal)
        return ()

    def save(self, transfers: tuple[StoredTransfer, ...]) -> None:
        """Replace the queue. Blocking; raises `OSError`, and the old queue then stays.

        One that could not be read is moved aside first.
        """
        if self._must_set_aside:
            set_aside(self._file)
            self._must_set_aside = False
        data = encode_json(_File(version=1, transfers=transfers))
        write_atomically(self._file, msgspec.json.format(data, indent=2))


def stored_folder_names(file: Path) -> frozenset[str] | None:
    """The folders of all stored transfers, only looked at; None when nobody can tell."""
    try:
        stored = msgspec.json.decode(file.read_bytes(), type=_File).transfers
    except FileNotFoundError:
        return frozenset()
    except (OSError, msgspec.MsgspecError):
        return None
    return frozenset(one.folder_name for one in stored)
