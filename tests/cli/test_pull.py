"""`pull` as a program of its own, against a hub on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.cli import build_parser, pull
from dflash_desktop.cli.context import CommandContext
from dflash_desktop.cli.pull_output import PullOutput
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.transfer import Transfer, TransferState
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.cli.test_json_forms import documented_fields, printed_fields
from tests.fakes.download_world import wish
from tests.fakes.fake_hub import GOOD_TOKEN, FakeHub, serve, small_repo

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from pathlib import Path

BIN = "openvino_model.bin"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serve(FakeHub([small_repo("team/target"), small_repo("team/draft")])) as hub:
        yield hub


def command(hub: FakeHub, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "dflash_desktop", "pull", *arguments, "--endpoint", hub.url]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}


def run(
    hub: FakeHub, *arguments: str, stdin: str = ""
) -> tuple[int, list[dict[str, object]], str]:
    """Exit code, the objects on standard output, standard error."""
    finished = subprocess.run(
        [*command(hub, *arguments), "--json"],
        env=environment(),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    return (
        finished.returncode,
        [json.loads(line) for line in finished.stdout.splitlines()],
        (finished.stderr),
    )


def test_each_line_is_one_documented_object_and_the_models_are_there(hub: FakeHub) -> None:
    code, lines, error = run(hub, "team/target", "team/draft")
    assert code == 0, error
    events = [str(line["event"]) for line in lines]
    assert events[0] == "planned"
    assert events[-1] == "done"
    assert set(events[1:-1]) == {"progress"}
    failed_code, failed, _ = run(hub, "team/nothing")
    assert failed_code == 1
    assert [line["event"] for line in failed] == ["failed"]
    assert failed[0]["code"] == "not_found"
    assert all(line["json_version"] == 1 for line in lines + failed)
    printed = set().union(*(printed_fields(line) for line in lines + failed))
    containers = {"repos", "models"}
    assert printed == documented_fields("pull") - containers
    models = lines[-1]["models"]
    assert isinstance(models, list)
    assert [model["id"] for model in models] == ["team/target", "team/draft"]


@contextmanager
def begun(hub: FakeHub, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command, once the large file is on its way."""
    process = subprocess.Popen(
        [*command(hub, *arguments), "--json"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            fields = json.loads(line)
            if fields["event"] == "progress" and fields["done_bytes"] > 400_000:
                break
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to one process")
def test_ctrl_c_keeps_what_arrived_and_the_same_command_goes_on(hub: FakeHub) -> None:
    hub.repos[0].file(BIN).bytes_per_second = 1_500_000
    with begun(hub, "team/target") as process:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
    last = json.loads(rest.splitlines()[-1])
    assert process.returncode == 130
    assert (last["event"], last["code"]) == ("failed", "interrupted")
    assert "same command" in last["advice"]
    hub.repos[0].file(BIN).bytes_per_second = None
    code, _, _ = run(hub, "team/target")
    assert code == 0
    assert max(body.range_start or 0 for body in hub.bodies(BIN)) >= 400_000


def test_a_second_one_at_the_same_time_is_refused_in_words(hub: FakeHub) -> None:
    hub.repos[0].file(BIN).bytes_per_second = 500_000
    with begun(hub, "team/target"):
        code, lines, _ = run(hub, "team/draft")
    assert code == 1
    assert lines[-1]["code"] == "downloads_busy"


def test_a_token_from_standard_input_opens_a_gated_model_and_stays_unseen(hub: FakeHub) -> None:
    hub.repos[0].gated = "auto"
    code, lines, _ = run(hub, "team/target")
    assert (code, lines[-1]["code"]) == (1, "gated_no_token")
    code, lines, error = run(hub, "team/target", "--token-from-stdin", stdin=f"{GOOD_TOKEN}\n")
    assert code == 0, error
    assert GOOD_TOKEN not in json.dumps(lines) + error
    code, lines, _ = run(hub, "team/target", "--token-from-stdin", stdin="\n")
    assert (code, lines[-1]["code"]) == (1, "token_invalid")


def test_a_missing_token_is_asked_for_in_the_words_of_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    PullOutput(as_json=False).failed(
        Problem("gated_no_token", "Only for some.", "Enter one.", remedies=(Remedy.ENTER_TOKEN,))
    )
    assert "--token-from-stdin" in capsys.readouterr().err


def test_only_named_files_come(hub: FakeHub) -> None:
    code, lines, _ = run(hub, "team/target", "--include", "*.xml", "--include", "config.json")
    assert code == 0
    repos = lines[0]["repos"]
    assert isinstance(repos, list)
    assert [repo["files"] for repo in repos] == [2]
    assert not hub.bodies(BIN)


@pytest.fixture
def context(tmp_path: Path) -> CommandContext:
    from dflash_desktop.paths import app_paths

    return CommandContext(paths=app_paths(), launcher=WorkerLauncher(log_dir=tmp_path))


def parsed(*arguments: str) -> Namespace:
    return build_parser().parse_args(["pull", *arguments])


def test_a_pair_of_the_catalogue_is_found_by_id_and_by_title(context: CommandContext) -> None:
    from dflash_desktop.services.catalogue_store import load_catalogue

    pair = next(
        pair
        for pair in load_catalogue().pairs
        if pair.is_prebuilt and pair.draft and pair.draft.repository and pair.target.repository
    )
    by_id = pull.wanted(parsed(pair.id.upper()), context)
    assert by_id == pull.wanted(parsed(pair.title), context)
    assert by_id == pull.wanted(parsed(*pair.title.split()), context)
    assert by_id.id == pair.id
    assert len(by_id.repos) == 2
    assert "*openvino_*.bin" in by_id.repos[0].patterns


def test_what_is_neither_pair_nor_model_is_said(context: CommandContext) -> None:
    with pytest.raises(AppError, match="unknown_name"):
        pull.wanted(parsed("nothing"), context)


@pytest.mark.parametrize("limit", ["0", "-1", "fast", "inf", "nan"])
def test_a_limit_must_be_a_rate(limit: str) -> None:
    from dflash_desktop.cli import UsageError

    with pytest.raises(UsageError):
        parsed("a/b", "--limit", limit)


def test_the_line_on_a_terminal_says_how_far_how_fast_and_how_long() -> None:
    from dflash_desktop.cli.pull_output import progress_line

    transfer = Transfer(wish(), TransferState.RUNNING, 450_000_000, 10**9, 12_000_000.0, 125.0)
    assert progress_line(transfer) == (
        "[##########..............]  45 %  450 MB of 1.00 GB  12.0 MB/s  2 min 5 s left"
    )
