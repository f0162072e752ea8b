"""The folder as an AppImage: one file that is made executable and started."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from typing import TYPE_CHECKING

from dflash_build import icons, layout, linux_files

if TYPE_CHECKING:
    from pathlib import Path

_START = """\
#!/bin/sh
# What the AppImage runs after it was mounted: everything is beside this file.
exec "$(dirname "$(readlink -f "$0")")/usr/lib/{name}/{name}" "$@"
"""


def write(folder: Path, out_dir: Path, name: str) -> Path:
    """Needs `appimagetool` on the PATH. Raises `FileNotFoundError` with what to do without it."""
    tool = shutil.which("appimagetool")
    if tool is None:
        raise FileNotFoundError(
            "appimagetool is not on the PATH. It comes from the AppImage project and fetches its "
            "own runtime from there, so this step needs a network the first time."
        )
    root = lay_out(folder, folder.parent / "AppDir")
    target = out_dir / f"{name}-{platform.machine()}.AppImage"
    subprocess.run(
        [tool, "--no-appstream", str(root), str(target)],
        env={**os.environ, "ARCH": platform.machine()},
        check=True,
    )
    return target


def lay_out(folder: Path, root: Path) -> Path:
    """The tree that appimagetool packs, below `root`, which is made anew."""
    shutil.rmtree(root, ignore_errors=True)
    program = root / "usr" / "lib" / layout.PACKAGE_NAME
    program.parent.mkdir(parents=True)
    shutil.copytree(folder, program, symlinks=True, copy_function=os.link)
    linux_files.write_share(root / "usr" / "share")
    start = root / "AppRun"
    start.write_text(_START.format(name=layout.PACKAGE_NAME), encoding="utf-8")
    start.chmod(0o755)
    desktop = f"{layout.PACKAGE_NAME}.desktop"
    shutil.copy2(root / "usr" / "share" / "applications" / desktop, root / desktop)
    icon = icons.png(256)
    (root / f"{layout.PACKAGE_NAME}.png").write_bytes(icon)
    (root / ".DirIcon").write_bytes(icon)
    return root
