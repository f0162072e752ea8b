"""What it means that a driver refused one piece of memory: too large a tensor, or a bug."""

from __future__ import annotations

import re
from typing import Final

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.units import format_bytes

_NUMBERS: Final = re.compile(
    r"requested (?P<wanted>\d{1,24}) bytes(?:.{0,80}?device is (?P<limit>\d{1,24}) bytes)?",
    re.DOTALL,
)
_ABSURD_BYTES: Final = 2**42
"""4 TB: no tensor of any model is that large, and 2.3e18 was seen (genai#2406)."""


def allocation_problem(raw: str) -> Problem | None:
    """The sentence with its numbers; None where the text has none (case 59)."""
    numbers = _NUMBERS.search(raw)
    if numbers is None:
        return None
    wanted, limit = int(numbers["wanted"]), int(numbers["limit"] or 0)
    if wanted >= _ABSURD_BYTES:
        return Problem(
            code="gpu_allocation_absurd",
            headline="The runtime asked the graphics for an impossible amount of memory.",
            advice="This is a fault of the runtime or the driver, not a lack of memory. Try again "
            "with a shorter conversation, without the draft, or on the CPU.",
            remedies=(Remedy.RETRY, Remedy.LOAD_WITHOUT_DRAFT, Remedy.USE_CPU),
        )
    gives = f", and this device gives {format_bytes(limit)} in one piece" if limit else ""
    return Problem(
        code="gpu_allocation_limit",
        headline=f"A larger piece of graphics memory is needed: {format_bytes(wanted)}{gives}.",
        advice="Choose a smaller model or one with 4-bit weights, send fewer or smaller pictures, "
        "or use the CPU. Closing programs does not help: it is a limit of the driver.",
        remedies=(Remedy.CHOOSE_MODEL, Remedy.USE_CPU),
    )
