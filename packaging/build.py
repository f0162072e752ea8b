"""Builds what people download: `python packaging/build.py [folder|archive|deb|…]`.

One command on each system, the same here and in CI. It makes an environment of exactly the
packages in packaging/requirements.txt (checked by their hashes), freezes the program there, tests
the frozen program, and packs it. `--here` takes the Python that runs this instead, as tests do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_REPOSITORY: Final = Path(__file__).parents[1]
_LOCK: Final = _REPOSITORY / "packaging" / "requirements.txt"
_KINDS: Final = {
    "linux": ("folder", "archive", "deb", "appimage"),
    "win32": ("folder", "archive", "installer"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 when everything that was asked for was built and tested."""
    args = _parser().parse_args(arguments)
    if not args.here:
        python = _locked_environment(args.build_dir / "environment")
        again = [str(python), __file__, "--here", *(arguments or sys.argv[1:])]
        return subprocess.run(again, check=False).returncode
    from dflash_build.products import build

    kinds = args.kinds or [kind for kind in _KINDS[sys.platform] if kind != "appimage"]
    return build(
        kinds,
        build_dir=args.build_dir.absolute(),
        out_dir=args.out_dir.absolute(),
        with_starter=args.with_starter,
        base_url=args.base_url,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument(
        "kinds",
        nargs="*",
        choices=_KINDS.get(sys.platform, ("folder",)),
        help="what to build; all but the AppImage without it, which needs appimagetool",
    )
    parser.add_argument(
        "--with-starter", action="store_true", help="for machines without a network"
    )
    parser.add_argument("--here", action="store_true", help="use the Python that runs this")
    parser.add_argument("--base-url", default="", help="where installers will be, for winget")
    parser.add_argument("--build-dir", type=Path, default=_REPOSITORY / "build")
    parser.add_argument("--out-dir", type=Path, default=_REPOSITORY / "dist")
    return parser


def _locked_environment(folder: Path) -> Path:
    """An environment of the locked packages alone; made anew when the lock changes."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "lock"
    if not done.exists() or done.read_bytes() != _LOCK.read_bytes():
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "--requirement", str(_LOCK)], check=True)
        done.write_bytes(_LOCK.read_bytes())
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--editable", str(_REPOSITORY)], check=True)
    return python


if __name__ == "__main__":
    sys.exit(main())
