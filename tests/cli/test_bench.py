from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop import cli
from dflash_desktop.cli import bench
from dflash_desktop.cli.context import CommandContext
from dflash_desktop.domain.benchmark import ChosenSetting
from dflash_desktop.domain.draft_rivals import WaysCompared
from dflash_desktop.domain.problems import AppError
from dflash_desktop.paths import app_paths
from dflash_desktop.services.measurement_store import MeasurementStore
from tests.cli.test_json_forms import assert_documented
from tests.domain.measurements import report
from tests.fakes.bench_worker import BenchLauncher, Speeds

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

SOME_FOLDER = Path(__file__).parents[1]
"""The made-up worker does not look into it."""


@pytest.fixture
def context(tmp_path: Path) -> Callable[[Speeds], CommandContext]:
    return lambda speeds: CommandContext(
        paths=app_paths(), launcher=BenchLauncher(speeds=speeds, log_dir=tmp_path)
    )


def arguments(*extra: str) -> list[str]:
    return [
        "bench",
        "--target",
        str(SOME_FOLDER),
        "--draft",
        str(SOME_FOLDER / "cli"),
        "--device",
        "CPU",
        *extra,
    ]


def parsed(*extra: str) -> Namespace:
    return cli.build_parser().parse_args(arguments(*extra))


def test_the_json_form_is_the_documented_one_and_has_no_nan(
    context: Callable[[Speeds], CommandContext], capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(arguments("--fast", "--json"), open_context=lambda: context(Speeds()))
    captured = capsys.readouterr()
    assert code == 0, captured
    printed = json.loads(captured.out, parse_constant=pytest.fail)
    assert_documented("bench", printed)
    assert printed["chosen"]["assistant_tokens"] == 3
    assert printed["chosen"]["speedup"] == pytest.approx(2 / 1.3)
    assert "Warming up" in captured.err


async def test_the_report_is_stored_under_what_was_measured(
    context: Callable[[Speeds], CommandContext],
) -> None:
    async with context(Speeds()) as commands:
        result = await bench.run(parsed("--fast"), commands)
    assert MeasurementStore(app_paths().measurements_file).get(result.report.key) == result.report


async def test_a_measurement_that_fails_stores_nothing(
    context: Callable[[Speeds], CommandContext],
) -> None:
    async with context(Speeds(fails_at_answer=20)) as commands:
        with pytest.raises(AppError):
            await bench.run(parsed("--fast"), commands)
    assert not app_paths().measurements_file.exists()


async def test_the_table_says_what_was_found(
    context: Callable[[Speeds], CommandContext],
) -> None:
    speeds = Speeds(differs_from=5, differs_for_word="sky", gap_nats=0.001)
    async with context(speeds) as commands:
        result = await bench.run(parsed("--assistant-tokens", "1,3"), commands)
    text = result.as_text()
    assert "1 tokens: 1.82x" in text
    assert "differs from token 6, a numeric tie" in text
    assert "behind " in text
    assert text.endswith(result.report.chosen.reason)
    assert [run.assistant_tokens for run in result.report.prompts[0].runs] == [1, 3]


async def test_where_nothing_else_drafts_it_says_so(
    context: Callable[[Speeds], CommandContext],
) -> None:
    async with context(Speeds()) as commands:
        result = await bench.run(parsed("--fast", "--rivals"), commands)
    assert result.as_text().endswith("so there was nothing to compare.")
    assert result.as_json()["rivals"] is None


def test_ways_stand_side_by_side_with_the_fastest_named() -> None:
    ways = tuple(
        replace(report(chosen=ChosenSetting(3, speedup, "because")), pair_title=title)
        for title, speedup in (("DFlash", 1.4), ("Own head", 2.0))
    )
    text = bench.BenchResult(ways[0], WaysCompared(ways)).as_text()
    for line in ("        1.40x  DFlash", "        2.00x  Own head, the fastest"):
        assert line in text.splitlines()
    assert "“Own head” is faster here (2.00x) than “DFlash” (1.40x)." in text


@pytest.mark.parametrize("text", ["", "a", "1,,2", "0", "1,-2"])
def test_settings_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(cli.UsageError):
        parsed(f"--assistant-tokens={text}")
