"""The engine on a good day: loading, answering, turns, cancelling, stopping."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.engine_state import Absent, Generating, Loaded, Loading, Ready
from dflash_desktop.domain.generation import FinishReason, SamplingParams, TextOrigin
from dflash_desktop.domain.problems import AppError, CancelledByPersonError
from dflash_desktop.services.engine import EngineLimits
from dflash_desktop.workers.protocol import Prefill, Started, Text
from tests.fakes.engine import PAIR, QUESTION, engine_under_test, fake_workers, until
from tests.fakes.fake_worker import DEFAULT_ANSWER, Mishap, Script, Trouble, When

if TYPE_CHECKING:
    from pathlib import Path

SLOWLY = Script(answers=("x" * 4000,), chunks_per_second=50)


async def test_the_process_starts_with_the_first_request(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        assert under_test.is_in(Absent)
        assert not fake_workers()
        report = await under_test.engine.devices()
        assert [device.id for device in report.devices] == ["CPU", "GPU"]
        assert under_test.engine.state == Ready("fake 1.0")
        assert len(fake_workers()) == 1


async def test_a_pair_is_loaded_and_answers(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        pair = await under_test.engine.load(PAIR, device="CPU")
        assert pair.title == PAIR.title
        assert under_test.engine.state == Loaded(pair)
        answer = under_test.answer()
        await answer.rest()
        assert [type(event) for event in answer.events[:3]] == [Started, Prefill, Text]
        assert answer.text == DEFAULT_ANSWER
        assert answer.finished.reason is FinishReason.STOP
        assert len(answer.finished.token_ids) == answer.finished.stats.tokens
        runs = [run for event in answer.events if isinstance(event, Text) for run in event.runs]
        assert {run.origin for run in runs} == {TextOrigin.TARGET, TextOrigin.DRAFT}
        assert under_test.engine.state == Loaded(pair)
        await until(lambda: under_test.states[-2:] == [Generating(pair), Loaded(pair)])
        assert under_test.names_of_states() == [
            *("Starting", "Ready", "Loading", "Loading", "Loaded", "Generating", "Loaded"),
        ]


async def test_helping_requests_are_answered(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path / "log") as under_test:
        await under_test.load()
        assert await under_test.engine.score(QUESTION, (1, 2), (3, 4)) == (-1.0, -1.0)
        assert await under_test.engine.detokenize(((1, 2), ())) == ("t1 t2", "")
        await under_test.engine.convert_gguf(tmp_path / "model.gguf", tmp_path / "out")
        assert (tmp_path / "out" / "openvino_model.xml").is_file()
        assert under_test.is_in(Loaded)
        await under_test.engine.unload()
        assert under_test.is_in(Ready)


async def test_unloading_starts_no_process(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        await under_test.engine.unload()
        assert under_test.states == []


async def test_a_question_without_a_model_is_refused_in_words(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        with pytest.raises(AppError) as caught:
            await under_test.answer().rest()
        assert caught.value.problem.code == "no_model"


async def test_a_second_question_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        await under_test.load()
        first, second = under_test.answer(), under_test.answer()
        await first.first_text()
        with pytest.raises(AppError) as caught:
            await second.rest()
        assert caught.value.problem.code == "engine_busy"
        await first.rest()
        assert first.text == DEFAULT_ANSWER
        third = under_test.answer()
        await third.rest()
        assert third.text == DEFAULT_ANSWER


async def test_other_requests_wait_for_the_answer(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        await under_test.load()
        answer = under_test.answer()
        await answer.first_text()
        devices = asyncio.create_task(under_test.engine.devices())
        await answer.rest()
        assert len((await devices).devices) == 2


async def test_two_first_requests_at_once_start_one_process(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        await asyncio.gather(under_test.engine.devices(), under_test.engine.devices())
        assert under_test.launcher.starts == 1


async def test_cancel_ends_the_answer_and_keeps_the_process(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path, SLOWLY) as under_test:
        await under_test.load()
        answer = under_test.answer()
        await answer.first_text()
        started = time.monotonic()
        await under_test.engine.cancel()
        assert time.monotonic() - started < 0.5
        assert under_test.is_in(Loaded)
        await answer.rest()
        assert answer.finished.reason is FinishReason.CANCELLED
        assert under_test.launcher.starts == 1


async def test_closing_the_stream_early_cancels(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path, SLOWLY) as under_test:
        await under_test.load()
        answer = under_test.answer()
        await answer.first_text()
        await answer.stream.aclose()
        assert under_test.is_in(Loaded)
        assert under_test.launcher.starts == 1


async def test_cancelling_the_task_that_reads_cancels(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path, SLOWLY) as under_test:
        await under_test.load()
        answer = under_test.answer()
        reading = asyncio.create_task(answer.rest())
        await until(lambda: bool(answer.text))
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert under_test.is_in(Loaded)
        again = under_test.answer()
        await again.first_text()
        await again.stream.aclose()
        assert under_test.launcher.starts == 1


async def test_cancel_without_a_job_does_nothing(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        await under_test.engine.cancel()
        await under_test.load()
        await under_test.engine.cancel()
        assert under_test.is_in(Loaded)


async def test_a_question_that_still_waits_can_be_cancelled(tmp_path: Path) -> None:
    script = Script(load_seconds=1.0)
    async with engine_under_test(tmp_path, script) as under_test:
        loading = asyncio.create_task(under_test.load())
        await under_test.reach(Loading)
        answer = under_test.answer()
        reading = asyncio.create_task(answer.rest())
        await asyncio.sleep(0)
        await under_test.engine.cancel()
        await reading
        assert answer.finished.reason is FinishReason.CANCELLED
        assert under_test.is_in(Loading)  # which was not what was cancelled
        await loading
        again = under_test.answer()
        await again.rest()
        assert again.text == DEFAULT_ANSWER


async def test_a_load_can_be_cancelled(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.STALL, When.LOAD),))
    async with engine_under_test(tmp_path, script) as under_test:
        loading = asyncio.create_task(under_test.load())
        await under_test.reach(Loading)
        await under_test.engine.cancel()
        with pytest.raises((AppError, CancelledByPersonError)):
            await loading
        assert under_test.is_in(Ready)


async def test_stop_leaves_nothing_behind_and_a_later_request_starts_again(
    tmp_path: Path,
) -> None:
    async with engine_under_test(tmp_path, SLOWLY) as under_test:
        await under_test.load()
        answer = under_test.answer()
        await answer.first_text()
        started = time.monotonic()
        await under_test.engine.stop()
        assert time.monotonic() - started < 3.0
        assert not fake_workers()
        assert under_test.engine.state == Absent()
        await answer.rest()
        assert answer.finished.reason is FinishReason.CANCELLED
        again = under_test.answer()  # the pair is still known
        await again.first_text()
        assert under_test.is_in(Generating)
        assert under_test.launcher.starts == 2
        await again.stream.aclose()


async def test_stop_before_hello_leaves_nothing_behind(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.IGNORE_CANCEL, When.START),))
    async with engine_under_test(tmp_path, script) as under_test:
        asking = asyncio.create_task(under_test.engine.devices())
        await until(lambda: bool(fake_workers()))
        await under_test.engine.stop()
        assert not fake_workers()
        with pytest.raises(CancelledByPersonError):
            await asking


async def test_stopping_twice_at_once_is_one_stop(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        await under_test.load()
        await asyncio.gather(under_test.engine.stop(), under_test.engine.stop())
        assert under_test.names_of_states()[-2:] == ["Stopping", "Absent"]


async def test_a_listener_that_fails_does_not_stop_the_engine(tmp_path: Path) -> None:
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))

    def broken(_state: object) -> None:
        raise RuntimeError("a listener's own fault")

    async with engine_under_test(tmp_path) as under_test:
        unsubscribe = under_test.engine.subscribe(broken)
        await under_test.load()
        unsubscribe()
        count = len(faults)
        assert count == len(under_test.states)
        answer = under_test.answer()
        await answer.rest()
        assert len(faults) == count


async def test_a_hung_kernel_is_called_slow_and_never_ended_by_itself(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.STALL),))
    limits = EngineLimits(quiet_generating_seconds=0.2)
    async with engine_under_test(tmp_path, script, limits) as under_test:
        await under_test.load()
        answer = under_test.answer()
        reading = asyncio.create_task(answer.rest())
        await until(lambda: getattr(under_test.engine.state, "slow", False))
        assert under_test.is_in(Generating)
        assert len(fake_workers()) == 1
        await under_test.engine.cancel()
        await reading
        assert answer.text
        assert answer.finished.reason is FinishReason.CANCELLED


async def test_slow_ends_when_text_comes_again(tmp_path: Path) -> None:
    script = Script(answers=("x" * 40,), chunk_characters=8, chunks_per_second=2.0)
    limits = EngineLimits(quiet_generating_seconds=0.15)
    async with engine_under_test(tmp_path, script, limits) as under_test:
        await under_test.load()
        await under_test.answer().rest()
        slowness = [s.slow for s in under_test.states if isinstance(s, Generating)]
        assert slowness[:3] == [False, True, False]


async def test_a_long_compilation_is_called_slow(tmp_path: Path) -> None:
    script = Script(load_seconds=0.6)
    limits = EngineLimits(quiet_loading_seconds=0.1)
    async with engine_under_test(tmp_path, script, limits) as under_test:
        await under_test.load()
        slowness = [s.slow for s in under_test.states if isinstance(s, Loading)]
        assert slowness[-1]
        assert under_test.is_in(Loaded)


async def test_sampling_settings_reach_the_worker_as_they_are(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        await under_test.load()
        stream = under_test.engine.generate(
            QUESTION, SamplingParams(temperature=0.7), assistant_tokens=0
        )
        events = [event async for event in stream]
        texts = [event for event in events if isinstance(event, Text)]
        assert all(text.stats.assistant_tokens == 0 for text in texts)
        assert texts[-1].stats.tokens == texts[-1].stats.steps == len(texts)
