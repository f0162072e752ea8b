"""A reproducibility record as a file: written without anything private, read strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.reproducibility import RECORD_VERSION, PairRecord
from dflash_desktop.services.atomic_file import write_atomically, write_problem

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.services.diagnostics import PrivateFacts

_LIMIT_BYTES: Final = 16 << 20
_PUBLIC: Final = frozenset({"repo_id", "commit", "sha256", "commands"})
"""Public by themselves, also where a person is called like the owner of a repository."""


def encode_record(record: PairRecord, private: PrivateFacts) -> bytes:
    """The record as JSON; folders, names of persons and machines, and secrets are masked."""
    masked = _masked(msgspec.to_builtins(record), private)
    return msgspec.json.format(msgspec.json.encode(masked), indent=1) + b"\n"


def decode_record(data: bytes) -> PairRecord:
    """A record from its JSON.

    Raises `msgspec.MsgspecError` for anything that this version would not have written: other
    versions, unknown or missing fields, values of other types.
    """
    plain = msgspec.json.decode(data)
    if isinstance(plain, dict) and plain.get("record_version") not in (RECORD_VERSION, None):
        raise msgspec.ValidationError(f"it is a record of version {plain['record_version']}")
    record = msgspec.json.decode(data, type=PairRecord)
    if msgspec.json.decode(msgspec.json.encode(record)) != plain:
        raise msgspec.ValidationError("it has fields that are unknown, or not written as they are")
    return record


def write_record(path: Path, record: PairRecord, private: PrivateFacts) -> PairRecord:
    """Write it, over an earlier record only, and hand back what is in the file. Blocking.

    Raises `AppError`: "output_taken", or why nothing can be written.
    """
    data = encode_record(record, private)
    written = decode_record(data)
    try:
        if path.exists() and not _is_record(path):
            raise AppError(_taken(path))
        write_atomically(path, data)
    except OSError as error:
        problem = write_problem(error, what="The record", kept="Nothing else was changed.")
        raise AppError(problem) from error
    return written


def read_record(path: Path) -> PairRecord:
    """Read it. Blocking. Raises `AppError` ("record_unreadable")."""
    try:
        return decode_record(_bytes(path))
    except FileNotFoundError as error:
        raise AppError(
            Problem(
                code="record_unreadable",
                headline=f"“{path.name}” is not there.",
                advice="Name a file that `dflash-desktop record` wrote.",
                detail=str(path),
            )
        ) from error
    except (OSError, ValueError, RecursionError) as error:  # msgspec's own are ValueErrors
        raise AppError(
            Problem(
                code="record_unreadable",
                headline=f"“{path.name}” is no record that this version can read.",
                advice="Choose a file that `dflash-desktop record` wrote, and compare with the "
                "newer version of the two programs.",
                detail=f"{path}: {error}",
            )
        ) from error


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(_LIMIT_BYTES + 1)
    if len(data) > _LIMIT_BYTES:
        raise ValueError("it is larger than any record")
    return data


def _is_record(path: Path) -> bool:
    try:
        decode_record(_bytes(path))
    except (OSError, ValueError, RecursionError):
        return False
    return True


def _masked(value: object, private: PrivateFacts) -> object:
    if isinstance(value, str):
        return private.mask_folders(value)
    if isinstance(value, list | tuple):
        return [_masked(item, private) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key in _PUBLIC else _masked(item, private) for key, item in value.items()
        }
    return value


def _taken(path: Path) -> Problem:
    return Problem(
        code="output_taken",
        headline=f"“{path.name}” is there already, and is no record.",
        advice="Name another file with --output.",
        detail=str(path),
    )
