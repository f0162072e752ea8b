"""Linux: the processes below one, and what memory they take together, each shared page once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from dflash_desktop.workers.linux_memory import kib_fields

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_QUICK: Final = ("RssAnon", "RssShmem", "VmSwap")
_EXACT: Final = ("Pss_Anon", "Pss_Shmem", "SwapPss")
"""Files that are mapped are in neither: the system takes those back at will."""


def descendants(pid: int, proc: Path) -> tuple[int, ...]:
    """All processes below `pid`, without itself; those that ended and wait to be read, too.

    By what each thread started, which costs little on a machine with many processes. Where the
    kernel does not tell that, by looking at all of them.
    """
    try:
        return _by_threads(pid, proc)
    except FileNotFoundError:
        return _by_parents(pid, proc)


def quick_bytes(pids: Iterable[int], proc: Path) -> int:
    """Their memory with what they share counted for each: never less than they take."""
    return sum(kib_fields(proc / str(pid) / "status", _QUICK) or 0 for pid in pids)


def exact_bytes(pids: Iterable[int], proc: Path) -> int:
    """Their memory with what they share counted once; reads their page tables, so it is slower.

    Where the system does not tell that of a process, it counts as in `quick_bytes`.
    """
    total = 0
    for pid in pids:
        found = kib_fields(proc / str(pid) / "smaps_rollup", _EXACT)
        total += quick_bytes((pid,), proc) if found is None else found
    return total


def thread_ids(pid: int, proc: Path) -> tuple[int, ...]:
    """The threads of a process; none of one that is gone."""
    with suppress(OSError):
        return tuple(int(thread.name) for thread in (proc / str(pid) / "task").iterdir())
    return ()


def _by_threads(pid: int, proc: Path) -> tuple[int, ...]:
    if not (proc / str(pid) / "task" / str(pid) / "children").exists():
        raise FileNotFoundError("this kernel lists no children")
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for thread in thread_ids(parent, proc):
            with suppress(OSError):
                file = proc / str(parent) / "task" / str(thread) / "children"
                children = [int(word) for word in file.read_text("ascii").split()]
                new = [child for child in children if child not in found]
                found += new
                waiting += new
    return tuple(found)


def _by_parents(pid: int, proc: Path) -> tuple[int, ...]:
    children: dict[int, list[int]] = {}
    for folder in proc.iterdir():
        if folder.name.isdecimal() and (parent := _parent_of(folder)) is not None:
            children.setdefault(parent, []).append(int(folder.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return tuple(found)


def _parent_of(folder: Path) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        # The name, in brackets, may hold spaces and brackets itself.
        after_name = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2]
        return int(after_name.split()[1])
    return None
