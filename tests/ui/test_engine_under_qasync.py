"""The process layer under the window's own loop: the same behaviour as under plain asyncio."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, TypeVar

import pytest
import qasync

from dflash_desktop.domain.engine_state import Loaded
from dflash_desktop.domain.generation import FinishReason
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.engine import EngineLimits
from tests.fakes.engine import engine_under_test, fake_workers, until
from tests.fakes.fake_worker import DEFAULT_ANSWER, Mishap, Script, Trouble

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

_Result = TypeVar("_Result")


def run_under_qt(app: QApplication, main: Coroutine[object, object, _Result]) -> _Result:
    """Run a coroutine as app.py does."""
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        return runner.run(main)


def test_load_answer_cancel_and_stop(qapp: QApplication, tmp_path: Path) -> None:
    async def main() -> None:
        script = Script(answers=("short. ", "x" * 4000), chunks_per_second=100)
        async with engine_under_test(tmp_path, script) as under_test:
            await under_test.load()
            first = under_test.answer()
            await first.rest()
            assert first.text == "short. "
            second = under_test.answer()
            await second.first_text()
            started = time.monotonic()
            await under_test.engine.cancel()
            assert time.monotonic() - started < 0.5
            await second.rest()
            assert second.finished.reason is FinishReason.CANCELLED
            started = time.monotonic()
        assert time.monotonic() - started < 3.0
        assert not fake_workers()

    run_under_qt(qapp, main())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_a_killed_engine_comes_back(qapp: QApplication, tmp_path: Path) -> None:
    async def main() -> None:
        script = Script(answers=("x" * 4000, DEFAULT_ANSWER), chunks_per_second=100)
        async with engine_under_test(tmp_path, script) as under_test:
            await under_test.load()
            answer = under_test.answer()
            await answer.first_text()
            (pid,) = fake_workers()
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(AppError) as caught:
                await answer.rest()
            assert caught.value.problem.code == "engine_crashed"
            await until(lambda: under_test.has_crashed(1))
            await under_test.reach(Loaded)

    run_under_qt(qapp, main())


def test_a_frozen_engine_is_ended_and_the_loop_keeps_turning(
    qapp: QApplication, tmp_path: Path
) -> None:
    worst_pause = 0.0

    async def watch_pauses() -> None:
        nonlocal worst_pause
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            worst_pause = max(worst_pause, time.monotonic() - before)

    async def main() -> None:
        script = Script(
            mishaps=(Mishap(Trouble.FREEZE, only_once_file=str(tmp_path / "happened")),)
        )
        limits = EngineLimits(ping_seconds=0.1, frozen_seconds=0.8)
        async with engine_under_test(tmp_path, script, limits) as under_test:
            await under_test.load()
            watching = asyncio.create_task(watch_pauses())
            with pytest.raises(AppError) as caught:
                await under_test.answer().rest()
            assert "stopped answering" in caught.value.problem.headline
            again = under_test.answer()
            await again.rest()
            assert again.text == DEFAULT_ANSWER
            watching.cancel()

    run_under_qt(qapp, main())
    assert worst_pause < 1.0
