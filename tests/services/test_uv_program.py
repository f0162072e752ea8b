"""uv is told what a person told pip, and finds a Python where the program cannot lend its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from dflash_desktop.services import uv_program
from dflash_desktop.services.uv_program import (
    find_uv,
    parse_pip_settings,
    pip_settings,
    python_request,
    uv_environment,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LISTED = """\
:env:.index-url='https://user:secret@mirror.example.com/simple'
global.index-url='https://other.example.com/simple'
global.extra-index-url='\\nhttps://one.example.com/simple\\nhttps://two.example.com/simple'
install.find-links='/srv/wheels'
global.cert='C:\\\\certs\\\\company.pem'
global.timeout='60'
no setting at all
"""


def test_pips_settings_are_read_as_it_lists_them_and_variables_go_before_files() -> None:
    assert parse_pip_settings(LISTED) == {
        "index-url": "https://user:secret@mirror.example.com/simple",
        "extra-index-url": "https://one.example.com/simple https://two.example.com/simple",
        "find-links": "/srv/wheels",
        "cert": "C:\\certs\\company.pem",
        "timeout": "60",
    }


def test_the_real_pip_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example.com/simple")
    assert pip_settings()["index-url"] == "https://mirror.example.com/simple"


def test_what_was_told_to_uv_itself_goes_before_pips_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        uv_program,
        "pip_settings",
        lambda: {"index-url": "https://pip.example.com", "find-links": "/srv/wheels /srv/more"},
    )
    base = {"UV_DEFAULT_INDEX": "https://uv.example.com", "UV_OFFLINE": "1", "VIRTUAL_ENV": "x"}
    env = uv_environment(base, cache_dir=tmp_path / "cache", python_dir=tmp_path / "python")
    assert env["UV_DEFAULT_INDEX"] == "https://uv.example.com"
    assert env["UV_FIND_LINKS"] == "/srv/wheels,/srv/more"
    assert env["UV_CACHE_DIR"] == str(tmp_path / "cache")
    assert "UV_OFFLINE" not in env
    assert "VIRTUAL_ENV" not in env


def test_a_frozen_program_lends_no_python_and_lives_without_a_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert python_request()[:2] == ("--python", sys.executable)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "dflash-desktop"))
    assert pip_settings() == {}
    assert sys.executable not in python_request()


def test_uv_beside_a_frozen_program_goes_before_one_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "uv.exe" if sys.platform == "win32" else "uv"
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / name).write_bytes(b"")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "dflash-desktop"))
    assert find_uv() == tmp_path / "tools" / name


def test_uv_finds_a_python_for_a_frozen_program_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = find_uv()
    assert uv is not None
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    made = subprocess.run(
        [uv, "venv", "--no-python-downloads", tmp_path / "made", *python_request()],
        env=os.environ | {"UV_CACHE_DIR": str(tmp_path / "cache")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert uv_program.python_inside(tmp_path / "made").exists()
