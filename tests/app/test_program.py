"""The real program in a process of its own, over the fake engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from dflash_desktop.domain.pair_request import request_for_known_repos
from dflash_desktop.domain.settings import AddedPair
from dflash_desktop.paths import app_paths
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.conversation_store import ConversationStore
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.pages import Page
from tests.export_environment_fixture import cached_paths
from tests.exporting.checkpoints import write_checkpoint
from tests.fakes.fake_hub import GOOD_TOKEN, FakeHub, serve, small_repo
from tests.fakes.ir_models import write_draft, write_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.conversation import Conversation

GOODBYE_SECONDS = 3.0
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    seen: dict[str, Any]
    stderr: str


def run(scenario: str, *arguments: str, timeout_seconds: float = 90) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.scenarios", scenario, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )
    assert done.stdout, done.stderr
    return Outcome(done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stderr)


def saved_conversations() -> Sequence[Conversation]:
    store = ConversationStore(app_paths().conversations_dir)
    return [store.load(summary.id) for summary in store.list()]


@pytest.fixture
def _model(tmp_path: Path) -> None:
    """A pair that the fake engine loads, remembered from the last time."""
    pair = AddedPair("mine", "My pair", tmp_path / "target", tmp_path / "draft")
    SettingsStore(app_paths().settings_file).change(added_pairs=(pair,), last_pair_id="mine")


def assert_left_well(outcome: Outcome) -> None:
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stderr == ""
    assert outcome.seen["engines_left"] == 0
    assert outcome.seen["goodbye_seconds"] <= GOODBYE_SECONDS
    assert "ERROR" not in outcome.seen["log"]
    assert "WARNING" not in outcome.seen["log"]


def test_closing_at_once_leaves_nothing_behind() -> None:
    assert_left_well(run("close_at_once"))


def test_without_a_model_the_setup_shows_and_closing_ends_its_look_at_the_machine() -> None:
    outcome = run("close_on_the_setup")
    assert_left_well(outcome)
    assert outcome.seen["page"] == "Setup"


def test_closing_while_an_export_runs_asks_once() -> None:
    outcome = run("close_while_exporting")
    assert_left_well(outcome)
    assert outcome.seen["told"] == "export_runs"
    assert not outcome.seen["was_closing"]
    assert outcome.seen["page"] == "Export"
    assert outcome.seen["is_closing"]


@pytest.mark.export
@pytest.mark.usefixtures("export_python")
def test_a_checkpoint_that_is_dropped_on_the_page_becomes_a_model_of_the_library() -> None:
    paths = app_paths()
    paths.data_dir.mkdir(parents=True, exist_ok=True)
    paths.exporters_dir.symlink_to(cached_paths().exporters_dir, True)
    write_checkpoint(paths.data_dir / "checkpoint", "draft")
    outcome = run("export_a_draft", timeout_seconds=170)
    assert_left_well(outcome)
    assert outcome.seen["state"] == "done", outcome.seen["problem"]
    assert outcome.seen["page"] == "Models"
    assert len(outcome.seen["models"]) == 1
    assert any("%" in words for words in outcome.seen["said"])
    assert outcome.seen["samples"] > 3
    assert outcome.seen["log_lines"] > 3
    # While the exporter loaded all cores; how long a busy machine lets it wait is another matter.
    assert outcome.seen["turn_seconds"] < 0.05


@pytest.mark.usefixtures("_model")
def test_closing_while_a_model_loads() -> None:
    outcome = run("close_while_loading")
    assert_left_well(outcome)
    assert outcome.seen["page"] == "Chat"


@pytest.mark.usefixtures("_model")
@pytest.mark.parametrize("scenario", ["close_while_answering", "quit_by_the_system"])
def test_closing_in_mid_answer_keeps_what_was_said(scenario: str) -> None:
    assert_left_well(run(scenario))
    (conversation,) = saved_conversations()
    question, answer = conversation.messages
    assert question.text == "What is rain?"
    assert answer.text.startswith("word")


@pytest.mark.usefixtures("_model")
def test_closing_with_an_engine_that_obeys_nothing() -> None:
    assert_left_well(run("close_with_a_stuck_engine"))
    (conversation,) = saved_conversations()
    assert conversation.messages[0].text == "What is rain?"


@pytest.mark.usefixtures("_model")
def test_closing_while_measuring() -> None:
    assert_left_well(run("close_while_measuring"))


@pytest.mark.usefixtures("_model")
def test_errors_in_slots_threads_and_coroutines_are_told_and_logged() -> None:
    outcome = run("errors_everywhere")
    assert outcome.exit_code == 0
    for place in ("slot", "thread", "loop"):
        assert outcome.seen[place].startswith("unexpected: ")
        assert "on purpose" in outcome.seen[place]
    assert outcome.seen["log"].count("unexpected error") == 3


@pytest.mark.usefixtures("_model")
def test_a_dialog_that_is_the_last_window_does_not_end_the_program() -> None:
    outcome = run("last_dialog")
    assert_left_well(outcome)
    assert outcome.seen["closing"] is False


@pytest.mark.usefixtures("_model")
def test_a_full_disk_holds_the_window_open_once_and_says_what_would_be_lost() -> None:
    outcome = run("close_with_a_full_disk")
    assert outcome.exit_code == 0
    assert outcome.seen["visible"] is True
    assert outcome.seen["told"].startswith("disk_full")
    assert outcome.seen["visible_then"] is False


@pytest.mark.usefixtures("_model")
def test_what_a_full_disk_refused_is_saved_when_there_is_space_again() -> None:
    assert_left_well(run("space_returns"))
    (conversation,) = saved_conversations()
    assert len(conversation.messages) == 2


def test_a_pairs_page_is_built_when_it_is_asked_for_and_a_check_ends_with_the_window(
    tmp_path: Path,
) -> None:
    target, draft = write_target(tmp_path / "target"), write_draft(tmp_path / "draft")
    pair = AddedPair("mine", "My pair", target.folder, draft.folder)
    SettingsStore(app_paths().settings_file).change(added_pairs=(pair,), last_pair_id="mine")
    outcome = run("look_at_a_pair")
    assert_left_well(outcome)
    assert outcome.seen["before"] == []
    assert outcome.seen["page"] == Page.PAIR


@pytest.mark.usefixtures("_model")
def test_a_repair_a_model_and_a_checkpoint_lead_to_their_pages(tmp_path: Path) -> None:
    checkpoint = write_checkpoint(tmp_path / "Qwen3 tiny", "text")
    model = write_target(tmp_path / "own").folder
    outcome = run("go_from_page_to_page", str(checkpoint), str(model))
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.seen["pages"] == [Page.PAIR, Page.MODELS, Page.EXPORT]


@pytest.mark.usefixtures("_model")
def test_the_windows_process_loads_no_native_engine() -> None:
    assert run("imports").seen["native"] == []


@pytest.mark.usefixtures("_model")
def test_a_new_installation_that_is_not_whole_says_so_at_its_first_start() -> None:
    outcome = run("frozen_without_its_engine")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.seen["told"] == "installation_damaged"
    assert "engine.self_test" in outcome.seen["detail"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.usefixtures("_model")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_the_program_in_time(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.app.scenarios", "wait_for_a_signal"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        children = psutil.Process(process.pid).children(recursive=True)
        began = time.monotonic()
        process.send_signal(number)
        assert process.wait(30) == 0
        assert time.monotonic() - began <= GOODBYE_SECONDS
        assert children
        assert not any(child.is_running() for child in children)
    (conversation,) = saved_conversations()
    assert conversation.messages[0].text == "What is rain?"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have a screen")
def test_without_a_display_words_are_printed_instead_of_an_abort() -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "dflash_desktop"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "there is no display" in done.stderr


def test_the_setup_asks_for_a_token_where_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    pair = next(p for p in load_catalogue().pairs if p.id.startswith("Qwen3-4B-instruct-int4+"))
    repos = [repo.repo_id for repo in request_for_known_repos(pair).repos]
    hub = FakeHub([replace(small_repo(repos[0]), is_private=True), small_repo(repos[1])])
    with serve(hub):
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        outcome = run("get_a_pair_that_asks_who_you_are", pair.id, GOOD_TOKEN)
    assert outcome.exit_code == 0, outcome.stderr
    assert "nobody takes the way out" not in outcome.seen["log"]


def test_a_model_that_asks_who_you_are_ends_in_the_library_and_its_token_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    secret = replace(small_repo("team/secret"), gated="auto")
    with serve(FakeHub([secret])) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        outcome = run("get_a_model_that_asks_who_you_are", GOOD_TOKEN)
    # Nothing about the platform's own words: it says that it has no real windows for dialogs.
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.seen["engines_left"] == 0
    assert "ERROR" not in outcome.seen["log"]
    assert "WARNING" not in outcome.seen["log"]
    assert outcome.seen["stopped"] == "failed"
    assert outcome.seen["count"] is True
    assert outcome.seen["page"] == "Models"
    assert outcome.seen["models"] == ["team/secret"]
    paths = app_paths()
    for folder in (paths.config_dir, paths.data_dir, paths.log_dir):
        for file in folder.rglob("*"):
            assert not file.is_file() or GOOD_TOKEN.encode() not in file.read_bytes(), file


def test_newer_data_is_refused_before_anything_of_it_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dflash_desktop import app
    from dflash_desktop.app import word_box
    from dflash_desktop.paths import app_paths

    said: list[str] = []
    monkeypatch.setattr(word_box, "say_in_box", lambda headline, advice: said.append(headline))
    paths = app_paths()
    paths.data_dir.mkdir(parents=True)
    paths.data_format_file.write_text('{"format": 99, "program": "9.8.7"}', encoding="utf-8")

    assert app._knows_the_data(paths) is False
    assert said == [
        "Your models and conversations were last used by version 9.8.7 of DFlash Desktop."
    ]
    assert not paths.settings_file.exists()
