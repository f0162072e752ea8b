from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    import pytest

PROBLEM = Problem(code="x", headline="It failed.", advice="Try again.")


class Recorder:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.owner = QObject()
        self.tasks = TaskScope(owner=self.owner, on_problem=self.problems.append)


async def fail(error: Exception) -> None:
    await asyncio.sleep(0)
    raise error


async def test_an_app_error_reaches_the_owner() -> None:
    recorder = Recorder()
    recorder.tasks.start(fail(AppError(PROBLEM)))
    await recorder.tasks.wait()
    assert recorder.problems == [PROBLEM]


async def test_what_the_person_cancelled_is_silent() -> None:
    recorder = Recorder()
    recorder.tasks.start(fail(CancelledByPersonError()))
    await recorder.tasks.wait()
    assert recorder.problems == []


async def test_a_bug_reaches_the_handler_for_unexpected_errors() -> None:
    seen: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, c: seen.append(c["exception"]))
    recorder = Recorder()
    bug = ZeroDivisionError()
    recorder.tasks.start(fail(bug))
    await recorder.tasks.wait()
    assert seen == [bug]
    assert recorder.problems == []


async def test_work_ends_with_its_widget(qapp: pytest.FixtureRequest) -> None:
    owner = QObject()
    problems: list[Problem] = []
    tasks = TaskScope(owner=owner, on_problem=problems.append)
    cancelled = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    tasks.start(work())
    await asyncio.sleep(0)
    del owner
    await asyncio.wait_for(cancelled.wait(), 1)
    await tasks.wait()
    tasks.start(work())  # too late: dropped, without a "never awaited" warning
    assert not tasks.is_busy


async def test_cancelled_work_may_be_followed_by_new_work() -> None:
    recorder = Recorder()
    recorder.tasks.start(asyncio.sleep(60))
    recorder.tasks.cancel_all()
    await recorder.tasks.wait()
    recorder.tasks.start(fail(AppError(PROBLEM)))
    await recorder.tasks.wait()
    assert recorder.problems == [PROBLEM]
