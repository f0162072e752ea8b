"""Writes packaging/requirements.txt anew: every package of the built program, with its hashes.

One list for Linux and Windows and for each Python that is allowed; what belongs to one of them
alone says so. Needs `uv`, which the extra "package" brings, and the package index.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).parents[1]
LOCK: Final = _REPOSITORY / "packaging" / "requirements.txt"


def main(arguments: list[str]) -> int:
    """`--upgrade` takes newer releases; else only what pyproject.toml demands is changed."""
    words = [
        *("pip", "compile", "--universal", "--generate-hashes", "--python-version", "3.11"),
        *("--extra", "package", "--no-header", "--no-annotate", "--no-emit-index-url"),
        *("--quiet", "--output-file", str(LOCK), *arguments),
        str(_REPOSITORY / "pyproject.toml"),
    ]
    return subprocess.run([sys.executable, "-m", "uv", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
