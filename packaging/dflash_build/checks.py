"""Is the frozen folder what it must be? Looked at from outside, then asked of the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Final

from dflash_build import layout, trim

if TYPE_CHECKING:
    from pathlib import Path

_SELF_TEST_SECONDS: Final = 180
_LARGEST: Final = 3
_FORBIDDEN: Final = ("PySide6.QtQml", "torch", "tkinter", "pytest", "openvino_telemetry")
_RUNTIME_OF_WINDOWS: Final = ("vcruntime140.dll", "vcruntime140_1.dll", "msvcp140.dll")


def executable(folder: Path, name: str) -> Path:
    """The path of one of the program's executables."""
    return folder / (f"{name}.exe" if sys.platform == "win32" else name)


def layout_problems(folder: Path) -> list[str]:
    """What is missing, and what is there and should not be."""
    inside = folder / layout.INSIDE
    needed = [executable(folder, layout.WINDOW), executable(folder, layout.ENGINE)]
    needed += [folder / layout.LICENCES / "Qt and PySide6.txt", inside / "source"]
    needed += [inside / "dflash_desktop" / "_resources" / "catalogue.json"]
    if sys.platform == "win32":
        needed += [folder / f"{layout.WINDOW}.com"]
        # A program that needs no rights to install cannot install Microsoft's runtime (case 100).
        needed += [inside / name for name in _RUNTIME_OF_WINDOWS]
    problems = [f"missing: {path.relative_to(folder)}" for path in needed if not path.exists()]
    for path in sorted(inside.rglob("*")):
        place = path.relative_to(inside).as_posix()
        if path.is_symlink() and not path.exists():
            problems.append(f"leads nowhere: {place}")
        elif path.is_file() and (why := trim.reason_to_drop(place)):
            problems.append(f"should not be here: {place} ({why})")
    problems += [f"should not be here: {name}" for name in _FORBIDDEN if (inside / name).exists()]
    return problems


def self_test_problems(folder: Path) -> list[str]:
    """What the program says of itself, with a home of its own; an empty list when all is well."""
    with tempfile.TemporaryDirectory() as home:
        words = ["self-test", "--json"]
        done = subprocess.run(
            [str(executable(folder, layout.WINDOW)), *words],
            env={**os.environ, "DFLASH_HOME": home},
            capture_output=True,
            timeout=_SELF_TEST_SECONDS,
            check=False,
        )
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return [f"the self-test says nothing: {done.returncode} {done.stderr.decode()[-2000:]}"]
    failed = [check for check in said["checks"] if not check["passed"]]
    return [f"self-test: {check['code']}: {check['detail']}" for check in failed]


def size_report(folder: Path) -> str:
    """The whole and its largest parts, in MB."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    sizes = {path: path.stat().st_size for path in files}
    total = sum(sizes.values()) / 1e6
    largest = sorted(sizes, key=lambda path: -sizes[path])[:_LARGEST]
    parts = ", ".join(f"{path.name} {sizes[path] / 1e6:.1f} MB" for path in largest)
    return f"{folder.name}: {total:.1f} MB in {len(files)} files; largest: {parts}"
