"""What the setup says about a machine and its findings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.engine_words import short_device_name

if TYPE_CHECKING:
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.problems import Problem

_ADDED_BY_OPENVINO: Final = re.compile(r" ?\([di]GPU\)$")
_COMMAND_MARK: Final = "Run: "
_LINK: Final = re.compile(r"https://[^\s)>\"]+")
_GIB: Final = 2**30
_BOX_SIZES: Final = (4, 6, 8, 10, 12, 16, 18, 20, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512)
_LEAST_SHARE: Final = 0.93


@dataclass(frozen=True, slots=True)
class FindingWords:
    """A finding taken apart: what to do, a command to copy, what then, a page to open."""

    advice: str
    command: str = ""
    afterwards: str = ""
    link: str = ""


def finding_words(problem: Problem) -> FindingWords:
    """The command stands alone on a line of the advice, the link in the source of the finding."""
    before: list[str] = []
    after: list[str] = []
    command = ""
    for line in problem.advice.splitlines():
        if line.startswith(_COMMAND_MARK) and not command:
            command = line.removeprefix(_COMMAND_MARK)
        else:
            (after if command else before).append(line)
    link = _LINK.search(problem.detail)
    return FindingWords(
        advice=" ".join(before) or ("Run this in a terminal:" if command else ""),
        command=command,
        afterwards=" ".join(after),
        link=link.group() if link else "",
    )


def people_name(device_name: str) -> str:
    """As it stands on the box: "Intel Arc 140V"."""
    plain = short_device_name(_ADDED_BY_OPENVINO.sub("", device_name))
    is_intel = "intel" in device_name.lower()
    if plain.startswith("["):  # the driver knows only the number
        return f"Intel graphics {plain}"
    return f"Intel {plain}" if is_intel and not plain.lower().startswith("intel") else plain


def machine_sentence(report: HardwareReport, pool: MemoryPool) -> str:
    """One sentence: "Intel Arc 140V, 32 GB shared; about 22 GB for models."."""
    size = _box_size(pool.total_bytes)
    if pool.kind is PoolKind.CARD and pool.gpu is not None:
        what = f"{people_name(pool.gpu.name)}, {size} of its own"
    elif pool.kind is PoolKind.SHARED and pool.gpu is not None:
        what = f"{people_name(pool.gpu.name)}, {size} shared"
    else:
        what = f"{people_name(report.cpu) if report.cpu else 'The processor'}, {size} of memory"
    if pool.usable_bytes <= 0:
        return f"{what}; at this moment none of it is left for a model."
    return f"{what}; about {_about(pool.usable_bytes)} for models."


def sum_words(pool: MemoryPool) -> str:
    """Why the parts are more than what the sentence says; empty where it says the same."""
    size = format_bytes(pool.total_bytes)
    if _box_size(pool.total_bytes) == _about(pool.total_bytes):
        return ""
    return (
        f"{size} in all: a GB here is a billion bytes, as everywhere in this program. Memory is "
        "sold in slightly larger units."
    )


def _box_size(count: int) -> str:
    """What the maker prints on the box, of which firmware and graphics keep a little."""
    gib = count / _GIB
    printed = next((size for size in _BOX_SIZES if size * _LEAST_SHARE <= gib <= size), None)
    return _about(count) if printed is None else f"{printed} GB"


def _about(count: int) -> str:
    return f"{count / 1e9:.0f} GB" if count >= 9.5e9 else f"{count / 1e9:.1f} GB"
