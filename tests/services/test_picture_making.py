"""Tiny real models in the real engine process: pictures, steps, seeds, cancelling, faults."""

from __future__ import annotations

import asyncio
import json
import shutil
import struct
import zlib
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from dflash_desktop.domain.engine_state import HoldsImageModel, loaded_pair, pair_for_questions
from dflash_desktop.domain.generation import PromptMessage, Role, SamplingParams
from dflash_desktop.domain.picture_request import PictureRequest
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.protocol import Finished, PictureMade, PictureStep
from tests.fakes.image_models import QWEN_IMAGE, STABLE_DIFFUSION, unpack_image_model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dflash_desktop.domain.made_picture import Pixels
    from dflash_desktop.domain.pair import PairFolders

pytestmark = pytest.mark.openvino

REQUEST = PictureRequest("a red cat", 64, 64, steps=4, guidance=7.5, seed=42)
LONG = replace(REQUEST, steps=200)
WORTH_A_PREVIEW_SECONDS = 1.0
"""Of the whole picture; at half of it the first preview comes."""


@dataclass
class Maker:
    """An engine that holds one tiny model."""

    engine: Engine
    folder: Path

    async def picture(self, request: PictureRequest = REQUEST) -> Pixels:
        """The picture; fails if there is none."""
        steps, made = await self.run(request)
        assert [step.done for step in steps] == list(range(1, request.run_steps + 1))
        assert made.pixels is not None
        return made.pixels

    async def run(self, request: PictureRequest) -> tuple[list[PictureStep], PictureMade]:
        """All that is told of one picture."""
        events = [e async for e in self.engine.pictures.make(request)]
        last = events[-1]
        assert isinstance(last, PictureMade)
        return [e for e in events if isinstance(e, PictureStep)], last


@pytest_asyncio.fixture(params=[STABLE_DIFFUSION, QWEN_IMAGE])
async def maker(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Maker]:
    folder = await asyncio.to_thread(unpack_image_model, request.param, tmp_path / "Bilder ü")
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    try:
        await engine.pictures.load(folder, title="Tiny", device="CPU")
        yield Maker(engine, folder)
    finally:
        await engine.stop()


def png(path: Path, width: int, height: int, shade: int) -> Path:
    """A picture of one shade of grey."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    rows = (b"\0" + bytes((shade,)) * width * 3) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


async def test_pictures_steps_seeds_sources_and_cancelling(maker: Maker, tmp_path: Path) -> None:
    """One test for all that needs a loaded model, since loading is what takes time."""
    first = await maker.picture()
    assert (first.width, first.height, len(first.rgb)) == (64, 64, 64 * 64 * 3)
    assert len(set(first.rgb)) > 20, "it is all one colour"
    assert await maker.picture() == first, "the same seed made another picture"
    assert await maker.picture(replace(REQUEST, seed=43)) != first
    assert await maker.picture(replace(REQUEST, negative_prompt="a dog")) != first
    wide = await maker.picture(replace(REQUEST, width=96))
    assert (wide.width, wide.height) == (96, 64)

    dark, light = png(tmp_path / "d.png", 90, 70, 20), png(tmp_path / "l.png", 64, 64, 230)
    halfway = replace(REQUEST, steps=6, strength=0.5)
    _, from_dark = await maker.run(replace(halfway, source=dark))
    _, from_light = await maker.run(replace(halfway, source=light))
    assert from_dark.pixels is not None
    assert from_dark.pixels != from_light.pixels
    _, freer = await maker.run(replace(halfway, source=dark, strength=0.9))
    assert freer.pixels != from_dark.pixels
    assert await maker.picture() == first, "the other pipeline left something behind"

    seen, stopping = 0, None
    async with aclosing(maker.engine.pictures.make(LONG)) as events:
        async for event in events:
            if isinstance(event, PictureStep):
                seen += 1
                if seen == 2:
                    stopping = asyncio.create_task(maker.engine.pictures.cancel())
            elif isinstance(event, PictureMade):
                assert event.pixels is None
    assert stopping is not None
    await stopping
    assert 2 <= seen < LONG.steps
    assert isinstance(maker.engine.state, HoldsImageModel), "the process was ended for it"
    assert await maker.picture() == first


async def test_previews_are_shown_stay_cheap_and_do_not_change_the_picture(maker: Maker) -> None:
    side, seconds = 64, 0.0
    while seconds < WORTH_A_PREVIEW_SECONDS:
        side += 64
        (*_, last), _ = await maker.run(replace(REQUEST, width=side, height=side, steps=20))
        seconds = last.seconds_per_step * LONG.steps
    slow = replace(LONG, width=side, height=side)
    steps, made = await maker.run(slow)
    previews = [step.preview for step in steps if step.preview is not None]
    assert previews
    assert all((one.width, one.height) == (side, side) for one in previews)
    assert len(previews) < len(steps) / 2
    _, again = await maker.run(slow)
    assert again.pixels == made.pixels


async def test_the_runtime_does_not_end_the_process_where_it_refuses(maker: Maker) -> None:
    """What `checked_request` would have refused: the process answers in words and lives on."""
    process = maker.engine.process_id
    for bad in (replace(REQUEST, negative_prompt="x", guidance=0.5), replace(REQUEST, steps=0)):
        with pytest.raises(AppError):
            await maker.run(bad)
    for source in (maker.folder / "model_index.json", maker.folder / "deleted meanwhile.png"):
        with pytest.raises(AppError) as caught:
            await maker.run(replace(REQUEST, source=source))
        assert caught.value.problem.code == "source_picture_gone"
    assert maker.engine.process_id == process
    await maker.picture()


async def test_a_mask_leaves_a_picture_where_the_kind_takes_masks(tmp_path: Path) -> None:
    folder = unpack_image_model(STABLE_DIFFUSION, tmp_path / "sd")
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    source = png(tmp_path / "s.png", 64, 64, 120)
    everything, nothing = png(tmp_path / "w.png", 64, 64, 255), png(tmp_path / "b.png", 64, 64, 0)
    try:
        await engine.pictures.load(folder, title="Tiny", device="CPU")
        maker = Maker(engine, folder)
        asked = replace(REQUEST, source=source, strength=1.0)
        _, all_new = await maker.run(replace(asked, mask=everything))
        _, none_new = await maker.run(replace(asked, mask=nothing))
    finally:
        await engine.stop()
    assert all_new.pixels is not None
    assert none_new.pixels is not None
    assert all_new.pixels != none_new.pixels


def _without_decoder(folder: Path) -> str:
    shutil.rmtree(folder / "vae_decoder")
    return "model_missing"


def _empty_weights(folder: Path) -> str:
    (folder / "unet" / "openvino_model.bin").write_bytes(b"")
    return "model_broken"


def _cut_graph(folder: Path) -> str:
    file = folder / "unet" / "openvino_model.xml"
    file.write_bytes(file.read_bytes()[:20_000])
    return "model_broken"


def _other_kind(folder: Path) -> str:
    index = json.loads((folder / "model_index.json").read_text())
    index["_class_name"] = "AudioLDMPipeline"
    (folder / "model_index.json").write_text(json.dumps(index))
    return "image_kind_unknown"


def _no_index(folder: Path) -> str:
    (folder / "model_index.json").write_text("[")
    return "model_broken"


@pytest.mark.parametrize(
    "damage", [_without_decoder, _empty_weights, _cut_graph, _other_kind, _no_index]
)
async def test_a_damaged_folder_is_told_in_words(damage: object, tmp_path: Path) -> None:
    assert callable(damage)
    folder = unpack_image_model(STABLE_DIFFUSION, tmp_path / "sd")
    code = damage(folder)
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    try:
        with pytest.raises(AppError) as caught:
            await engine.pictures.load(folder, title="Tiny", device="CPU")
    finally:
        await engine.stop()
    assert caught.value.problem.code == code
    assert "worker_error" not in caught.value.problem.headline


def holds_image_model(engine: Engine) -> bool:
    return engine.pictures.loaded is not None


@pytest.mark.starter
async def test_a_pair_and_an_image_model_take_each_others_place(
    starter_pair: PairFolders, tmp_path: Path
) -> None:
    folder = unpack_image_model(QWEN_IMAGE, tmp_path / "qwen")
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    try:
        await engine.load(starter_pair, device="CPU")
        await engine.pictures.load(folder, title="Tiny", device="CPU")
        assert loaded_pair(engine.state) is None
        assert holds_image_model(engine)
        await Maker(engine, folder).picture()
        resting = pair_for_questions(engine.state)
        assert resting is not None
        assert resting.title == starter_pair.title
        question = (PromptMessage(Role.USER, "Count to three."),)
        answer = engine.generate(question, SamplingParams(max_new_tokens=4), assistant_tokens=3)
        told = [event async for event in answer]
        assert isinstance(told[-1], Finished)
        assert loaded_pair(engine.state) is not None
        assert not holds_image_model(engine)
        with pytest.raises(AppError) as caught:
            await Maker(engine, folder).run(REQUEST)
        assert caught.value.problem.code == "nothing_loaded"
    finally:
        await engine.stop()
