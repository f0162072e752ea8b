"""The pairs that the installed models make, by the catalogue, and targets alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.library import ModelCondition, ModelRole
from dflash_desktop.domain.model_facts import TEXT_GRAPH
from dflash_desktop.domain.pair import PairFolders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.catalogue import Catalogue, CataloguePair
    from dflash_desktop.domain.library import InstalledModel

_USABLE = frozenset({ModelCondition.VERIFIED, ModelCondition.UNVERIFIED})


def installed_pairs(
    models: Sequence[InstalledModel], catalogue: Catalogue
) -> tuple[PairFolders, ...]:
    """Catalogue pairs of which both parts are here, then every target alone, each once.

    A pair has the catalogue's id, a target alone the model's. Damaged and absent models are left
    out, and targets that this program cannot run.
    """
    here = {model.id.casefold(): model for model in models if model.condition in _USABLE}
    targets = [model for model in here.values() if _is_text_target(model)]
    titles: dict[str, str] = {}
    pairs: list[PairFolders] = []
    for pair in catalogue.pairs:
        target = here.get((pair.target.repository or "").casefold())
        if target is None or not _is_text_target(target):
            continue
        titles.setdefault(target.id, pair.target.title)
        made = _pair(pair, target, here)
        if made is not None:
            pairs.append(made)
    alone = (PairFolders(t.id, titles.get(t.id, t.title), t.path, None) for t in targets)
    return (*pairs, *alone)


def _pair(
    pair: CataloguePair, target: InstalledModel, here: dict[str, InstalledModel]
) -> PairFolders | None:
    if pair.draft is None:
        return None  # the target alone
    draft = here.get((pair.draft.repository or "").casefold())
    if draft is None or draft.manifest.role is not ModelRole.DRAFT:
        return None
    return PairFolders(pair.id, pair.title, target.path, draft.path, pair.note)


def _is_text_target(model: InstalledModel) -> bool:
    if model.manifest.role is not ModelRole.TARGET:
        return False
    return any(file.path == TEXT_GRAPH for file in model.manifest.files)
