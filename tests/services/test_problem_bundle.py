"""What a person can send: useful, whole, and without anything private."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from dflash_desktop.domain.problems import Problem
from dflash_desktop.services.diagnostics import PrivateFacts
from dflash_desktop.services.problem_bundle import bundle_bytes, collect_bundle, save_bundle
from tests.fakes.library_world import app_paths

_TOKEN = "hf_" + "a1B2c3D4" * 4
_PRIVATE = PrivateFacts(home_dir=Path("/home/annegret"), user="annegret", host="workbench")
_PRIVATE_CHAT = "my doctor said that"


def _installation(root: Path) -> None:
    paths = app_paths(root)
    for folder in (paths.log_dir, paths.conversations_dir, paths.cache_dir, paths.config_dir):
        folder.mkdir(parents=True)
    (paths.log_dir / "window.log").write_text(
        "2026 INFO annegret opened /home/annegret/models on workbench\n"
        f"request with token={_TOKEN} from annegret@example.org\n",
        encoding="utf-8",
    )
    (paths.log_dir / "window-faults.log").write_text("Fatal Python error: Segmentation fault\n")
    (paths.log_dir / "engine.log.1").write_bytes(b"broken \xff byte\n")
    (paths.log_dir / "empty.log").write_text("")
    (paths.log_dir / "notes.txt").write_text(_PRIVATE_CHAT)
    (paths.conversations_dir / "one.json").write_text(_PRIVATE_CHAT)
    paths.settings_file.write_text(f'{{"system_prompt": "{_PRIVATE_CHAT}"}}')
    paths.hardware_file.write_text('{"gpu": "Arc B580", "path": "/home/annegret/x"}')
    paths.checks_file.parent.mkdir(parents=True, exist_ok=True)
    paths.checks_file.write_text("[]")


def test_the_logs_are_in_it_and_nothing_private_is(tmp_path: Path) -> None:
    _installation(tmp_path)
    files = {f.name: f.text for f in collect_bundle(app_paths(tmp_path), _PRIVATE)}
    assert set(files) == {
        *("what-happened.txt", "hardware.json", "checks.json"),
        *("logs/window.log", "logs/window-faults.log", "logs/engine.log.1"),
    }
    everything = "\n".join(files.values())
    for private in ("annegret", "workbench", _TOKEN, "example.org", _PRIVATE_CHAT):
        assert private not in everything, private
    assert "opened ~/models on <host>" in files["logs/window.log"]
    assert "Arc B580" in files["hardware.json"]
    assert "Segmentation fault" in files["logs/window-faults.log"]
    assert "openvino: 20" in files["what-happened.txt"]


def test_folders_that_a_person_chose_are_named_by_what_they_are_for(tmp_path: Path) -> None:
    _installation(tmp_path)
    paths = app_paths(tmp_path)
    at_home = PrivateFacts(home_dir=tmp_path, user="annegret", host="workbench")
    (paths.log_dir / "fetch.log").write_text(f"{paths.models_dir}/qwen3 is there\n", "utf-8")

    def told(private: PrivateFacts) -> str:
        return {f.name: f.text for f in collect_bundle(paths, private)}["logs/fetch.log"]

    assert told(_PRIVATE) == "<models>/qwen3 is there\n"
    assert told(at_home).startswith("~/"), "what lies where it always does says more"


def test_what_happened_stands_first(tmp_path: Path) -> None:
    problem = Problem("engine_crashed", "The engine crashed.", "Try again.", detail="SIGSEGV")
    first, *_ = collect_bundle(app_paths(tmp_path), _PRIVATE, problem=problem)
    assert first.name == "what-happened.txt"
    assert "engine_crashed: The engine crashed." in first.text
    assert "SIGSEGV" in first.text


def test_what_is_saved_is_what_was_shown_and_tells_no_time(tmp_path: Path) -> None:
    _installation(tmp_path)
    files = collect_bundle(app_paths(tmp_path), _PRIVATE)
    file = tmp_path / "report.zip"
    save_bundle(files, file)
    assert file.read_bytes() == bundle_bytes(files)
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        assert {n: archive.read(n).decode() for n in archive.namelist()} == {
            f.name: f.text for f in files
        }
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_new_installation_has_a_report_too(tmp_path: Path) -> None:
    files = collect_bundle(app_paths(tmp_path), _PRIVATE)
    assert [file.name for file in files] == ["what-happened.txt"]
