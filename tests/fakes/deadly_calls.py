"""A process that is killed at a given one of the calls by which it changes the disk.

The script of such a process makes `DeadlyCalls`, says by `watch` which calls count, and prints
`count` at its end; the test runs it once to count them, then once for each step to die at.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class DeadlyCalls:
    """Counts calls from 1 and ends this process, as `kill -9` does, at `die_at`; 0 is never."""

    def __init__(self, die_at: int = 0) -> None:
        self.count = 0
        self.die_at = die_at

    def watch(self, owner: object, *names: str) -> None:
        """Count these functions of a module, or methods of a class, from now on."""
        for name in names:
            setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            self.count += 1
            if self.count == self.die_at:
                os.kill(os.getpid(), 9)
            return original(*arguments, **options)

        return call


def run_script(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run this text in a process of its own that can import the program and the tests."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
