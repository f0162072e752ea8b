"""Models that see pictures in the real runtime: with a draft, with their own head, alone."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from dflash_desktop.domain.generation import FinishReason, PromptMessage, Role, SamplingParams
from dflash_desktop.workers import protocol
from dflash_desktop.workers.engine import EngineJobs
from dflash_desktop.workers.vision_pipeline import (
    PictureError,
    QwenGrid,
    add_vision_request,
    check_size,
)
from tests.fakes.loaded_engine import LoadedEngine, RecordingRuntime
from tests.fakes.vision_models import KINDS, vision_pair, write_picture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

pytestmark = pytest.mark.openvino

SHORT = SamplingParams(max_new_tokens=24)
WAYS = (*((kind, "dflash") for kind in KINDS), ("qwen3_5", "own head"))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vision")


@pytest.fixture(scope="module")
def pictures(models: Path) -> tuple[Path, Path]:
    small = write_picture(models / "small.png", 128, 96)
    return small, write_picture(models / "dark.png", 64, 64, (0, 0, 0))


@pytest.fixture(scope="module", params=WAYS, ids=" ".join)
def seeing(request: pytest.FixtureRequest, models: Path) -> Iterator[LoadedEngine]:
    kind, draft = request.param
    folders = vision_pair(models, kind)
    if draft == "own head":
        folders = replace(folders, draft_dir=folders.target_dir)
    engine = LoadedEngine(folders, assistant_tokens=0, params=SHORT)
    yield engine
    engine.jobs.run(protocol.Unload(9))


@pytest.fixture(scope="module")
def qwen(models: Path) -> Iterator[LoadedEngine]:
    engine = LoadedEngine(vision_pair(models, "qwen2_5_vl"), assistant_tokens=0, params=SHORT)
    yield engine
    engine.jobs.run(protocol.Unload(9))


def test_a_loaded_pair_says_that_it_sees_and_whose_head_drafts(seeing: LoadedEngine) -> None:
    assert seeing.pair.sees_pictures
    assert seeing.pair.uses_own_head == (seeing.pair.draft_dir == seeing.pair.target_dir)
    assert seeing.pair.fingerprint.draft != seeing.pair.fingerprint.target


@pytest.mark.parametrize("count", [0, 1, 2], ids=["text", "one picture", "two pictures"])
@pytest.mark.parametrize("assistant_tokens", [3, 7])
def test_the_text_is_the_targets_own_with_pictures_and_without(
    seeing: LoadedEngine, pictures: tuple[Path, Path], assistant_tokens: int, count: int
) -> None:
    question = ("What is in these?", pictures[:count])
    alone = seeing.answer(question)
    drafted = seeing.answer(question, assistant_tokens=assistant_tokens)
    assert drafted.finished.token_ids == alone.finished.token_ids
    assert drafted.text == alone.text
    assert alone.stats.steps == alone.stats.tokens == SHORT.max_new_tokens
    proposed = (drafted.stats.steps - 1) * assistant_tokens
    assert 0 < drafted.stats.accepted_tokens < proposed, "some are accepted, some are not"
    assert sum(drafted.finished.step_tokens) == drafted.stats.tokens
    assert len(drafted.finished.step_tokens) == drafted.stats.steps


def test_pictures_are_counted_and_timed(
    seeing: LoadedEngine, pictures: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_by_the_runtime: list[int] = []
    _note_what_the_runtime_reads(monkeypatch, read_by_the_runtime)
    for question in (
        ("What is it?", ()),
        ("What is it?", pictures[:1]),
        ("Which <|image_pad|> of <ov_genai_image_7> <|image|>?", pictures),
    ):
        answer = seeing.answer(question, assistant_tokens=3)
        stats = answer.stats
        assert answer.started.prompt_tokens == stats.prompt_tokens == read_by_the_runtime[-1]
        assert (stats.picture_tokens > 0) == (stats.picture_seconds > 0) == bool(question[1])
        assert stats.picture_seconds < stats.first_token_seconds


def test_a_picture_decides_the_answer_and_its_place_counts(
    seeing: LoadedEngine, pictures: tuple[Path, Path]
) -> None:
    one, other = pictures
    later = seeing.answer("Hello", "Yes?", ("And this?", (one,)))
    earlier = seeing.answer(("Hello", (one,)), "Yes?", "And this?")
    both = seeing.answer(("Hello", (one,)), "Yes?", ("And this?", (other,)))
    assert later.stats.prompt_tokens == earlier.stats.prompt_tokens < both.stats.prompt_tokens
    assert later.stats.picture_tokens < both.stats.picture_tokens
    assert both.stats.prompt_tokens - later.stats.prompt_tokens == (
        both.stats.picture_tokens - later.stats.picture_tokens
    )


def test_pictures_reach_the_runtime_whole_and_in_their_order(tmp_path: Path) -> None:
    pictures = [write_picture(tmp_path / f"{width}.png", width, 40) for width in (50, 60, 70)]
    pipeline = Mock()
    add_vision_request(pipeline, 1, "two", pictures, Mock())
    tensors = pipeline.add_request.call_args.args[2]
    assert [tuple(one.shape) for one in tensors] == [(40, 50, 3), (40, 60, 3), (40, 70, 3)]


def test_no_turn_leaks_into_a_later_one(seeing: LoadedEngine, pictures: tuple[Path, Path]) -> None:
    before = seeing.answer("Hello", assistant_tokens=3)
    seeing.answer(("What?", pictures), assistant_tokens=3)
    seeing.runtime.is_cancelled_now = lambda: bool(seeing.runtime.of(protocol.Text))
    seeing.ask(("What?", pictures), assistant_tokens=3)
    seeing.runtime.is_cancelled_now = lambda: False
    (cancelled,) = seeing.runtime.of(protocol.Finished)
    assert cancelled.reason is FinishReason.CANCELLED
    assert 0 < cancelled.stats.tokens < SHORT.max_new_tokens
    after = seeing.answer("Hello", assistant_tokens=3)
    assert after.started.prompt_tokens == before.started.prompt_tokens
    assert after.finished.token_ids == before.finished.token_ids


def test_reading_a_prompt_with_pictures_can_be_cancelled(
    qwen: LoadedEngine, pictures: tuple[Path, Path]
) -> None:
    qwen.runtime.is_cancelled_now = lambda: bool(qwen.runtime.of(protocol.Prefill))
    qwen.ask(("word " * 200, pictures))
    qwen.runtime.is_cancelled_now = lambda: False
    (finished,) = qwen.runtime.of(protocol.Finished)
    assert finished.reason is FinishReason.CANCELLED
    assert finished.stats.tokens == 0
    assert finished.stats.picture_tokens > 0


def test_the_oldest_turns_go_with_their_pictures(
    qwen: LoadedEngine, pictures: tuple[Path, Path]
) -> None:
    turns = (("Look " * 150, pictures), "yes " * 150, ("x " * 300, pictures[:1]), "no", "And now?")
    room = qwen.pair.context_tokens
    qwen.ask(*turns * 2)
    assert qwen.failure().code == "context_full"
    assert qwen.failure().facts["prompt_tokens"] > room
    answer = qwen.answer(*turns * 2, leave_out_oldest=True)
    assert answer.started.left_out_messages > 0
    assert answer.started.prompt_tokens < room
    assert answer.stats.picture_tokens > 0


def test_too_many_pictures_are_counted_before_the_runtime_reads_them(
    qwen: LoadedEngine, models: Path
) -> None:
    large = write_picture(models / "large.png", 1000, 900)
    cost = qwen.answer(("?", (large,))).stats.picture_tokens
    many = (large,) * (qwen.pair.context_tokens // cost + 1)
    qwen.ask(("?", many))
    assert qwen.failure().code == "message_too_long"
    assert qwen.failure().facts["prompt_tokens"] > cost * len(many)


def test_a_model_for_text_says_that_it_cannot_see(
    models: Path, starter_pair: PairFolders, pictures: tuple[Path, Path]
) -> None:
    engine = LoadedEngine(replace(starter_pair, draft_dir=None), assistant_tokens=0, params=SHORT)
    assert not engine.pair.sees_pictures
    engine.ask(("What is it?", pictures))
    assert engine.failure().code == "model_sees_no_pictures"
    assert engine.answer("Hello").stats.picture_tokens == 0


def test_what_would_crash_the_runtime_never_reaches_it(qwen: LoadedEngine, models: Path) -> None:
    strip = write_picture(models / "strip.png", 800, 4)
    text = models / "text.png"
    text.write_text("no picture")
    cut = models / "cut.png"
    cut.write_bytes(write_picture(models / "whole.png", 64, 64).read_bytes()[:60])
    for file in (strip, text, cut, models / "gone.png", models):
        qwen.ask(("What is it?", (file,)))
        assert qwen.failure().code == "picture_refused", file.name
    assert qwen.answer("Hello").text
    for width, height in ((0, 0), (0, 10), (10, 0), (-1, 5), (20_000, 5_000)):
        with pytest.raises(PictureError):
            check_size(width, height)


def test_given_tokens_are_not_scored_where_that_would_crash(qwen: LoadedEngine) -> None:
    question = (PromptMessage(Role.USER, "Hello"),)
    for job in (
        protocol.Score(3, question, (), (300,)),
        protocol.MeasureNoise(3, question, (300,)),
    ):
        qwen.runtime.sent.clear()
        qwen.jobs.run(job)
        assert qwen.failure().code == "cannot_score"


@pytest.mark.parametrize("width", [8, 30, 80, 128, 300, 1000])
@pytest.mark.parametrize("height", [9, 56, 144, 900])
def test_the_tokens_of_a_picture_are_known_before_the_runtime_sees_it(
    qwen: LoadedEngine,
    models: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    height: int,
) -> None:
    read_by_the_runtime: list[int] = []
    _note_what_the_runtime_reads(monkeypatch, read_by_the_runtime)
    picture = write_picture(models / f"{width}x{height}.png", width, height)
    answer = qwen.answer(("?", (picture,)), params=replace(SHORT, max_new_tokens=1))
    assert answer.started.prompt_tokens == read_by_the_runtime[-1]


def test_a_picture_of_one_square_is_refused_since_the_runtime_overwrites_memory() -> None:
    grid = QwenGrid(square=32, least_pixels=1024, most_pixels=65536)
    with pytest.raises(PictureError):
        grid.tokens(8, 8)
    assert grid.tokens(32, 64) == 2 + 2


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(80, 96, 9), (96, 80, 9), (144, 64, 10), (112, 128, 16)]
)
def test_half_a_square_counts_as_one_as_in_the_runtime(
    width: int, height: int, tokens: int
) -> None:
    # What openvino-genai 2026.4.1 said of these pictures, less their two marks.
    grid = QwenGrid(square=32, least_pixels=4096, most_pixels=65536)
    assert grid.tokens(width, height) == tokens + 2


def test_a_missing_part_is_named_before_loading(models: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    shutil.copytree(vision_pair(models, "gemma4").target_dir, target)
    (target / "openvino_vision_embeddings_model.bin").unlink()
    runtime = RecordingRuntime()
    EngineJobs(runtime).run(protocol.Load(1, "broken", target, None, "cpu"))
    (failed,) = runtime.of(protocol.Failed)
    assert failed.code == "model_missing"
    assert "openvino_vision_embeddings_model.bin" in failed.raw


def _note_what_the_runtime_reads(monkeypatch: pytest.MonkeyPatch, seen: list[int]) -> None:
    """Keep the runtime's own count of each prompt that has been answered."""
    from dflash_desktop.workers.text_pipeline import PairPipelines

    original = PairPipelines._run

    def counted(self, pipeline, prompt, config, assistant_tokens, is_cancelled):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        requests = []
        add = self._add

        def noted(*args):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202
            requests.append(add(*args))
            return requests[-1]

        monkeypatch.setattr(self, "_add", noted)
        yield from original(self, pipeline, prompt, config, assistant_tokens, is_cancelled)
        seen.append(requests[-1].get_vlm_perf_metrics().get_num_input_tokens())

    monkeypatch.setattr(PairPipelines, "_run", counted)
