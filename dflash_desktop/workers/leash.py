"""Becomes another program that ends with its parent: for those that know nothing of it.

`python -m dflash_desktop.workers.leash PROGRAM ARGUMENT…`, on Linux only: what asks the kernel to
be ended with its parent keeps that when it becomes another program.
"""

from __future__ import annotations

import os
import sys

from dflash_desktop.workers.no_internet import forbid_internet, is_network_forbidden
from dflash_desktop.workers.parent import end_with_parent


def main() -> None:
    """Never returns, unless the program cannot be started."""
    # A frozen worker is told what it is by its first argument.
    argv = sys.argv[2:] if getattr(sys, "frozen", False) else sys.argv[1:]
    if is_network_forbidden():
        forbid_internet()
    end_with_parent()
    os.execvp(argv[0], argv)  # noqa: S606 - there shall be no shell


if __name__ == "__main__":
    main()
