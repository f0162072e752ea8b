"""What a model's card says, made from what is known about a pair."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.memory_parts import MemoryPart
from dflash_desktop.domain.units import format_bytes, format_seconds, format_speedup
from dflash_desktop.ui.models.library_words import SHORT_COMMIT, day_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.domain.starter import StarterPin


class CardState(StrEnum):
    """How far a pair is from answering; the value is shown beside its title."""

    AVAILABLE = ""
    LOADING = "loading"
    LOADED = "loaded"
    ABSENT = "folder not found"
    NOT_INSTALLED = "not installed"
    INSTALLING = "being installed"
    NEEDS_REPAIR = "needs repair"


@dataclass(frozen=True, slots=True)
class PairCardContent:
    """Everything on one card."""

    pair_id: str
    title: str
    note: str
    state: CardState
    facts: tuple[tuple[str, str], ...]  # name, value
    has_draft: bool = False
    is_own: bool = False  # added by the person, so it can be removed from the list
    parts: tuple[MemoryPart, ...] = ()  # of the memory for models; empty: not known
    usable_bytes: int = 0


def folder_facts(
    pair: PairFolders,
    target_bytes: int | None,
    draft_bytes: int | None,
    models: Mapping[Path, InstalledModel] | None = None,
    now: datetime | None = None,
) -> tuple[tuple[str, str], ...]:
    """The two models of a pair: where they came from if the library knows it, else where they are.

    `models` are those of the library by their folders.
    """
    known = {} if models is None else models
    draft = "none: the target answers alone"
    if pair.uses_own_head:
        draft = "the target's own head (MTP)"
    elif pair.draft_dir is not None:
        draft = _model_words(known.get(pair.draft_dir), pair.draft_dir, draft_bytes)
    target = known.get(pair.target_dir)
    facts = [
        ("Target", _model_words(target, pair.target_dir, target_bytes)),
        ("Draft", draft),
    ]
    if target is not None and now is not None:
        facts.append(
            ("Verified", _verified_words(target, known.get(pair.draft_dir or Path()), now))
        )
        if target.last_used_at is not None:
            facts.append(("Last used", day_words(target.last_used_at, now)))
    return tuple(facts)


def loaded_facts(pair: LoadedPair) -> tuple[tuple[str, str], ...]:
    """What the engine found out about the pair that it holds."""
    device = pair.device_name if pair.device == "CPU" else f"{pair.device} {pair.device_name}"
    facts = [
        ("Runs on", device),
        (
            "Memory",
            f"KV cache {pair.kv_cache_precision.value}, context {pair.context_tokens:,} tokens",
        ),
        ("Loaded in", format_seconds(pair.load_seconds)),
    ]
    if pair.draft is not None:
        layers, most = len(pair.draft.target_layer_ids), pair.draft.block_size - 1
        facts.append(
            ("Proposes", f"up to {most} tokens a step, from {layers} layers of the target")
        )
    return tuple(facts)


def measured_fact(report: BenchReport | None) -> tuple[str, str]:
    """What the draft was measured to be worth with the loaded pair."""
    if report is None:
        return ("Measured", "not yet on this device")
    when = f"{report.measured_at.astimezone():%d %b %Y}"
    if report.chosen.assistant_tokens == 0:
        return ("Measured", f"the draft stays off here: it does not pay ({when})")
    tokens = report.chosen.assistant_tokens
    return (
        "Measured",
        f"{format_speedup(report.chosen.speedup)} with {tokens} assistant tokens ({when})",
    )


def starter_note(pin: StarterPin, *, is_installed: bool) -> str:
    """What a person should know before using the starter model."""
    size = "" if is_installed else f"{format_bytes(pin.size_bytes)} to download, "
    licence = f"{size}licence {pin.licence}."
    return (
        "The starter model. It is small, for trying the program: quick, but it knows little and "
        f"often gets things wrong. {licence[:1].upper()}{licence[1:]}"
    )


def _model_words(model: InstalledModel | None, folder: Path, weight_bytes: int | None) -> str:
    if model is None:
        size = "" if weight_bytes is None else f" ({format_bytes(weight_bytes)})"
        return f"{folder}{size}"
    parts = (
        model.id,
        model.manifest.precision,
        model.manifest.commit[:SHORT_COMMIT],
        format_bytes(model.manifest.size_bytes),
    )
    return " · ".join(part for part in parts if part)


def _verified_words(target: InstalledModel, draft: InstalledModel | None, now: datetime) -> str:
    """The older of the two counts."""
    times = [m.manifest.verified_at for m in (target, draft) if m is not None]
    known = [time for time in times if time is not None]
    return day_words(min(known), now) if len(known) == len(times) else "not all of it yet"
