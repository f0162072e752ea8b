"""The program that people double-click, built here and taken apart again.

Freezing OpenVINO without care succeeds, starts, and finds no device (case 96), so every library
that is opened by name is taken away once, and the self-test must miss it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.workers.self_test import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.frozen,
    pytest.mark.timeout(600),
    pytest.mark.skipif(find_spec("PyInstaller") is None, reason="needs the package extra"),
    pytest.mark.skipif(find_spec("PySide6") is None, reason="the window is a part of it"),
]

QUICK_SECONDS = 60
QT_FILES = ("*/platforms/*q*", "*Qt6Svg*", "*Qt6Widgets*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dflash_build.freeze import Variant, freeze

    # A folder with a space and foreign letters, as people have them.
    build_dir = tmp_path_factory.mktemp("gefroren ä")
    return freeze(build_dir, Variant(with_starter=True, with_tools=False))


def run(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    from dflash_build.checks import executable

    return subprocess.run(
        [str(executable(folder, name)), *arguments],
        # Nothing of this Python, and no PATH on which another one could be found.
        env={key: value for key, value in os.environ.items() if key != "PATH"},
        capture_output=True,
        encoding="utf-8",
        timeout=QUICK_SECONDS,
        check=False,
    )


def failed_checks(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    checks = json.loads(done.stdout)["checks"] if done.stdout.strip() else []
    found = {check["code"]: check["detail"] for check in checks if not check["passed"]}
    if not found and done.returncode:
        return {"process": done.stderr}
    return found


def files_of(folder: Path, library: str) -> Iterator[Path]:
    """The library, and the links to it that lie elsewhere in the folder."""
    for path in folder.rglob("*"):
        stem = path.name.split(".")[0].removeprefix("lib").rstrip("0123456789_")
        if stem == library and path.suffix != ".py" and ("so" in path.name or "dll" in path.name):
            yield path


@contextmanager
def taken_away(files: Iterable[Path]) -> Iterator[None]:
    """Moved to where nobody looks, and back again; at least one."""
    moved: list[tuple[Path, Path]] = []
    for path in list(files):
        away = path.with_name(f"taken-{len(moved)}")
        path.rename(away)
        moved.append((path, away))
    assert moved
    try:
        yield
    finally:
        for path, away in moved:
            away.rename(path)


def test_it_holds_what_it_must_and_nothing_that_it_must_not(folder: Path) -> None:
    from dflash_build.checks import layout_problems

    assert layout_problems(folder) == []


def test_the_self_test_of_the_whole_program_passes(folder: Path) -> None:
    done = run(folder, "dflash-desktop", "self-test", "--json")
    assert failed_checks(done) == {}
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["checks"]) >= 28


def test_every_library_of_the_engine_that_is_taken_away_is_missed(folder: Path) -> None:
    for name in (name for libraries in LIBRARIES.values() for name in libraries):
        with taken_away(files_of(folder, name)):
            done = run(folder, "dflash-engine", "self-test")
        assert done.returncode, f"{name} is not missed"
        assert any(name in words for words in failed_checks(done).values()), (name, done.stdout)


@pytest.mark.parametrize("pattern", QT_FILES)
def test_every_part_of_qt_that_is_taken_away_is_missed(folder: Path, pattern: str) -> None:
    found = [path for path in folder.glob(f"_internal/**/{pattern}") if not path.is_dir()]
    with taken_away(found):
        done = run(folder, "dflash-desktop", "self-test", "--quick", "--json")
    assert done.returncode == 1
    assert any(code.startswith("window.") for code in failed_checks(done)), done.stdout


def test_pip_is_inside_and_starts_no_engine(folder: Path) -> None:
    done = run(folder, "dflash-engine", "pip", "download", "--no-index", "no-such-package")
    assert "No matching distribution found" in done.stderr
    assert done.returncode == 1


def test_plain_sources_for_other_pythons_lie_apart(folder: Path) -> None:
    source = folder / "_internal" / "source"
    done = subprocess.run(
        # -S: without the packages of the Python that runs this.
        [sys.executable, "-S", "-c", "import dflash_desktop.domain.units as m; print(m.__file__)"],
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == str(source / "dflash_desktop" / "domain" / "units.py")
    assert [path.name for path in source.iterdir()] == ["dflash_desktop"]
    program = source / "dflash_desktop" / "workers" / "export_program.py"
    subprocess.run(
        [sys.executable, "-S", "-P", str(program), "--help"], capture_output=True, check=True
    )


@pytest.mark.starter
def test_the_starter_inside_is_installed_and_answers_without_a_network(folder: Path) -> None:
    done = run(folder, "dflash-desktop", "starter", "install", "--json")
    assert done.returncode == 0, done.stderr
    done = run(folder, "dflash-desktop", "chat", "--prompt", "Name a colour.", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"].strip()
    done = run(folder, "dflash-desktop", "self-test", "--json")
    assert failed_checks(done) == {}
    checks = {check["code"]: check["detail"] for check in json.loads(done.stdout)["checks"]}
    assert checks["starter"].startswith("It answers")
