"""The pairs that the installed models make, by the catalogue, and targets alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import ModelCondition, ModelRole
from dflash_desktop.domain.model_facts import MTP_GRAPH, TEXT_GRAPH, VISION_GRAPH
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.atomic_file import file_stamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dflash_desktop.domain.catalogue import Catalogue
    from dflash_desktop.domain.library import InstalledModel

_log = logging.getLogger(__name__)

OWN_HEAD = "+mtp"
"""What the id of a target with its own head as the draft has behind the target's."""

_USABLE = frozenset({ModelCondition.VERIFIED, ModelCondition.UNVERIFIED})


class KeptPairs:
    """The pairs, made anew only when the models or the person's own catalogue are others.

    They are asked for with every change of the engine's state; the catalogue takes milliseconds.
    """

    def __init__(self, own_pairs_file: Path) -> None:
        self._file = own_pairs_file
        self._made: tuple[object, object, tuple[PairFolders, ...]] | None = None

    def of(self, models: tuple[InstalledModel, ...]) -> tuple[PairFolders, ...]:
        """As `installed_pairs`; a tuple that was given before is taken to be the same."""
        stamp = file_stamp(self._file)
        if self._made is None or self._made[0] is not models or self._made[1] != stamp:
            pairs = installed_pairs(models, self._file) if models else ()
            self._made = (models, stamp, pairs)
        return self._made[2]


def installed_pairs(
    models: Sequence[InstalledModel], own_pairs_file: Path
) -> tuple[PairFolders, ...]:
    """Catalogue pairs of which both parts are here, then every target alone, each once.

    A target with an MTP head comes with it before it comes alone. A pair has the catalogue's id, a
    target alone the model's. Damaged and absent models are left
    out, and targets that this program cannot run.
    """
    usable = [model for model in models if model.condition in _USABLE]
    here = {name: model for model in reversed(usable) for name in _names(model)}
    titles: dict[str, str] = {}
    pairs: list[PairFolders] = []
    for pair in _catalogue(own_pairs_file).pairs:
        target = _find(pair.target.repository, here)
        if target is None or not _can_answer(target):
            continue
        titles.setdefault(target.id, pair.target.title)
        draft = None if pair.draft is None else _find(pair.draft.repository, here)
        if draft is not None and draft.manifest.role is ModelRole.DRAFT:
            pairs.append(PairFolders(pair.id, pair.title, target.path, draft.path, pair.note))
    targets = [(t, titles.get(t.id, t.title)) for t in usable if _can_answer(t)]
    with_head = (
        PairFolders(f"{t.id}{OWN_HEAD}", f"{title} with its own head", t.path, t.path)
        for t, title in targets
        if _holds(t, MTP_GRAPH)
    )
    alone = (PairFolders(t.id, title, t.path, None) for t, title in targets)
    return (*pairs, *with_head, *alone)


def is_whole(models: Sequence[InstalledModel], repository: str) -> bool:
    """Whether the model of this repository is here, and nothing is known to be wrong with it."""
    usable = (model for model in models if model.condition in _USABLE)
    return (
        _find(repository, {name: model for model in usable for name in _names(model)}) is not None
    )


def _catalogue(own_pairs_file: Path) -> Catalogue:
    # Listing models must not wait for this import.
    from dflash_desktop.services.catalogue_store import load_catalogue_with_own

    catalogue, problem = load_catalogue_with_own(own_pairs_file)
    if problem is not None:
        # It is said where pairs are recommended; here the others must still be there.
        _log.warning("without the own pairs: %s: %s", problem.code, problem.headline)
    return catalogue


def _find(repository: str | None, here: dict[str, InstalledModel]) -> InstalledModel | None:
    """The repository's model, else an added folder of the same name."""
    if repository is None:
        return None
    key = repository.casefold()
    return here.get(key) or here.get(key.rpartition("/")[2])


def _names(model: InstalledModel) -> tuple[str, ...]:
    """What the catalogue may call it: a folder without a repository is known by its name."""
    if model.manifest.repo_id:
        return (model.manifest.repo_id.casefold(),)
    return (model.id.casefold(), model.path.name.casefold())


def _can_answer(model: InstalledModel) -> bool:
    if model.manifest.role is not ModelRole.TARGET:
        return False
    return _holds(model, TEXT_GRAPH) or _holds(model, VISION_GRAPH)


def _holds(model: InstalledModel, name: str) -> bool:
    return any(file.path == name for file in model.manifest.files)
