"""From a checkout to a folder that runs without Python: PyInstaller, and what it leaves to us."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dflash_build import icons, layout, papers, starter, version_info
from dflash_build.elf import clear_foreign_paths

_STRIPPED: Final = "libpython3*"
"""A Python that was built by hand carries 17 MB of names for debuggers; others have none."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What a built folder holds beyond the program itself."""

    with_starter: bool = False
    with_tools: bool = True

    @property
    def suffix(self) -> str:
        """For the names of files."""
        return "-with-starter" if self.with_starter else ""


def freeze(build_dir: Path, variant: Variant) -> Path:
    """Build the program's folder below `build_dir` and return it; an old one is replaced.

    Runs in the Python that has everything installed. Raises `subprocess.CalledProcessError`.
    """
    work = build_dir / "work"
    work.mkdir(parents=True, exist_ok=True)
    icons.write_all(work / "icons")
    version_info.write_all(work)
    folder = _run_pyinstaller(build_dir, work)
    if sys.platform == "win32":
        _name_console_twin(folder)
    else:
        _strip(folder)
        for library in (folder / layout.INSIDE).rglob("*.so*"):
            if library.is_file() and not library.is_symlink():
                clear_foreign_paths(library)
    papers.write_all(folder)
    if variant.with_tools:
        _add_tools(folder)
    if variant.with_starter:
        starter.add(folder)
    return folder


def _run_pyinstaller(build_dir: Path, work: Path) -> Path:
    subprocess.run(
        [
            *(sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
            *("--distpath", str(build_dir), "--workpath", str(work)),
            str(layout.PACKAGING / "dflash.spec"),
        ],
        env={
            **os.environ,
            "DFLASH_BUILD_DIR": str(work),
            # The same bytes from the same input: sets are ordered by hashes of their names.
            "PYTHONHASHSEED": "0",
            "SOURCE_DATE_EPOCH": str(layout.source_date()),
        },
        check=True,
    )
    return build_dir / layout.PACKAGE_NAME


def _name_console_twin(folder: Path) -> None:
    """A terminal tries .com before .exe, so commands print there, and icons start the window."""
    (folder / f"{layout.WINDOW}-console.exe").replace(folder / f"{layout.WINDOW}.com")


def _strip(folder: Path) -> None:
    if shutil.which("strip") is None:
        return
    for library in (folder / layout.INSIDE).glob(_STRIPPED):
        if not library.is_symlink():
            subprocess.run(["strip", "--strip-unneeded", str(library)], check=True)


def _add_tools(folder: Path) -> None:
    """`uv` makes export environments; a machine without Python has nothing else that could."""
    from importlib.metadata import files

    name = "uv.exe" if sys.platform == "win32" else "uv"
    found = [Path(str(file.locate())) for file in files("uv") or () if file.name == name]
    if not found:
        raise FileNotFoundError('uv is not installed: pip install ".[package]"')
    tools = folder / layout.TOOLS
    tools.mkdir()
    shutil.copy2(found[0], tools / name)
