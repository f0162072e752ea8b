"""An older program does not touch what a newer one wrote, and says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop import cli
from dflash_desktop.domain.problems import AppError
from dflash_desktop.paths import app_paths
from dflash_desktop.services import data_format
from dflash_desktop.services.data_format import leave_mark, require_known_data

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.paths import AppPaths


@pytest.fixture
def newer_data(monkeypatch: pytest.MonkeyPatch) -> AppPaths:
    """What a program of the next format leaves, settings of its own included."""
    paths = app_paths()
    with monkeypatch.context() as newer:
        newer.setattr(data_format, "DATA_FORMAT", data_format.DATA_FORMAT + 1)
        newer.setattr(data_format, "__version__", "9.8.7")
        leave_mark(paths)
    paths.config_dir.mkdir(parents=True)
    paths.settings_file.write_text('{"version": 99, "theme": "sepia"}', encoding="utf-8")
    return paths


def contents(paths: AppPaths) -> dict[Path, bytes]:
    folders = (paths.config_dir, paths.data_dir)
    return {p: p.read_bytes() for folder in folders for p in folder.rglob("*") if p.is_file()}


def test_newer_data_is_refused_in_words_that_name_the_version(newer_data: AppPaths) -> None:
    with pytest.raises(AppError) as caught:
        require_known_data(newer_data)
    problem = caught.value.problem
    assert problem.code == "data_newer"
    assert "version 9.8.7" in problem.headline
    assert "Install the newer version again" in problem.advice


def test_a_command_refuses_newer_data_and_leaves_every_byte_as_it_was(
    newer_data: AppPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(newer_data)
    assert cli.main(["models", "list", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "data_newer"
    assert contents(newer_data) == before


def test_our_own_data_and_that_of_older_programs_is_taken() -> None:
    paths = app_paths()
    require_known_data(paths)
    leave_mark(paths)
    require_known_data(paths)
    assert json.loads(paths.data_format_file.read_bytes())["format"] == data_format.DATA_FORMAT


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": "x"}', b"\xff\xfe", b"[]"])
def test_a_damaged_mark_keeps_nobody_out_and_is_written_anew(damage: bytes) -> None:
    paths = app_paths()
    paths.data_dir.mkdir(parents=True)
    paths.data_format_file.write_bytes(damage)
    require_known_data(paths)
    leave_mark(paths)
    assert json.loads(paths.data_format_file.read_bytes())["format"] == data_format.DATA_FORMAT


def test_a_mark_never_becomes_older(newer_data: AppPaths) -> None:
    before = newer_data.data_format_file.read_bytes()
    leave_mark(newer_data)
    assert newer_data.data_format_file.read_bytes() == before
