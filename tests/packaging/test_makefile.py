"""What `make` does before anything is installed, and when it installs again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("make") is None, reason="make is not installed"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that make looks at, in a folder whose name has a space."""
    folder = tmp_path / "a checkout"
    (folder / "packaging").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "packaging/check_system.py"):
        shutil.copy(REPOSITORY / name, folder / name)
    return folder


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments], cwd=checkout, capture_output=True, text=True, check=False
    )


def pretend_to_be_installed(checkout: Path) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").touch()
    (checkout / ".venv" / ".run-installed").touch()


@pytest.mark.parametrize("target", ["run", "test"])
def test_a_missing_python_is_named_with_the_command(checkout: Path, target: str) -> None:
    finished = make(checkout, target, "PYTHON=")

    assert finished.returncode != 0
    assert "Python 3.11, 3.12 or 3.13 is needed" in finished.stderr
    assert "apt-get install python3 python3-venv" in finished.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_without_venv_is_told_the_package(checkout: Path, tmp_path: Path) -> None:
    bare_python = tmp_path / "python-without-venv"
    bare_python.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    bare_python.chmod(0o755)

    finished = make(checkout, "run", f"PYTHON={bare_python}")

    assert finished.returncode != 0
    assert "apt-get install python3-venv" in finished.stderr


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    pretend_to_be_installed(checkout)

    finished = make(checkout, "--dry-run", ".venv/.run-installed")

    assert "pip" not in finished.stdout
    assert finished.returncode == 0


def test_a_changed_pyproject_is_installed_again(checkout: Path) -> None:
    pretend_to_be_installed(checkout)
    stamp = (checkout / ".venv" / ".run-installed").stat()
    os.utime(checkout / "pyproject.toml", ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 10**9))

    finished = make(checkout, "--dry-run", ".venv/.run-installed")

    assert "-m pip install --disable-pip-version-check --editable ." in finished.stdout


def test_a_python_that_has_gone_makes_a_new_environment(checkout: Path) -> None:
    pretend_to_be_installed(checkout)
    python = checkout / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3")

    finished = make(checkout, "--dry-run", ".venv/.run-installed", "PYTHON=python3")

    assert "python3 -m venv --clear .venv" in finished.stdout
    assert "pip install" in finished.stdout
