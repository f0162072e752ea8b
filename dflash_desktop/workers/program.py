"""The one program of all worker processes: its first argument says which of them it becomes."""

from __future__ import annotations

import sys


def main() -> None:
    """`dflash-engine [engine|fetch|guard|leash PROGRAM …|pictures|pip …|probe|self-test]`."""
    match sys.argv[1:2]:
        case ["fetch"]:
            from dflash_desktop.workers.fetch import main as run
        case ["leash"]:
            from dflash_desktop.workers.leash import main as run
        case ["pictures"]:
            from dflash_desktop.workers.pictures import main as run
        case ["probe"]:
            from dflash_desktop.workers.probe import main as run
        case ["guard"]:
            from dflash_desktop.workers.export_guard import main as run
        case ["pip"]:
            # A frozen program has no Python that could be asked for "-m pip".
            sys.exit(_pip(sys.argv[2:]))
        case ["self-test"]:
            from dflash_desktop.workers.self_test import main as run
        case _:
            from dflash_desktop.workers.engine import main as run
    run()


def _pip(arguments: list[str]) -> int:
    from pip._internal.cli.main import main as pip

    return int(pip(arguments))
