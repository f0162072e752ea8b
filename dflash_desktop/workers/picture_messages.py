"""The messages to and from the process that reads pictures."""

from __future__ import annotations

from pathlib import Path

import msgspec

from dflash_desktop.domain.pictures import DEFAULT_LIMITS, THUMBNAIL_SIDE, Picture, PictureLimits


class _Message(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


class PreparePicture(_Message, frozen=True, tag="prepare_picture"):
    """Make of a file what a model is shown. → `PicturePrepared` or `Failed`.

    It is written to `output_dir` as `<sha256>.png`, its thumbnail to `thumbnail_dir` under the
    same name; both are whole or not there.
    """

    job: int
    source: Path
    title: str
    output_dir: Path
    thumbnail_dir: Path
    limits: PictureLimits = DEFAULT_LIMITS


class MakeThumbnail(_Message, frozen=True, tag="make_thumbnail"):
    """Reduce a picture to `max_side` pixels, into `destination`. → `ThumbnailMade` or `Failed`."""

    job: int
    source: Path
    destination: Path
    max_side: int = THUMBNAIL_SIDE


class PicturePrepared(_Message, frozen=True, tag="picture_prepared"):
    """The picture is on disk."""

    job: int
    picture: Picture


class ThumbnailMade(_Message, frozen=True, tag="thumbnail_made"):
    """The thumbnail is on disk; its size is in pixels."""

    job: int
    width: int
    height: int
