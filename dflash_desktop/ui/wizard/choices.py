"""Which pairs the setup offers on a machine: the best, the starter pair, and all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.catalogue import CataloguePair, ModelKind
from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.recommend import (
    PROGRAM_DRAFT_KINDS,
    PROGRAM_MODEL_KINDS,
    Abilities,
    Recommendation,
    Verdict,
    recommend,
)
from dflash_desktop.domain.starter import STARTER_CATALOGUE_ID, STARTER_PAIR_ID
from dflash_desktop.ui.wizard.choice_words import ChoiceContent, choice_content, starter_content

if TYPE_CHECKING:
    from dflash_desktop.domain.catalogue import Catalogue
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.starter import StarterPin

_BEST_SHOWN: Final = 3
_NONE_FITS: Final = (
    "No larger model fits into the memory that is free now. Close programs and look again, "
    "choose shorter conversations, or take the starter model."
)


@dataclass(frozen=True, slots=True)
class Choices:
    """The choose page: the cards, the rest in rank order, and what is marked.

    What the rest says is made when it is shown: a catalogue may have a thousand pairs.
    """

    best: tuple[ChoiceContent, ...]
    others: tuple[Recommendation, ...]
    usable_bytes: int
    chosen_id: str
    none_fits: str
    is_installed: Callable[[CataloguePair], bool]

    def find(self, pair_id: str) -> ChoiceContent | None:
        """The content of a pair, if it is there."""
        for content in self.best:
            if content.pair_id == pair_id:
                return content
        position = self.position(pair_id)
        return None if position is None else self.row(position)

    def position(self, pair_id: str) -> int | None:
        """Where a pair is among the others, if it is there."""
        found = (n for n, one in enumerate(self.others) if one.pair.id == pair_id)
        return next(found, None)

    def row(self, position: int) -> ChoiceContent:
        """The content of one of the others."""
        one = self.others[position]
        return choice_content(
            one, usable_bytes=self.usable_bytes, is_installed=self.is_installed(one.pair)
        )


def choices_for(
    catalogue: Catalogue,
    pool: MemoryPool,
    *,
    runtime: str,
    context_tokens: int,
    pin: StarterPin,
    is_starter_installed: bool,
    is_installed: Callable[[CataloguePair], bool],
    wanted_id: str,
) -> Choices:
    """Three that fit best, the starter pair beside them, and everything else in rank order.

    Without graphics the starter pair comes first and is marked, unless something was chosen.
    """
    abilities = Abilities(runtime, PROGRAM_DRAFT_KINDS, PROGRAM_MODEL_KINDS)
    larger, starters = _apart(catalogue)
    ranked = recommend(larger, pool, abilities=abilities, context_tokens=context_tokens)
    starter = recommend(
        starters,
        pool,
        abilities=abilities,
        context_tokens=min(context_tokens, pin.context_tokens),  # it knows no longer ones
    )
    fitting = [one for one in ranked if one.verdict is not Verdict.TOO_BIG]
    best = _best([one for one in fitting if _can_converse(one.pair)])
    usable = pool.usable_bytes
    cards = [
        choice_content(one, usable_bytes=usable, is_installed=is_installed(one.pair))
        for one in best
    ]
    try_card = starter_content(
        pin, next(iter(starter), None), usable_bytes=usable, is_installed=is_starter_installed
    )
    is_starter_first = pool.kind is PoolKind.SYSTEM or not cards
    cards.insert(0 if is_starter_first else len(cards), try_card)
    shown = {one.pair.id for one in best}
    others = tuple(one for one in ranked if one.pair.id not in shown)
    known = {one.pair_id for one in cards} | {one.pair.id for one in others}
    usual = STARTER_PAIR_ID if is_starter_first else _first_runnable(best)
    return Choices(
        best=tuple(cards),
        others=others,
        usable_bytes=usable,
        chosen_id=wanted_id if wanted_id in known else usual,
        none_fits="" if best else _NONE_FITS,
        is_installed=is_installed,
    )


def _apart(catalogue: Catalogue) -> tuple[Catalogue, Catalogue]:
    """Everything but the starter pair, and the starter pair alone."""
    larger = tuple(pair for pair in catalogue.pairs if pair.id != STARTER_CATALOGUE_ID)
    starters = tuple(pair for pair in catalogue.pairs if pair.id == STARTER_CATALOGUE_ID)
    return replace(catalogue, pairs=larger), replace(catalogue, pairs=starters)


def _can_converse(pair: CataloguePair) -> bool:
    """Whoever sets the program up wants to ask something and get an answer."""
    return not pair.target.is_base and pair.target.kind is not ModelKind.IMAGE


def _best(ranked: list[Recommendation]) -> list[Recommendation]:
    """The first three, or two and the first without a content label, so that one can be marked."""
    best = ranked[:_BEST_SHOWN]
    if any(_is_plain(one) for one in best):
        return best
    plain = next((one for one in ranked if _is_plain(one)), None)
    return best if plain is None else [*best[: _BEST_SHOWN - 1], plain]


def _is_plain(one: Recommendation) -> bool:
    return one.runnable and not one.pair.target.content_label


def _first_runnable(best: list[Recommendation]) -> str:
    """What is marked at first: people choose what has a content label themselves."""
    runnable = [one for one in best if one.runnable]
    plain = [one for one in runnable if _is_plain(one)]
    return next((one.pair.id for one in (*plain, *runnable)), STARTER_PAIR_ID)
