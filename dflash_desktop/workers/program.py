"""The one program of all worker processes: its first argument says which of them it becomes."""

from __future__ import annotations

import sys


def main() -> None:
    """`dflash-engine [engine|fetch|leash PROGRAM …|pictures|probe|self-test]`."""
    match sys.argv[1:2]:
        case ["fetch"]:
            from dflash_desktop.workers.fetch import main as run
        case ["leash"]:
            from dflash_desktop.workers.leash import main as run
        case ["pictures"]:
            from dflash_desktop.workers.pictures import main as run
        case ["probe"]:
            from dflash_desktop.workers.probe import main as run
        case ["self-test"]:
            from dflash_desktop.workers.self_test import main as run
        case _:
            from dflash_desktop.workers.engine import main as run
    run()
