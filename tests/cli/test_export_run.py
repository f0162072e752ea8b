"""`export run` and `export resume` with the real export tools: stopped, then finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.services.model_store import own_models
from tests.cli.test_json_forms import documented_fields, printed_fields
from tests.export_environment_fixture import CACHE_DIR
from tests.exporting.checkpoints import write_checkpoint
from tests.fakes.export_world import marked_processes
from tests.fakes.library_world import app_paths

if TYPE_CHECKING:
    from pathlib import Path

_BY_EVENT = {
    "stage": {"name", "title", "state"},
    "progress": {"stage", "share", "detail", "notice"},
    "memory": {"tree_bytes", "available_bytes", "limit_bytes", "floor_bytes"},
    "done": {"pair_verdict", "speedup", "notes", "models[].role", "models[].id", "models[].path"},
    "failed": {"code", "headline", "advice"},
}


def _start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dflash_desktop", "export", *arguments, "--json"],
        env=os.environ | {"DFLASH_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _home(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "exporters").symlink_to(CACHE_DIR / "data" / "exporters")
    return folder


@pytest.mark.export
@pytest.mark.usefixtures("export_python")
def test_an_export_that_was_stopped_by_ctrl_c_goes_on_and_ends_in_the_library(
    tmp_path: Path,
) -> None:
    home = _home(tmp_path / "home")
    draft = write_checkpoint(tmp_path / "tiny", "draft")
    first = _start(home, "run", "--draft", str(draft))
    assert first.stdout is not None
    printed = [json.loads(next(first.stdout))]
    while printed[-1]["event"] != "memory":
        printed.append(json.loads(next(first.stdout)))
    run_id = printed[-1]["id"]
    assert len(marked_processes(run_id)) >= 1
    first.send_signal(signal.SIGINT)
    output, error = first.communicate(timeout=30)
    printed += [json.loads(line) for line in output.splitlines()]
    assert (first.returncode, error) == (130, "")
    assert printed[-1]["code"] == "interrupted"
    assert run_id in printed[-1]["advice"]
    assert marked_processes(run_id) == []

    second = _start(home, "resume")
    output, error = second.communicate(timeout=150)
    assert second.returncode == 0, (output, error)
    printed += [json.loads(line) for line in output.splitlines()]
    done = printed[-1]
    assert done["event"] == "done"
    assert [m["id"] for m in done["models"]] == ["tiny-int8-ov"]
    assert done["models"][0]["contract_verdict"] in ("good", "warnings")
    assert [model.id for model in own_models(app_paths(home).models_dir)] == ["tiny-int8-ov"]
    assert list((home / "data" / "incoming").iterdir()) == []

    documented = documented_fields("export run")
    found: set[str] = set()
    for one in printed:
        fields = printed_fields(one)
        assert fields <= documented, fields - documented
        assert fields >= _BY_EVENT[one["event"]] | {"json_version", "event"}
        found |= fields
    assert documented - {"models"} == found


def test_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    process = _start(tmp_path, "resume")
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert json.loads(output)["code"] == "no_such_export"


@pytest.mark.parametrize("limit", ["0", "-3", "many"])
def test_a_limit_that_is_none_is_wrong_usage(tmp_path: Path, limit: str) -> None:
    process = _start(tmp_path, "run", "--draft", "x", f"--memory-limit={limit}")
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 2
    assert json.loads(output)["error"]["code"] == "usage"
