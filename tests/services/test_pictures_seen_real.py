"""From a file to an answer of the real runtime: whatever was attached, nothing crashes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.generation import FinishReason, SamplingParams
from dflash_desktop.domain.settings import Settings
from dflash_desktop.services.chat import Chat
from dflash_desktop.services.chat_events import AnswerFinished
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.pictures import Pictures
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.fakes.picture_corpus import exif_of, good_files, saved, scene
from tests.fakes.vision_models import KINDS, vision_pair

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.conversation import Conversation
    from dflash_desktop.domain.pictures import Picture

EXTREMES = ("1x1.png", "1x5000.png", "5000x1.png", "grey.png", "hidden.png")


class _NotKept:
    def save(self, conversation: Conversation) -> None:
        """Nothing to do."""


class _Few:
    value = Settings(sampling=SamplingParams(max_new_tokens=4))


@pytest.mark.openvino
@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_attached_is_seen_whatever_its_size_and_mode(
    tmp_path: Path, kind: str
) -> None:
    launcher = WorkerLauncher(log_dir=tmp_path / "log")
    engine = Engine(launcher=launcher)
    pictures = Pictures(launcher=launcher, folder=tmp_path / "pictures")
    chat = Chat(
        engine=engine,
        measurements=MeasurementStore(tmp_path / "measurements.json"),
        conversations=_NotKept(),
        settings=_Few(),
        pictures=pictures,
    )
    try:
        await engine.load(vision_pair(tmp_path, kind), device="CPU")
        files = [file for file in good_files() if file.name in EXTREMES]
        assert len(files) == len(EXTREMES)
        photo = saved(scene(), "JPEG", exif=exif_of(6))
        sources = [file.data for file in files] + [photo]
        attached = [await pictures.prepare(source) for source in sources]
        for picture in attached:
            chat.new()
            message = await _answer(chat, (picture,))
            assert message.message.finish in (FinishReason.LENGTH, FinishReason.STOP)
            stats = message.message.stats
            assert stats is not None
            assert 0 < stats.picture_tokens < stats.prompt_tokens
            assert stats.picture_seconds > 0
        chat.new()
        several = await _answer(chat, (attached[0], attached[-1]))
        assert several.message.stats is not None
        assert several.message.stats.picture_tokens > 0
    finally:
        await pictures.close()
        await engine.stop()


async def _answer(chat: Chat, pictures: tuple[Picture, ...]) -> AnswerFinished:
    events = [event async for event in chat.send("What is on it?", pictures)]
    last = events[-1]
    assert isinstance(last, AnswerFinished)
    return last
