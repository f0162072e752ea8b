"""The pictures process: reads what people attach, within limits, apart from window and engine.

A file from anywhere can crash its reader, take all memory or an hour. Here that costs this
process, which holds nothing, and neither the chat nor an answer that is on its way.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.pictures import THUMBNAIL_SIDE, Picture, PictureLimits
from dflash_desktop.workers.picture_file import PictureFaultError
from dflash_desktop.workers.picture_limits import PICTURE_MEMORY_BYTES
from dflash_desktop.workers.picture_messages import (
    MakeThumbnail,
    PicturePrepared,
    PreparePicture,
    ThumbnailMade,
)
from dflash_desktop.workers.picture_reading import read_picture
from dflash_desktop.workers.protocol import Failed
from dflash_desktop.workers.runtime import WorkerRuntime

if TYPE_CHECKING:
    from PIL import Image

    from dflash_desktop.workers import protocol

_QUICK_PNG: Final = 1
"""zlib's level: a third of the time of the usual one, and the files are a tenth larger."""


class PictureJobs:
    """Runs the commands of one window, one at a time, on the process's main thread."""

    def __init__(self, runtime: WorkerRuntime) -> None:
        self._runtime = runtime

    def run(self, command: protocol.Command) -> None:
        """Do one job; every expected fault becomes a `Failed` event."""
        if not isinstance(command, PreparePicture | MakeThumbnail):
            return
        self._runtime.send(_answer(command))


def _answer(command: PreparePicture | MakeThumbnail) -> PicturePrepared | ThumbnailMade | Failed:
    job = command.job
    try:
        return prepare(command) if isinstance(command, PreparePicture) else make_thumbnail(command)
    except PictureFaultError as error:
        return Failed(job, error.code, str(error), facts=error.facts, words=error.words)
    except MemoryError:
        # What is left of it may be in pieces, so whoever asked ends this process.
        return Failed(job, "picture_too_much_memory", "MemoryError", tainted=True)
    except OSError as error:
        return Failed(job, _write_code(error), str(error))


def prepare(command: PreparePicture) -> PicturePrepared:
    """Read, and write both files. Raises like `read_picture`, and `OSError`."""
    read = read_picture(command.source, command.limits)
    data = _png(read.image)
    name = hashlib.sha256(data).hexdigest()
    _write(command.output_dir / f"{name}.png", data)
    _write(command.thumbnail_dir / f"{name}.png", _png(_reduced(read.image, THUMBNAIL_SIDE)))
    picture = Picture(
        id=name,
        title=command.title,
        width=read.image.width,
        height=read.image.height,
        original_width=read.original_width,
        original_height=read.original_height,
        notes=read.notes,
    )
    return PicturePrepared(command.job, picture)


def make_thumbnail(command: MakeThumbnail) -> ThumbnailMade:
    """Raises like `prepare`."""
    limits = PictureLimits(max_side=2 * command.max_side, max_pixels=4 * command.max_side**2)
    image = _reduced(read_picture(command.source, limits).image, command.max_side)
    _write(command.destination, _png(image))
    return ThumbnailMade(command.job, image.width, image.height)


def _reduced(image: Image.Image, max_side: int) -> Image.Image:
    from PIL import Image

    share = max_side / max(image.size)
    if share >= 1:
        return image
    size = (max(1, round(image.width * share)), max(1, round(image.height * share)))
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def _png(image: Image.Image) -> bytes:
    """The pixels and nothing else: a new image has no metadata that could go along."""
    image.info.clear()
    stream = BytesIO()
    image.save(stream, "PNG", compress_level=_QUICK_PNG)
    return stream.getvalue()


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all; a file that has these bytes is only made young. Raises `OSError`.

    `services.atomic_file` is above this layer, and what is written here can be made again, so
    the disk need not confirm it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        # On Windows a file that the window is showing could not be replaced.
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            os.utime(path)
            return
    handle, name = tempfile.mkstemp(prefix=".", suffix=".new", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _write_code(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "disk_full"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "folder_not_writable"
    return "picture_not_saved"


def limit_memory() -> None:
    """Linux: let what takes too much fail by itself; on Windows the launcher's job object does."""
    if sys.platform == "linux":
        import resource

        # Not the address space, which threads reserve far more of than they ever touch.
        resource.setrlimit(resource.RLIMIT_DATA, (PICTURE_MEMORY_BYTES, PICTURE_MEMORY_BYTES))


def main() -> None:
    """Entry point of the pictures process."""
    runtime = WorkerRuntime.claim("pictures")
    limit_memory()
    runtime.serve(PictureJobs(runtime).run)


if __name__ == "__main__":
    main()
