"""The worth of a draft for turns with pictures is measured, kept and judged apart (case 34)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from dflash_desktop.domain.benchmark import BenchReport, ChosenSetting, PromptKind
from dflash_desktop.domain.check_numbers import TextVerdict, numbers_of
from dflash_desktop.domain.draft_policy import speed_verdict
from dflash_desktop.domain.engine_state import Loaded
from dflash_desktop.domain.exactness import is_identical
from dflash_desktop.domain.generation import DraftState, KvCachePrecision, SamplingParams
from dflash_desktop.domain.pair import LoadedPair, measurement_key
from dflash_desktop.services import benchmark
from dflash_desktop.services.bench_form import bench_form
from dflash_desktop.services.benchmark import Benchmark
from dflash_desktop.services.draft_control import SWITCHED_OFF_BY_PERSON, DraftControl
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.domain.measurements import answer_stats, bench_run, report, result
from tests.fakes.few_questions import ask_little
from tests.fakes.vision_models import vision_pair

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

GREEDY = SamplingParams()
OFF_FOR_PICTURES = ChosenSetting(0, None, "With pictures: draft off.")
FIVE_FOR_PICTURES = ChosenSetting(5, 1.5, "With pictures: 5 assistant tokens: 1.5x.")


@pytest.fixture
def pair(tmp_path: Path) -> LoadedPair:
    folders = vision_pair(tmp_path, "qwen2_5_vl")
    from dflash_desktop.workers.model_folder import check_draft, fingerprint

    assert folders.draft_dir is not None
    return LoadedPair(
        title="Seeing pair",
        target_dir=folders.target_dir,
        draft_dir=folders.draft_dir,
        draft=check_draft(folders.draft_dir),
        device="CPU",
        device_name="Made-up CPU",
        driver="",
        runtime="fake 1.0",
        kv_cache_precision=KvCachePrecision.F32,
        context_tokens=4096,
        keeps_both=True,
        fingerprint=fingerprint(folders.target_dir, folders.draft_dir),
        load_seconds=1.0,
        sees_pictures=True,
    )


class Measured:
    """A control over a store on disk and an engine that holds this pair."""

    def __init__(
        self, file: Path, pair: LoadedPair, with_pictures: ChosenSetting | None, power: str
    ) -> None:
        self.store = MeasurementStore(file)
        seen = result(bench_run(5, 30.0, baseline=20.0), kind=PromptKind.PICTURE)
        self.report = replace(
            report(key=measurement_key(pair), power_source=power),
            pictures=(seen,),
            chosen_with_pictures=with_pictures,
        )
        self.store.put(self.report)
        engine = SimpleNamespace(state=Loaded(pair), subscribe=lambda _: lambda: None)
        self.control = DraftControl(engine=cast("Engine", engine), measurements=self.store)


@pytest.fixture
def measured(tmp_path: Path, pair: LoadedPair, monkeypatch: pytest.MonkeyPatch) -> Measured:
    monkeypatch.setattr("dflash_desktop.services.draft_control.power_source", lambda: "mains")
    return Measured(tmp_path / "measurements.json", pair, FIVE_FOR_PICTURES, "mains")


def test_each_kind_of_turn_gets_what_was_measured_for_it(measured: Measured) -> None:
    assert measured.control.plan(GREEDY).assistant_tokens == 3
    with_pictures = measured.control.plan(GREEDY, with_pictures=True)
    assert with_pictures.assistant_tokens == 5
    assert with_pictures.reason == FIVE_FOR_PICTURES.reason


def test_a_draft_can_help_with_text_and_stay_off_for_pictures(measured: Measured) -> None:
    measured.store.put(replace(measured.report, chosen_with_pictures=OFF_FOR_PICTURES))
    assert measured.control.plan(GREEDY).state is DraftState.ON
    with_pictures = measured.control.plan(GREEDY, with_pictures=True)
    assert (with_pictures.state, with_pictures.reason) == (
        DraftState.OFF,
        OFF_FOR_PICTURES.reason,
    )


def test_a_report_without_pictures_speaks_for_both(measured: Measured) -> None:
    measured.store.put(replace(measured.report, pictures=(), chosen_with_pictures=None))
    assert measured.control.plan(GREEDY, with_pictures=True).assistant_tokens == 3


def test_a_draft_that_costs_behind_pictures_is_switched_off_there_alone(
    measured: Measured,
) -> None:
    use = measured.control.plan(GREEDY, with_pictures=True)
    slow = replace(answer_stats(10.0), picture_tokens=200)  # 20 without the draft
    told = [measured.control.learn(use, slow)[1] for _ in range(4)]
    assert any("switched off for pictures" in words for words in told)
    assert measured.control.plan(GREEDY, with_pictures=True).state is DraftState.OFF
    assert measured.control.plan(GREEDY).state is DraftState.ON
    kept = MeasurementStore(measured.store._file)
    assert kept.draft_off(replace(measured.report.key, of_pictures=True))
    assert not kept.draft_off(measured.report.key)
    measured.store.put(measured.report)  # measured anew
    assert measured.control.plan(GREEDY, with_pictures=True).state is DraftState.ON


def test_the_persons_own_switch_is_for_both(measured: Measured) -> None:
    measured.control.set_enabled(enabled=False)
    for with_pictures in (False, True):
        plan = measured.control.plan(GREEDY, with_pictures=with_pictures)
        assert plan.reason == SWITCHED_OFF_BY_PERSON
    measured.control.set_enabled(enabled=True)
    assert measured.control.plan(GREEDY, with_pictures=True).state is DraftState.ON


def test_an_answer_about_a_picture_is_held_against_answers_about_pictures(
    measured: Measured,
) -> None:
    stats = answer_stats(30.0)
    assert speed_verdict(stats, measured.report).speedup == pytest.approx(30 / 50)
    seen = replace(stats, picture_tokens=100)
    assert speed_verdict(seen, measured.report).speedup == pytest.approx(30 / 20)
    without = replace(measured.report, pictures=())
    assert speed_verdict(seen, without).speedup is None


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path))
    yield engine
    await engine.stop()


@pytest.mark.openvino
async def test_a_model_that_sees_is_really_measured_with_a_picture(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = vision_pair(tmp_path, "qwen2_5_vl")
    pair = await engine.load(
        folders, device="CPU", kv_cache_precision=KvCachePrecision.F32, keep_both=True
    )
    ask_little(monkeypatch, assistant_tokens=3)
    seen: list[int] = []
    original = benchmark._sample

    async def noted(*args):  # type: ignore[no-untyped-def]  # noqa: ANN002, ANN202
        sample = await original(*args)
        seen.append(sample.stats.picture_tokens)
        return sample

    monkeypatch.setattr(benchmark, "_sample", noted)
    *_, found = [s async for s in Benchmark(engine=engine).run(pair, folders, fast=True)]
    assert isinstance(found, BenchReport)
    assert [len(found.prompts), len(found.pictures)] == [2, 1]
    assert any(seen)
    assert not all(seen)
    assert is_identical(found)
    assert found.chosen_with_pictures is not None
    assert found.chosen_with_pictures.reason.startswith("With pictures: ")
    assert found.picture_baseline_tokens_per_second
    numbers = numbers_of(found)
    assert numbers.text is TextVerdict.IDENTICAL
    assert numbers.without_image is not None
    assert numbers.with_image is not None
    assert numbers.with_image.steps > 0
    form = bench_form(found)
    assert form["chosen_with_pictures"]
    assert form["settings_with_pictures"]


def test_a_check_sees_acceptance_fall_once_a_picture_was_shown() -> None:
    from dflash_desktop.domain.acceptance import acceptance

    def with_acceptance(steps: tuple[int, ...]) -> BenchReport:
        good = replace(bench_run(3, 60.0), acceptance=acceptance((3,) * 12, 3))
        seen = replace(bench_run(3, 60.0), acceptance=acceptance(steps, 3))
        made = report(result(good))
        return replace(made, pictures=(result(seen, kind=PromptKind.PICTURE),))

    assert numbers_of(with_acceptance((1,) * 30)).falls_after_image
    assert not numbers_of(with_acceptance((3,) * 12)).falls_after_image
    assert not numbers_of(report()).falls_after_image
