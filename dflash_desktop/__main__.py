"""The program's door: without arguments the window, else the command line.

Each is imported only when it is wanted: the commands work where Qt is missing, and the window
does not wait for what it never uses.
"""

from __future__ import annotations

import multiprocessing
import sys


def main() -> int:
    """Run the program with this process's arguments and return its exit code."""
    # In a frozen program a library that starts a process with multiprocessing comes back here.
    multiprocessing.freeze_support()
    arguments = sys.argv[1:]
    if arguments:
        from dflash_desktop import cli

        return cli.main(arguments)
    from dflash_desktop import app

    return app.main()


if __name__ == "__main__":
    sys.exit(main())
