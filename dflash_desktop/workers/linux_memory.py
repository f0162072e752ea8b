"""What Linux knows of one process's memory: what is its own, and what lies on graphics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_KIB: Final = 1024
_OWN: Final = ("RssAnon", "RssShmem")
_VIDEO_MEMORY: Final = "vram"


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """Bytes; files that are mapped are not in them, since the system takes those back at will."""

    own_bytes: int
    on_card_bytes: int = 0
    of_system_on_gpu_bytes: int = 0  # built-in graphics: the system's memory, not in `own_bytes`


def process_memory(pid: int, root: Path = Path("/")) -> ProcessMemory | None:
    """The memory of one process now; None if it is gone or not ours."""
    folder = root / "proc" / str(pid)
    own = kib_fields(folder / "status", _OWN)
    if own is None:
        return None
    card, system = _on_graphics(folder / "fdinfo")
    return ProcessMemory(own, card, system)


def kib_fields(status: Path, names: tuple[str, ...]) -> int | None:
    """The sum of these fields of a file of /proc in bytes; None if it has none of them."""
    fields = byte_fields(status)
    found = [fields[name] for name in names if name in fields]
    return sum(found) if found else None


def byte_fields(file: Path) -> dict[str, int]:
    """All "Name: 123 kB" of a file of /proc in bytes; none of one that cannot be read."""
    return {name: _bytes(value) for name, value in _fields(file).items()}


def _on_graphics(folder: Path) -> tuple[int, int]:
    """Of each client of a driver once (docs.kernel.org/gpu/drm-usage-stats.html).

    Each open file of a client tells the same.
    """
    clients: dict[tuple[str, str], dict[str, str]] = {}
    try:
        files = list(folder.iterdir())
    except OSError:
        return 0, 0
    for file in files:
        fields = _fields(file)
        if "drm-client-id" in fields:
            clients[fields.get("drm-pdev", ""), fields["drm-client-id"]] = fields
    card = system = 0
    for fields in clients.values():
        regions = {
            name.removeprefix("drm-resident-"): _bytes(value)
            for name, value in fields.items()
            if name.startswith("drm-resident-")
        }
        on_card = sum(size for name, size in regions.items() if name.startswith(_VIDEO_MEMORY))
        card += on_card
        system += sum(regions.values()) - on_card
    return card, system


def _fields(file: Path) -> dict[str, str]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def _bytes(text: str) -> int:
    number, _, unit = text.partition(" ")
    if not number.isdecimal() or len(number) > 18:
        return 0
    return int(number) * {"kB": _KIB, "KiB": _KIB, "MiB": _KIB**2}.get(unit.strip(), 1)
