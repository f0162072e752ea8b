"""The queue of pictures over a tiny real model: order, seeds, cancelling, faults, the gallery."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import psutil
import pytest
import pytest_asyncio

from dflash_desktop.domain.devices import Device
from dflash_desktop.domain.image_models import ImageModel
from dflash_desktop.domain.made_picture import MadePicture
from dflash_desktop.domain.picture_queue import QueuedPicture, QueuePhase, phase_words
from dflash_desktop.domain.picture_request import MAX_SEED, PictureRequest
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.gallery_store import GalleryStore
from dflash_desktop.services.image_studio import ImageStudio
from dflash_desktop.services.memory_guard import MemoryGuard
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.image_folder import read_image_model
from tests.fakes.engine import until
from tests.fakes.image_models import STABLE_DIFFUSION, unpack_image_model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


pytestmark = pytest.mark.openvino

REQUEST = PictureRequest("a red cat", 64, 64, steps=3, guidance=7.5, seed=5)
LONG = replace(REQUEST, steps=200)


@dataclass
class Room:
    """A studio with what it works with, and all that it told."""

    studio: ImageStudio
    engine: Engine
    gallery: GalleryStore
    model: ImageModel
    made: list[MadePicture] = field(default_factory=list)
    seen: list[QueuedPicture] = field(default_factory=list)


async def _cpu() -> Device:
    return Device("CPU", "")


@pytest_asyncio.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    folder = await asyncio.to_thread(unpack_image_model, STABLE_DIFFUSION, tmp_path / "sd")
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    gallery = GalleryStore(tmp_path / "gallery")
    studio = ImageStudio(
        engine=engine,
        gallery=gallery,
        choose_device=_cpu,
        compile_cache_dir=tmp_path / "compiled",
    )
    model = read_image_model(folder, model_id="owner/tiny", title="Tiny")
    room = Room(studio, engine, gallery, model)
    studio.subscribe(lambda: room.seen.extend(studio.queue()))
    studio.subscribe_made(room.made.append)
    try:
        yield room
    finally:
        await studio.close()
        await engine.stop()


async def test_a_batch_is_made_with_one_seed_after_the_other_and_kept(room: Room) -> None:
    room.studio.order(REQUEST, room.model, count=3)
    room.studio.order(replace(REQUEST, prompt="a dog", seed=MAX_SEED), room.model, count=2)
    assert len(room.studio.queue()) == 5
    await room.studio.idle()
    assert room.studio.queue() == ()
    assert [p.recipe.seed for p in room.made] == [5, 6, 7, MAX_SEED, 0]
    kept = {entry.id: entry.picture for entry in room.gallery.list()}
    assert set(kept) == {picture.id for picture in room.made}
    assert all(kept.values())
    files = {room.gallery.path(picture.id).read_bytes() for picture in room.made}
    assert len(files) == 5
    first = room.made[0]
    assert first.recipe.model_id == "owner/tiny"
    assert first.recipe.device_name
    assert first.seconds > 0
    phases = {item.phase for item in room.seen}
    assert phases == {QueuePhase.WAITING, QueuePhase.LOADING, QueuePhase.MAKING}
    steps = [item.done_steps for item in room.seen if item.phase is QueuePhase.MAKING]
    assert set(steps) == {0, 1, 2, 3}


async def test_cancelling_ends_the_one_that_runs_and_the_next_is_made(room: Room) -> None:
    running, waiting, last = (
        *room.studio.order(LONG, room.model, count=2),
        *room.studio.order(REQUEST, room.model),
    )
    await until(lambda: any(i.done_steps > 2 for i in room.studio.queue()))
    await room.studio.cancel(waiting.id)
    assert [i.id for i in room.studio.queue()] == [running.id, last.id]
    await room.studio.cancel(running.id)
    await room.studio.idle()
    assert [p.recipe.steps for p in room.made] == [REQUEST.steps]
    stopping = next(i for i in room.seen if i.phase is QueuePhase.STOPPING)
    assert phase_words(stopping) == "Stopping after this step"


async def test_everything_can_be_cancelled_at_once(room: Room) -> None:
    room.studio.order(LONG, room.model, count=4)
    await until(lambda: any(i.done_steps > 1 for i in room.studio.queue()))
    await room.studio.cancel_all()
    await room.studio.idle()
    assert room.studio.queue() == ()
    assert room.made == []
    assert room.gallery.list() == ()


async def test_a_request_that_no_model_can_make_is_refused_at_once(room: Room) -> None:
    for request, count in ((replace(REQUEST, steps=0), 1), (REQUEST, 0), (REQUEST, 1000)):
        with pytest.raises(AppError):
            room.studio.order(request, room.model, count=count)
    assert room.studio.queue() == ()
    assert room.engine.process_id is None


async def test_a_failure_is_shown_and_drops_its_order_but_not_the_others(room: Room) -> None:
    (room.model.folder / "unet" / "openvino_model.bin").write_bytes(b"damaged")
    room.studio.order(REQUEST, room.model, count=3)
    await room.studio.idle()
    (failed,) = room.studio.queue()
    assert failed.phase is QueuePhase.FAILED
    assert failed.problem is not None
    assert failed.problem.code == "model_broken"
    await room.studio.cancel(failed.id)
    assert room.studio.queue() == ()


async def test_a_folder_that_is_used_is_named(room: Room) -> None:
    room.studio.order(REQUEST, room.model)
    assert room.studio.folders_in_use() == (room.model.folder,)
    await room.studio.idle()
    assert room.studio.folders_in_use() == (room.model.folder,), "it is still loaded"


async def test_memory_that_runs_out_stops_the_picture_in_words(room: Room, tmp_path: Path) -> None:
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs2"))
    free = iter((10**10, 10**10))
    studio = ImageStudio(
        engine=engine,
        gallery=room.gallery,
        choose_device=_cpu,
        compile_cache_dir=tmp_path,
        memory_guard=MemoryGuard(available_bytes=lambda: next(free, 0), pause_seconds=0.05),
    )
    try:
        studio.order(replace(REQUEST, steps=200, width=256, height=256), room.model)
        await studio.idle()
        (failed,) = studio.queue()
    finally:
        await studio.close()
        await engine.stop()
    assert failed.problem is not None
    assert failed.problem.code == "memory_running_out"
    assert "draft" not in failed.problem.advice


async def test_cancelling_before_the_model_is_there_makes_nothing(room: Room) -> None:
    (waiting,) = room.studio.order(LONG, room.model)
    await asyncio.sleep(0)  # it has begun, and the engine is on its way
    await room.studio.cancel(waiting.id)
    await room.studio.idle()
    assert room.studio.queue() == ()
    room.studio.order(REQUEST, room.model)
    await room.studio.idle()
    assert [p.recipe.steps for p in room.made] == [REQUEST.steps]


async def test_an_engine_that_dies_fails_the_picture_and_the_next_one_is_made(room: Room) -> None:
    room.studio.order(LONG, room.model)
    await until(lambda: any(i.done_steps > 2 for i in room.studio.queue()))
    process_id = room.engine.process_id
    assert process_id is not None
    psutil.Process(process_id).kill()
    await room.studio.idle()
    (failed,) = room.studio.queue()
    assert failed.problem is not None
    assert failed.problem.code == "engine_crashed"
    room.studio.order(REQUEST, room.model)
    await room.studio.idle()
    assert len(room.made) == 1
