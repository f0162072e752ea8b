"""A device that answers otherwise than the processor is told, with both texts (case 63)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.device_agreement import compared
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.device_comparison import compare_with_cpu
from dflash_desktop.services.pair_loading import PairLoading
from tests.fakes.engine import PAIR, EngineUnderTest, engine_under_test
from tests.fakes.fake_worker import Script

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.device_agreement import DeviceAnswers

RIGHT = "one two three four five six seven eight nine ten eleven twelve " * 4


async def answers_of(
    under_test: EngineUnderTest, folder: Path, device: str = "GPU"
) -> DeviceAnswers:
    loading = PairLoading(engine=under_test.engine, compile_cache_dir=folder)
    return await compare_with_cpu(PAIR, device=device, engine=under_test.engine, loading=loading)


async def test_a_device_that_agrees_is_fine(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path, Script(answers=(RIGHT,))) as under_test:
        answers = await answers_of(under_test, tmp_path)

    assert answers.agrees
    assert answers.finding is None
    assert answers.device_text == answers.cpu_text == RIGHT
    assert answers.device_name == "Intel Arc Made-up Graphics"


async def test_a_device_that_says_something_else_is_a_finding(tmp_path: Path) -> None:
    script = Script(answers=("!!!!!!!!", RIGHT))
    async with engine_under_test(tmp_path, script) as under_test:
        answers = await answers_of(under_test, tmp_path)

    finding = answers.finding
    assert finding is not None
    assert finding.code == "device_answers_differ"
    assert "!!!!!!!!" in finding.detail
    assert RIGHT in finding.detail


async def test_the_processor_is_not_compared_with_itself(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        with pytest.raises(AppError, match="nothing_to_compare"):
            await answers_of(under_test, tmp_path, device="CPU")


def test_a_late_difference_is_rounding_and_an_early_one_is_not() -> None:
    cpu = ("", tuple(range(48)))

    late = compared(device_name="Arc", device=("", (*range(40), 99)), cpu=cpu)
    early = compared(device_name="Arc", device=("", (0, 1, 99)), cpu=cpu)

    assert (late.agrees, late.difference_token) == (True, 40)
    assert (early.agrees, early.difference_token) == (False, 2)
