from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.x_server import x_server

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "packaging" / "check_system.py"

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux libraries")


@pytest.fixture(scope="module")
def check_system() -> ModuleType:
    # "packaging" is also an installed package, so the script is loaded by its place.
    spec = importlib.util.spec_from_file_location("check_system", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_what_cannot_be_loaded_is_missing(check_system: ModuleType) -> None:
    libraries = {"libhere.so.1": "here1", "libgone.so.1": "gone1"}

    missing = check_system.missing_libraries(libraries, lambda name: name == "libhere.so.1")

    assert missing == {"libgone.so.1": "gone1"}


@linux_only
def test_the_real_loader_is_asked(check_system: ModuleType) -> None:
    assert check_system.can_load("libc.so.6")
    assert not check_system.can_load("libno-such-library.so.6")


def test_advice_on_debian_is_a_command_to_copy(check_system: ModuleType) -> None:
    missing = {"libb.so.1": "b1", "liba.so.1": "a1", "liba-more.so.1": "a1"}

    words = check_system.advice(missing, has_apt=True, is_root=False)

    assert "liba-more.so.1, liba.so.1, libb.so.1" in words
    assert words.endswith("  sudo apt-get install a1 b1")


def test_root_needs_no_sudo(check_system: ModuleType) -> None:
    words = check_system.advice({"liba.so.1": "a1"}, has_apt=True, is_root=True)

    assert words.endswith("  apt-get install a1")


def test_other_systems_are_told_no_command_that_they_lack(check_system: ModuleType) -> None:
    words = check_system.advice({"liba.so.1": "a1"}, has_apt=False, is_root=False)

    assert "apt-get" not in words
    assert "liba.so.1" in words


@linux_only
def test_missing_libraries_stop_make(tmp_path: Path) -> None:
    """A copy of the script that also wants a library nobody has."""
    script = tmp_path / "check_system.py"
    text = SCRIPT.read_text(encoding="utf-8")
    script.write_text(text.replace("libEGL.so.1", "libnobody-has-this.so.1"), encoding="utf-8")

    finished = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert finished.returncode == 1
    assert "libnobody-has-this.so.1" in finished.stderr
    assert "libegl1" in finished.stderr or not shutil.which("apt-get")


@linux_only
def test_the_lists_are_what_the_installed_qt_links_to(check_system: ModuleType) -> None:
    """The lists against the loader's own walk through Qt's libraries and plugins."""
    qt = _installed_qt()
    checked = {**check_system.ALWAYS, **check_system.FOR_A_WINDOW}
    files = [qt / "lib" / f"libQt6{name}.so.6" for name in ("Core", "Gui", "Widgets", "Svg")]
    files += [qt / "plugins/platforms/libqoffscreen.so", qt / "plugins/platforms/libqxcb.so"]
    files += sorted((qt / "plugins/xcbglintegrations").glob("*.so"))

    listing = subprocess.run(["ldd", *files], capture_output=True, text=True, check=True).stdout

    lines = [line.split() for line in listing.splitlines() if line.startswith("\t")]
    linked = {words[0] for words in lines}
    assert set(checked) <= linked
    assert {name for name in linked if name.startswith(("libxcb", "libxkb"))} <= set(checked)
    not_found = {words[0] for words in lines if words[-2:] == ["not", "found"]}
    assert not_found == set(check_system.missing_libraries(checked))


@linux_only
def test_a_window_opens_on_an_x_server(check_system: ModuleType) -> None:
    _installed_qt()
    assert not check_system.missing_libraries(check_system.FOR_A_WINDOW)
    program = (
        "from PySide6.QtWidgets import QApplication, QLabel\n"
        "app = QApplication([]); label = QLabel('hello'); label.show()\n"
        "print(app.platformName(), label.grab().width() > 0)"
    )
    with x_server() as (_, environment):
        finished = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert finished.stdout.strip() == "xcb True", finished.stderr


def _installed_qt() -> Path:
    spec = importlib.util.find_spec("PySide6")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("Qt is not installed in this environment")
    return Path(spec.submodule_search_locations[0]) / "Qt"
