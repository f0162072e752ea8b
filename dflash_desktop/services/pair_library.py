"""The pairs that can be chosen: the starter once it is ready, and folders that a person added."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.pair_contract import Finding, Subject, Weight, check_contract
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.settings import AddedPair
from dflash_desktop.domain.starter import StarterState, StarterStatus
from dflash_desktop.services.model_inspection import (
    inspect_draft,
    inspect_model,
    installed_runtime,
)
from dflash_desktop.workers.model_folder import has_own_head, weight_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.model_facts import ModelFacts
    from dflash_desktop.services.settings_store import SettingsStore

_HEADLINES = {
    Subject.TARGET: "“{name}” cannot be used as a target.",
    Subject.DRAFT: "“{name}” cannot be used as a draft.",
    Subject.PAIR: "This draft does not fit “{name}”.",
}


class StarterPair(Protocol):
    """What the library asks of the starter pair."""

    def status(self) -> StarterStatus:
        """How far it is installed."""

    def pair(self) -> PairFolders:
        """Its folders; only asked when it is ready."""


class InstalledPairs(Protocol):
    """What the library of models knows of pairs."""

    def pairs(self) -> tuple[PairFolders, ...]:
        """Those that its models make."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""


class PairLibrary:
    """Knows folders only: adding or removing a pair never writes to or deletes its files."""

    def __init__(
        self,
        *,
        settings: SettingsStore,
        starter: StarterPair,
        models: InstalledPairs | None = None,
    ) -> None:
        self._settings = settings
        self._starter = starter
        self._models = models

    def pairs(self) -> tuple[PairFolders, ...]:
        """The starter pair first, if it is ready, then what is installed, then the added ones."""
        added = tuple(
            PairFolders(p.id, p.title, p.target_dir, p.draft_dir)
            for p in self._settings.value.added_pairs
        )
        is_ready = self._starter.status().state is StarterState.READY
        starter = (self._starter.pair(),) if is_ready else ()
        installed = () if self._models is None else self._models.pairs()
        return (*starter, *installed, *added)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` when models came or went; changes of settings are told by these."""
        return (lambda: None) if self._models is None else self._models.subscribe(listener)

    def find(self, pair_id: str) -> PairFolders | None:
        """The pair with this id, or the target with this model's id, if it can be chosen."""
        pairs = self.pairs()
        exact = next((p for p in pairs if p.id == pair_id), None)
        key = pair_id.casefold()  # a hub's names do not tell upper from lower case
        return exact or next((p for p in pairs if p.id.casefold() == key), None)

    def ids_of(self, target_dir: Path, draft_dir: Path | None) -> tuple[str, ...]:
        """All ids that these folders go by: as listed ones, and as any two that are named."""
        listed = (
            p.id for p in self.pairs() if (p.target_dir, p.draft_dir) == (target_dir, draft_dir)
        )
        return tuple(dict.fromkeys((*listed, _pair_id(target_dir, draft_dir))))

    def preferred(self) -> PairFolders | None:
        """What to load at the start: the last used pair, else the first one, else nothing."""
        pairs = self.pairs()
        last = self._settings.value.last_pair_id
        return next((p for p in pairs if p.id == last), pairs[0] if pairs else None)

    @staticmethod
    def weight_bytes(folder: Path) -> int | None:
        """The size of a model's weights, or None while its folder is not there."""
        try:
            return weight_bytes(folder)
        except OSError:
            return None

    async def add(self, title: str, target_dir: Path, draft_dir: Path | None) -> PairFolders:
        """Check the folders and remember them; the same folders again only change the title.

        Raises `AppError` that says which folder is not what it should be, and why.
        """
        await asyncio.to_thread(check_pair_folders, target_dir, draft_dir)
        pair = folders_of(title, target_dir, draft_dir)
        entry = AddedPair(pair.id, pair.title, target_dir, draft_dir)
        others = tuple(p for p in self._settings.look_again().added_pairs if p.id != entry.id)
        self._settings.change(added_pairs=(*others, entry))
        return pair

    def remove(self, pair_id: str) -> None:
        """Forget an added pair; its folders stay on the disk. Raises `AppError` like settings."""
        kept = tuple(p for p in self._settings.look_again().added_pairs if p.id != pair_id)
        self._settings.change(added_pairs=kept)


def check_pair_folders(target_dir: Path, draft_dir: Path | None) -> None:
    """Check what the contract says about the folders; takes about a second, more on a slow disk.

    Raises `AppError` with the first finding that blocks.
    """
    if target_dir == draft_dir and not has_own_head(target_dir):
        raise AppError(
            Problem(
                code="same_folder",
                headline="The target and the draft are the same folder.",
                advice="This model has no head of its own that could draft (MTP). A draft is a "
                "small model: choose its folder, or no draft.",
                remedies=(Remedy.CHOOSE_MODEL,),
            )
        )
    target = inspect_model(target_dir)
    draft = inspect_draft(target_dir, draft_dir)
    findings = check_contract(target, draft, runtime=installed_runtime())
    for finding in findings:
        if finding.weight is Weight.BLOCK:
            raise AppError(_problem(finding, target, draft))


def _problem(finding: Finding, target: ModelFacts, draft: ModelFacts | None) -> Problem:
    """A finding that blocks, as a person meets it."""
    model = draft if draft is not None and finding.subject is Subject.DRAFT else target
    return Problem(
        code=finding.code,
        headline=_HEADLINES[finding.subject].format(name=model.name),
        advice=f"Found: {finding.found}. {finding.remedy}",
        detail=f"{finding.where}: expected {finding.expected}; found {finding.found}",
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def folders_of(title: str, target_dir: Path, draft_dir: Path | None) -> PairFolders:
    """The pair that these folders make; without a title it is called like the target's folder."""
    named = " ".join(title.split()) or target_dir.name or str(target_dir)
    return PairFolders(_pair_id(target_dir, draft_dir), named, target_dir, draft_dir)


def _pair_id(target_dir: Path, draft_dir: Path | None) -> str:
    return hashlib.sha256(f"{target_dir}\n{draft_dir or ''}".encode()).hexdigest()[:12]
