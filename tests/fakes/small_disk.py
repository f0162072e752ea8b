"""A disk so small that a test can fill it; only root may mount one."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

needs_small_disk = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="needs a small disk"
)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """While this is open the folder is a disk of this size, in words of `mount`: "8M"."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("only root may mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
