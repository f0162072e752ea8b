from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.cli import starter as command
from dflash_desktop.cli.context import CommandContext
from dflash_desktop.cli.progress import StepProgress
from dflash_desktop.domain.starter import InstallProgress, InstallStage, StarterState
from tests.fakes.package_index import CONTENT
from tests.fakes.starter_world import StarterWorld

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> StarterWorld:
    return StarterWorld(tmp_path)


@pytest.fixture
def context(world: StarterWorld) -> CommandContext:
    context = CommandContext(paths=world.paths, launcher=world.launcher)
    context.__dict__["starter"] = world.starter  # where its cached property keeps it
    return context


async def test_the_status_prints_exactly_what_programs_were_promised(
    world: StarterWorld, context: CommandContext
) -> None:
    result = await command.run(Namespace(action="status", file=None), context)
    assert result.as_json() == {
        "state": "missing",
        "target_path": str(world.target_dir),
        "draft_path": str(world.draft_dir),
        "tokens_per_step": None,
    }
    assert "dflash-desktop starter install" in result.as_text()


async def test_installing_a_named_file_reports_on_standard_error_only(
    context: CommandContext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(CONTENT)
    result = await command.run(Namespace(action="install", file=file), context)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Converting the model" in printed.err
    assert result.as_json()["state"] == "ready"
    assert result.as_json()["tokens_per_step"] == 2.5
    assert "Tokens per step  2.50" in result.as_text()


@pytest.mark.parametrize(
    ("state", "has_way_on"),
    [
        (StarterState.MISSING, True),
        (StarterState.BROKEN, True),
        (StarterState.INSTALLING, False),
        (StarterState.READY, False),
    ],
)
def test_the_words_lead_on_where_there_is_something_to_do(
    state: StarterState, has_way_on: bool, world: StarterWorld
) -> None:
    status = replace(world.starter.status(), state=state, detail="A file is missing.")
    text = command.StarterResult(status).as_text()
    assert ("starter install" in text) is has_way_on
    assert "A file is missing." in text


def test_progress_is_a_line_for_each_tenth_and_each_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printer = StepProgress()
    for done in range(0, 1001, 7):
        printer.show(
            InstallProgress(InstallStage.DOWNLOADING, "Downloading.", done * 1000, 10**6), 5e6
        )
    printer.show(InstallProgress(InstallStage.DOWNLOADING, "Downloading.", 10**6, 10**6), 5e6)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Downloading."
    assert lines[1] == "  10 %, 105 kB of 1.00 MB, 5.00 MB/s"
    assert [line.split("%")[0].strip() for line in lines[1:]] == [
        str(n) for n in range(10, 101, 10)
    ]


def test_a_download_of_unknown_size_still_says_that_it_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    StepProgress().show(InstallProgress(InstallStage.DOWNLOADING, "Downloading.", 5))
    assert capsys.readouterr().err == "Downloading.\n"
