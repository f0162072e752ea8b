"""Runs a program in which every process that opens an internet socket is ended by the kernel.

`python -m tests.fakes.without_internet PROGRAM ARGUMENT…`; nothing that is started below can get
out of it.
"""

from __future__ import annotations

import os
import sys

from dflash_desktop.workers.no_internet import forbid_internet

EXIT_NOT_HELD = 99


def main() -> None:
    if not forbid_internet(kills=True):
        sys.exit(EXIT_NOT_HELD)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - the arguments are the program


if __name__ == "__main__":
    main()
