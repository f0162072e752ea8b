"""What a model's card says, made from what is known about a pair."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from dflash_desktop.domain.memory_parts import MemoryPart
from dflash_desktop.domain.units import format_bytes, format_seconds, format_speedup

if TYPE_CHECKING:
    from dflash_desktop.domain.benchmark import BenchReport
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
    pair: PairFolders, target_bytes: int | None, draft_bytes: int | None
) -> tuple[tuple[str, str], ...]:
    """Where the two models of a pair are, and how large."""
    draft = "none: the target answers alone"
    if pair.draft_dir is not None:
        draft = _folder_words(str(pair.draft_dir), draft_bytes)
    return (("Target", _folder_words(str(pair.target_dir), target_bytes)), ("Draft", draft))


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


def starter_note(pin: StarterPin) -> str:
    """What a person should know before using the starter model."""
    return (
        "The starter model. It is small, for trying the program: quick, but it knows little and "
        f"often gets things wrong. {format_bytes(pin.size_bytes)} to download, licence "
        f"{pin.licence}."
    )


def _folder_words(folder: str, weight_bytes: int | None) -> str:
    return folder if weight_bytes is None else f"{folder} ({format_bytes(weight_bytes)})"
