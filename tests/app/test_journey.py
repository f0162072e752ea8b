"""A newcomer's whole way, in one run of the real program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dflash_desktop.domain.generation import FinishReason
from dflash_desktop.paths import app_paths
from dflash_desktop.services.conversation_store import ConversationStore
from dflash_desktop.ui.pages import Page

ROOT = Path(__file__).parents[2]


@pytest.mark.starter
@pytest.mark.openvino
@pytest.mark.timeout(900)
def test_from_an_empty_folder_to_the_answer_after_a_crash(starter_wheel: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.journey", str(starter_wheel)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.stdout, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    assert seen["first_page"] == Page.SETUP
    assert any("GB for models" in words for words in seen["machine"])
    assert "Paris" in seen["first_answer"]
    assert any("tok/s" in reading for reading in seen["readings"])
    assert not any("nan" in reading.lower() for reading in seen["readings"])
    assert seen["stop_seconds"] < 3.0
    assert seen["after_crash"]  # what was streamed before the crash is kept
    assert "Rome" in seen["last_answer"]
    assert seen["children_left"] == 0

    store = ConversationStore(app_paths().conversations_dir)
    (summary,) = store.list()
    messages = store.load(summary.id).messages
    finishes = [message.finish for message in messages if message.finish]
    assert finishes == [
        FinishReason.STOP,
        FinishReason.CANCELLED,
        FinishReason.FAILED,
        FinishReason.STOP,
    ]
    first = messages[1].stats
    assert first is not None
    assert first.accepted_tokens > 0
