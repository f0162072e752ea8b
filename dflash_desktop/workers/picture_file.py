"""Opens a file that shall be a picture: never a pipe, a device, a folder or something endless."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from dflash_desktop.domain.picture_kinds import (
    HEAD_BYTES,
    PILLOW_FORMATS,
    PictureKind,
    kind_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO

    from dflash_desktop.domain.pictures import PictureLimits


class PictureFaultError(Exception):
    """Why there is no picture; `code` is stable, `facts` and `words` are for the sentence."""

    def __init__(
        self,
        code: str,
        raw: str = "",
        *,
        facts: Mapping[str, int] | None = None,
        words: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(raw or code)
        self.code = code
        self.facts = dict(facts or {})
        self.words = dict(words or {})


def open_picture_file(path: Path, limits: PictureLimits) -> tuple[BinaryIO, PictureKind]:
    """The file, open at its beginning, and its kind, which `PILLOW_FORMATS` has.

    Raises `PictureFaultError`.
    """
    try:
        if path.is_dir():  # Windows says "permission denied" when a folder is opened
            raise PictureFaultError("picture_folder")
        # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise PictureFaultError(_code_of(error), str(error)) from error
    file = os.fdopen(descriptor, "rb")
    try:
        return file, _checked(file, limits)
    except BaseException:
        file.close()
        raise


def _checked(file: BinaryIO, limits: PictureLimits) -> PictureKind:
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PictureFaultError("picture_not_a_file")
        if status.st_size > limits.max_file_bytes:
            facts = {"file_bytes": status.st_size, "max_bytes": limits.max_file_bytes}
            raise PictureFaultError("picture_file_too_large", facts=facts)
        head = file.read(HEAD_BYTES)
        file.seek(0)
    except OSError as error:
        raise PictureFaultError(_code_of(error), str(error)) from error
    if not head:
        raise PictureFaultError("picture_empty")
    kind = kind_of(head)
    if kind not in PILLOW_FORMATS:
        code = "picture_unknown" if kind is PictureKind.UNKNOWN else "picture_kind_not_read"
        raise PictureFaultError(code, repr(head[:16]), words={"kind": kind.value})
    return kind


def _code_of(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "picture_missing"
    if isinstance(error, PermissionError):
        return "picture_denied"
    return "picture_unreadable"
