"""Exports on disk: one file for each, so that any start can go on after any end of the program."""

from __future__ import annotations

import logging
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from dflash_desktop.domain.check_summary import CheckSummary
from dflash_desktop.domain.export_plan import ExportPlan
from dflash_desktop.domain.export_run import ExportedModel, ExportResult
from dflash_desktop.domain.problems import Problem
from dflash_desktop.services.atomic_file import set_aside, write_atomically
from dflash_desktop.services.safe_json import encode_json
from dflash_desktop.services.transfer_store import StoredTransfer
from dflash_desktop.workers.json_paths import decode_path, encode_path

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.paths import AppPaths

_log = logging.getLogger(__name__)

EXPORT_PREFIX: Final = "export-"
_BESIDE_PREFIX: Final = ".dflash-export-"
_ID: Final = re.compile(r"[0-9a-f]{12}")
_LIMIT_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class StoredExport:
    """What must be known of an export at the next start. It never holds a token."""

    id: str
    plan: ExportPlan
    is_paused: bool = False
    done: tuple[str, ...] = ()  # names of finished stages
    seconds: tuple[float, ...] = ()  # that each of them took
    peak_bytes: int = 0
    transfers: tuple[StoredTransfer, ...] = ()  # with their commits: resumed ones take the same
    models: tuple[ExportedModel, ...] = ()  # that were checked; with an id once they have a place
    notes: tuple[str, ...] = ()  # what was mended, or could not be measured
    pair_verdict: str = ""
    speed_up: float | None = None
    check: CheckSummary | None = None  # behind the verdict; of no pair before it is in place
    result: ExportResult | None = None
    problem: Problem | None = None

    def work_dir(self, paths: AppPaths) -> Path:
        """Where everything of it lies until it is finished, on the disk of its output."""
        if self.plan.output_dir is None:
            return paths.incoming_dir / f"{EXPORT_PREFIX}{self.id}"
        return self.plan.output_dir.parent / f"{_BESIDE_PREFIX}{self.id}"

    def log_file(self, paths: AppPaths) -> Path:
        """What its processes said."""
        return paths.log_dir / f"{EXPORT_PREFIX}{self.id}.log"


class _File(msgspec.Struct, frozen=True):
    version: Literal[1]
    export: StoredExport


class ExportJournal:
    """One folder. Only the process that owns the exports may write it. All calls block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self) -> tuple[StoredExport, ...]:
        """All of them, the oldest first; one that cannot be read is kept under another name."""
        found = []
        for file in _files(self._folder):
            try:
                found.append(_decode(file))
            except (OSError, ValueError) as error:  # msgspec's own errors are ValueErrors
                _log.warning("the record of an export is damaged: %s", error)
                _put_aside(file)
        return tuple(found)

    def save(self, stored: StoredExport) -> None:
        """Replace its record. Raises `OSError`, and the old record then stays."""
        data = encode_json(_File(version=1, export=stored), enc_hook=encode_path)
        write_atomically(self._folder / f"{stored.id}.json", msgspec.json.format(data, indent=1))

    def forget(self, export_id: str) -> None:
        """Its files are no longer waited for. Raises `OSError`."""
        (self._folder / f"{export_id}.json").unlink(missing_ok=True)


def new_export_id() -> str:
    """Twelve hexadecimal digits: a name for files, and short on Windows."""
    return secrets.token_hex(6)


def known_export_ids(folder: Path) -> frozenset[str]:
    """The exports that somebody may go on with, only looked at. Blocking."""
    return frozenset(file.stem for file in _files(folder))


def _files(folder: Path) -> list[Path]:
    try:
        files = [f for f in folder.glob("*.json") if _ID.fullmatch(f.stem)]
        return sorted(files, key=lambda file: file.stat().st_ctime_ns)
    except OSError:
        return []


def _decode(file: Path) -> StoredExport:
    if file.stat().st_size > _LIMIT_BYTES:
        raise ValueError(f"{file.name} is larger than any that we write")
    stored = msgspec.json.decode(file.read_bytes(), type=_File, dec_hook=decode_path).export
    if stored.id != file.stem:
        raise ValueError(f"{file.name} is the record of {stored.id!r}")
    return stored


def _put_aside(file: Path) -> None:
    try:
        set_aside(file)
    except OSError as refusal:
        _log.warning("it cannot be moved aside: %s", refusal)
