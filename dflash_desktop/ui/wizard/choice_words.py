"""What a card of a pair says in the setup, made from a recommendation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.catalogue import ModelKind
from dflash_desktop.domain.export_pairs import request_to_export
from dflash_desktop.domain.memory_parts import MemoryPart, parts_of_budget
from dflash_desktop.domain.pair_sizes import catalogue_sizes
from dflash_desktop.domain.recommend import Verdict
from dflash_desktop.domain.starter import STARTER_PAIR_ID
from dflash_desktop.domain.units import format_bytes, format_rate, format_speedup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.recommend import Recommendation
    from dflash_desktop.domain.starter import StarterPin

_HUB: Final = "https://huggingface.co/"
_SIZES: Final = (
    (1_000_000_000, "Small: shows how the program works, and often gets things wrong."),
    (3_500_000_000, "Quick answers to simple questions, also on small machines."),
    (6_000_000_000, "Everyday questions, summaries and short texts, quickly."),
    (15_000_000_000, "A good all-rounder: longer texts, explanations and code."),
)
_INSTALLED: Final = "Is installed already"
_LARGE: Final = "For demanding questions, long texts and code."


@dataclass(frozen=True, slots=True)
class ChoiceContent:
    """Everything on one card; `why_not` says why it cannot be got now, else it is empty."""

    pair_id: str
    title: str
    good_at: str
    badges: tuple[str, ...]
    parts: tuple[MemoryPart, ...]
    usable_bytes: int
    fit: str
    speed: str  # other people's, with their hardware
    origin: str  # size, licence and where it comes from
    reasons: tuple[str, ...]
    why_not: str = ""
    link: str = ""  # the target's page on the hub
    is_too_big: bool = False
    can_be_exported: bool = False  # which is all that keeps it from being had

    @property
    def is_starter(self) -> bool:
        """Whether it is the pair that every machine can try."""
        return self.pair_id == STARTER_PAIR_ID


def choice_content(
    one: Recommendation, *, usable_bytes: int, is_installed: bool = False
) -> ChoiceContent:
    """The card of a recommendation; what is here already is not said to be downloaded."""
    pair, budget = one.pair, one.budget
    parts = () if budget is None else parts_of_budget(budget, usable_bytes)
    repository = pair.target.repository
    return ChoiceContent(
        pair_id=pair.id,
        title=pair.title,
        good_at=_good_at(pair),
        badges=tuple(_badges(pair)),
        parts=parts,
        usable_bytes=usable_bytes,
        fit=_fit(one),
        speed=_speed(pair),
        origin=_origin(one, is_installed=is_installed),
        reasons=(*_upper(one.reasons), *(f"Missing: {part}" for part in one.missing)),
        why_not=_why_not(one),
        link=f"{_HUB}{repository}" if repository else "",
        is_too_big=one.verdict is Verdict.TOO_BIG,
        can_be_exported=_can_be_exported(one),
    )


def starter_content(
    pin: StarterPin, judged: Recommendation | None, *, usable_bytes: int, is_installed: bool
) -> ChoiceContent:
    """The card of the starter pair, which any machine can try at once."""
    budget = None if judged is None else judged.budget
    size = _INSTALLED if is_installed else f"{format_bytes(pin.size_bytes)} to download"
    return ChoiceContent(
        pair_id=STARTER_PAIR_ID,
        title=f"{pin.title}: try at once",
        good_at=(
            "Shows the program and its draft at work within a minute or two. It knows little, "
            "and you can take a larger one at any time."
        ),
        badges=(),
        parts=() if budget is None else parts_of_budget(budget, usable_bytes),
        usable_bytes=usable_bytes,
        fit="" if judged is None else _fit(judged),
        speed="",
        origin=f"{size} · licence {pin.licence} · needs no account",
        reasons=() if judged is None else _upper(judged.reasons),
        link=pin.source_url if pin.source_url.startswith("https://") else "",
    )


def _good_at(pair: CataloguePair) -> str:
    if pair.target.kind is ModelKind.IMAGE:
        return "Makes pictures from words."
    if pair.target.is_base:
        return "Continues a text that you begin; it is not trained to answer questions."
    size = pair.target.parameters
    words = next((text for limit, text in _SIZES if size is not None and size < limit), _LARGE)
    if pair.target.active_parameters:
        words += " Uses a part of itself for each word, so it is quick for its size."
    return words


def _badges(pair: CataloguePair) -> Iterator[str]:
    if pair.target.kind is ModelKind.VISION:
        yield "vision"
    if pair.target.content_label:
        yield pair.target.content_label
    if pair.target.is_base:
        yield "base model"
    if pair.draft is None:
        yield "no draft"
    if not pair.is_prebuilt:
        yield "needs export"


def _fit(one: Recommendation) -> str:
    if one.needed_bytes is None or one.spare_bytes is None:
        return "Its size is not known"
    if one.spare_bytes < 0:
        return (
            f"Too big: needs {format_bytes(one.needed_bytes)}, "
            f"{format_bytes(-one.spare_bytes)} more than there are"
        )
    how = "Fits, but barely: " if one.verdict is Verdict.TIGHT else "Fits with "
    return f"{how}{format_bytes(one.spare_bytes)} to spare"


def _speed(pair: CataloguePair) -> str:
    measured = pair.best_measurement
    if measured is None:
        return ""
    told = [
        "" if measured.tokens_per_second is None else format_rate(measured.tokens_per_second),
        "" if measured.speedup is None else f"{format_speedup(measured.speedup)} by the draft",
    ]
    numbers = ", ".join(words for words in told if words)
    return f"{numbers}: measured by others on {measured.hardware}, not on this machine"


def download_size(pair: CataloguePair) -> str:
    """What comes over the network, not what it takes of the memory: "about 2.90 GB"."""
    sizes = catalogue_sizes(pair)
    if sizes is None:
        return ""
    size = format_bytes(sizes.target_bytes + sizes.draft_bytes)
    return f"about {size}" if sizes.is_estimated else size


def _origin(one: Recommendation, *, is_installed: bool) -> str:
    pair = one.pair
    size = download_size(pair)
    parts = [_INSTALLED] if is_installed else [f"{size} to download"] if size else []
    licence = pair.target.licence
    parts.append(f"licence {licence}" if licence else "licence: see its page")
    if pair.target.repository:
        parts.append(pair.target.repository)
    return " · ".join(parts)


def _why_not(one: Recommendation) -> str:
    """The first thing that keeps a person from taking it now, with what would help."""
    if one.verdict is Verdict.TOO_BIG:
        return f"{_fit(one)}. Choose a shorter context, close programs, or take a smaller one."
    if _can_be_exported(one):
        return "It must be exported first. Before that you see what it takes."
    if one.missing:
        return f"It cannot run yet. Missing: {'; '.join(one.missing)}."
    if one.pair.target.repository is None:
        return "Where to get it is not known."
    return ""


def _can_be_exported(one: Recommendation) -> bool:
    """Whether it fits and an export is all that is missing."""
    is_all = one.verdict is not Verdict.TOO_BIG and len(one.missing) == 1
    return is_all and request_to_export(one.pair) is not None


def _upper(sentences: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(words[:1].upper() + words[1:] for words in sentences)
