"""Linux: a control group of our own for an export, where the system lets us make one.

Its limit holds against every fork and between two looks of the guard. Desktops with systemd give
a person's programs such groups; elsewhere the guard alone must do.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

_MOUNT: Final = Path("/sys/fs/cgroup")
_OWN: Final = Path("/proc/self/cgroup")
_HEADROOM_BYTES: Final = 256 << 20
"""The group counts the file cache too, and the guard shall be the one to stop it, with words."""


class MemoryGroup:
    """One control group, made by `make_memory_group`; all calls are harmless once it is gone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take_in(self, pid: int) -> bool:
        """Put a process and all that it starts from now on into the group; whether it worked."""
        try:
            (self._folder / "cgroup.procs").write_text(str(pid), "ascii")
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End every process in it at once, as far as this kernel can (from 5.14 on)."""
        with contextlib.suppress(OSError):
            (self._folder / "cgroup.kill").write_text("1", "ascii")

    def oom_kills(self) -> int:
        """How many processes the kernel ended at the group's limit."""
        with contextlib.suppress(OSError, ValueError):
            for line in (self._folder / "memory.events").read_text("ascii").splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count)
        return 0

    def remove(self) -> None:
        """Take the group away; it must be empty."""
        with contextlib.suppress(OSError):
            self._folder.rmdir()


def make_memory_group(
    name: str, limit_bytes: int, *, mount: Path = _MOUNT, own: Path = _OWN
) -> MemoryGroup | None:
    """A group with this limit, beside or below our own; None where the system allows none."""
    for parent in _parents(mount, own):
        folder = parent / name
        try:
            if "memory" not in (parent / "cgroup.subtree_control").read_text("ascii").split():
                continue
            folder.mkdir(exist_ok=True)
            limit = limit_bytes + _HEADROOM_BYTES
            (folder / "memory.max").write_text(str(limit), "ascii")
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            continue
        with contextlib.suppress(OSError):  # all of it or nothing; since 4.19
            (folder / "memory.oom.group").write_text("1", "ascii")
        return MemoryGroup(folder)
    return None


def _parents(mount: Path, own: Path) -> tuple[Path, ...]:
    """A group that holds processes can hold no others, so the place beside ours comes first."""
    try:
        lines = own.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ()
    path = next((line[3:] for line in lines if line.startswith("0::")), None)
    if path is None or not (mount / "cgroup.controllers").exists():
        return ()  # the first version of control groups: others manage those
    ours = mount / path.lstrip("/")
    return (ours.parent, ours) if ours != mount else (ours,)
