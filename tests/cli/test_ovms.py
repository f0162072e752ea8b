"""`ovms` as programs and people meet it."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_json_forms import assert_documented, run
from tests.fakes.ir_models import ModelFiles, write_target

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def target(tmp_path: Path) -> ModelFiles:
    return write_target(tmp_path / "the target")


def ovms(target: ModelFiles, draft: ModelFiles, output: Path) -> tuple[int, dict[str, Any]]:
    names = str(target.folder), str(draft.folder)
    return run("ovms", *names, "--output", str(output), "--device", "cpu")


def test_a_good_pair_in_the_documented_form(
    target: ModelFiles, draft: ModelFiles, tmp_path: Path
) -> None:
    code, printed = ovms(target, draft, tmp_path / "out put")

    assert code == 0
    assert_documented("ovms", printed)
    graph, config = (tmp_path / "out put" / name for name in ("graph.pbtxt", "ovms_config.json"))
    assert printed["files"] == [str(graph), str(config)]
    assert f'draft_models_path: "{draft.folder.as_posix()}"' in graph.read_text("utf-8")
    (served,) = json.loads(config.read_text("utf-8"))["mediapipe_config_list"]
    assert served == {"name": "the target", "base_path": (tmp_path / "out put").as_posix()}
    if sys.platform != "win32":
        words = shlex.split(printed["commands"][0]["line"])
        assert words == ["ovms", "--config_path", str(config), "--rest_port", "8000"]
    assert ovms(target, draft, tmp_path / "out put")[0] == 0  # over its own files


def test_a_blocked_pair_is_refused_and_nothing_is_written(
    target: ModelFiles, draft: ModelFiles, tmp_path: Path
) -> None:
    draft.edit("1,2,3", "1,2,48")
    code, printed = ovms(target, draft, tmp_path / "out")

    assert code == 2
    assert printed["verdict"] == "blocked"
    assert printed["findings"][1]["code"] == "target_layer_outside"
    assert not printed["files"]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("port", ["0", "65536", "-1", "8k", "²"])
def test_a_port_that_no_server_can_listen_on_is_wrong_usage(port: str, tmp_path: Path) -> None:
    code, printed = run("ovms", "t", "d", "--output", str(tmp_path / "x"), f"--rest-port={port}")
    assert code == 2
    assert_documented("error", printed)
    assert "1 to 65535" in json.dumps(printed)


def test_files_of_somebody_else_stay(
    target: ModelFiles, draft: ModelFiles, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "graph.pbtxt").write_text("node: {}", encoding="utf-8")
    code, printed = ovms(target, draft, tmp_path / "out")

    assert code == 2
    assert printed["error"]["code"] == "output_taken"
    assert (tmp_path / "out" / "graph.pbtxt").read_text("utf-8") == "node: {}"


@pytest.mark.parametrize(
    ("encoding", "text", "code", "verdict"),
    [
        ("utf-8", "Draft model strategy: DFlash\nx state changed to: AVAILABLE\n", 0, "attached"),
        ("utf-16", "Draft model strategy: EAGLE3\r\nstate: AVAILABLE", 2, "other_strategy"),
        ("utf-8", "Draft model strategy: DFlash", 1, "starting"),
        ("utf-8", "", 1, "nothing_loaded"),
    ],
)
def test_a_log_in_the_documented_form(
    tmp_path: Path, encoding: str, text: str, code: int, verdict: str
) -> None:
    log = tmp_path / "ovms.log"
    log.write_text(text, encoding=encoding)
    exit_code, printed = run("ovms", "--check-log", str(log))

    assert exit_code == code
    assert_documented("ovms", printed)
    assert isinstance(printed["log"], dict)
    assert printed["log"]["verdict"] == verdict


def test_neither_a_pair_nor_a_log_is_wrong_usage() -> None:
    code, printed = run("ovms")
    assert code == 2
    assert_documented("error", printed)


def test_a_target_alone_or_a_log_that_is_not_there_is_an_error(target: ModelFiles) -> None:
    for arguments in (["ovms", str(target.folder)], ["ovms", "--check-log", "nowhere.log"]):
        code, printed = run(*arguments)
        assert code == 2
        assert_documented("error", printed)
