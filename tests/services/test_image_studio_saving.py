"""A picture that is being written when somebody cancels: it is there, and everybody is told."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.devices import Device
from dflash_desktop.domain.image_models import LoadedImageModel
from dflash_desktop.domain.made_picture import MadePicture, PictureRecipe, Pixels
from dflash_desktop.domain.picture_request import PictureRequest
from dflash_desktop.services.gallery_store import GalleryStore
from dflash_desktop.services.image_studio import ImageStudio
from dflash_desktop.workers.protocol import PictureMade
from tests.fakes.engine import until
from tests.fakes.image_models import MODEL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from dflash_desktop.services.engine import Engine


class OnePicture:
    """An engine that holds the model, and makes a picture at once."""

    is_busy = False
    loaded = LoadedImageModel("Tiny", MODEL.folder, "CPU", "CPU", 0.0)

    @property
    def pictures(self) -> OnePicture:
        """What the studio asks."""
        return self

    async def stop(self) -> None:
        """Nothing runs."""

    async def make(self, request: PictureRequest) -> AsyncGenerator[PictureMade]:
        """Black."""
        yield PictureMade(1, 0.1, Pixels(request.width, request.height, bytes(64 * 64 * 3)))


class SlowDisk(GalleryStore):
    """Writes when it is let."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.is_writing = threading.Event()
        self.may_write = threading.Event()

    def add(self, pixels: Pixels, recipe: PictureRecipe, *, seconds: float) -> MadePicture:
        """As slow as a full disk in a network."""
        self.is_writing.set()
        assert self.may_write.wait(20)
        return super().add(pixels, recipe, seconds=seconds)


async def _cpu() -> Device:
    return Device("CPU", "")


@pytest.mark.parametrize("by", ["cancel", "close"])
async def test_what_is_written_already_is_told_though_it_was_cancelled(
    tmp_path: Path, by: str
) -> None:
    gallery = SlowDisk(tmp_path / "gallery")
    engine: Engine = OnePicture()  # type: ignore[assignment]  # what the studio uses of it
    studio = ImageStudio(
        engine=engine, gallery=gallery, choose_device=_cpu, compile_cache_dir=tmp_path
    )
    told: list[MadePicture] = []
    studio.subscribe_made(told.append)
    (item,) = studio.order(PictureRequest("a cat", 64, 64, steps=2, guidance=7, seed=1), MODEL)
    await until(gallery.is_writing.is_set)
    ending = asyncio.create_task(studio.cancel(item.id) if by == "cancel" else studio.close())
    await asyncio.sleep(0)
    gallery.may_write.set()
    await ending
    await studio.idle()
    assert [one.id for one in gallery.list()] == [one.id for one in told]
    assert len(told) == 1
    assert studio.queue() == ()
