"""The program's door: without arguments the window, else the command line.

Each is imported only when it is wanted: the commands work where Qt is missing, and the window
does not wait for what it never uses.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path


def main() -> int:
    """Run the program with this process's arguments and return its exit code."""
    # In a frozen program a library that starts a process with multiprocessing comes back here.
    multiprocessing.freeze_support()
    _have_streams()
    try:
        return _window_or_command(sys.argv[1:])
    except KeyboardInterrupt:  # before there was anything to clean up
        return 130


def _have_streams() -> None:
    """A windowed program of Windows has none, so that the first print would end it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the very end
            setattr(sys, name, nowhere)


def _window_or_command(arguments: list[str]) -> int:
    if arguments == ["window-self-test"]:
        from dflash_desktop.app import self_test

        return self_test.main()
    if arguments and not _are_files(arguments):
        from dflash_desktop import cli

        return cli.main(arguments)
    from dflash_desktop import app

    return app.main(arguments)


def _are_files(arguments: list[str]) -> bool:
    """What a desktop passes to "open with" is an absolute path, and no command is one."""
    return all(Path(argument).is_absolute() for argument in arguments)


if __name__ == "__main__":
    sys.exit(main())
