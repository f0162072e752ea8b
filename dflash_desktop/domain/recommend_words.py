"""Why a pair is recommended, and what is missing before it runs, in words for people."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from dflash_desktop.domain.catalogue import ModelKind
from dflash_desktop.domain.units import format_bytes, format_rate, format_speedup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.memory_budget import MemoryBudget


@cache
def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a version for comparing: (2026, 4, 1) for "2026.4.1.0-21000-abc"."""
    numbers = []
    for part in version.split("-")[0].split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


def missing_parts(
    pair: CataloguePair,
    *,
    runtime: str,
    can_draft: bool,
    can_run_kind: bool,
    lacking_bytes: int,
    piece_bytes: int | None = None,
) -> tuple[str, ...]:
    """Everything that keeps the pair from running here today; empty if nothing does.

    `piece_bytes` is the size of a tensor for which the device has no single piece of memory.
    """
    missing = list(_missing_parts(pair, runtime, can_draft, can_run_kind, lacking_bytes))
    if piece_bytes is not None:
        missing.append(f"graphics that give {format_bytes(piece_bytes)} of memory in one piece")
    return tuple(missing)


def _missing_parts(
    pair: CataloguePair, runtime: str, can_draft: bool, can_run_kind: bool, lacking_bytes: int
) -> Iterator[str]:
    if lacking_bytes > 0:
        yield f"{format_bytes(lacking_bytes)} more memory"
    wanted = pair.requires.runtime
    if not runtime:
        yield f"OpenVINO GenAI {wanted} or newer"
    elif version_key(runtime) < version_key(wanted):
        here = ".".join(str(number) for number in version_key(runtime)[:3])
        yield f"OpenVINO GenAI {wanted} or newer (here: {here})"
    if pair.draft is not None and not can_draft:
        yield f"support for {pair.draft.kind.label} drafts in this program"
    if not can_run_kind:
        yield _KIND_WORDS[pair.target.kind]
    to_export = [
        "the target" if not pair.target.is_prebuilt else "",
        "the draft" if pair.draft is not None and not pair.draft.is_prebuilt else "",
    ]
    if any(to_export):
        yield f"an export to OpenVINO of {' and '.join(part for part in to_export if part)}"


_KIND_WORDS = {
    ModelKind.TEXT: "support for text models in this program",
    ModelKind.VISION: "support for models that see pictures in this program",
    ModelKind.IMAGE: "the Images page: it makes pictures and does not chat",
}


def reasons_for(
    pair: CataloguePair,
    budget: MemoryBudget | None,
    *,
    spare_bytes: int | None,
    is_tight: bool,
    is_slow: bool,
) -> tuple[str, ...]:
    """What speaks for and against the pair: memory first, then what it can do and how fast."""
    return tuple(_reasons(pair, budget, spare_bytes, is_tight, is_slow))


def _reasons(
    pair: CataloguePair,
    budget: MemoryBudget | None,
    spare_bytes: int | None,
    is_tight: bool,
    is_slow: bool,
) -> Iterator[str]:
    if budget is None or spare_bytes is None:
        yield "its size is not known"
    else:
        yield _memory_words(budget, spare_bytes, is_tight)
        if budget.is_estimated:
            yield "the size is estimated from the number of parameters"
    if pair.target.kind is ModelKind.VISION:
        yield "sees pictures"
    if pair.target.content_label:
        yield pair.target.content_label
    if pair.target.is_base:
        yield "a base model: it continues texts and is not trained to answer"
    if pair.draft is None:
        yield "no DFlash draft is known for it"
    measured = pair.best_measurement
    if measured is not None:
        speedup, rate = measured.speedup, measured.tokens_per_second
        told = [
            "" if speedup is None else format_speedup(speedup),
            "" if rate is None else format_rate(rate),
        ]
        speeds = ", ".join(words for words in told if words)
        yield f"draft {speeds}, measured by others on {measured.hardware}"
    if is_slow:
        yield "answers slowly on this device, which is made for smaller models"
    if pair.note:
        yield pair.note


def _memory_words(budget: MemoryBudget, spare_bytes: int, is_tight: bool) -> str:
    context = f"at {_context_words(budget.context_tokens)} of context"
    if spare_bytes < 0:
        return (
            f"too big: needs {format_bytes(budget.needed_bytes)} {context}, "
            f"{format_bytes(-spare_bytes)} more than there are"
        )
    fits = "fits, but barely," if is_tight else "fits"
    return f"{fits} with {format_bytes(spare_bytes)} to spare {context}"


def _context_words(tokens: int) -> str:
    return f"{tokens // 1024}k tokens" if tokens % 1024 == 0 else f"{tokens} tokens"
