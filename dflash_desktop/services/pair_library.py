"""The pairs that can be chosen: the starter once it is ready, and folders that a person added."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.settings import AddedPair
from dflash_desktop.domain.starter import StarterState, StarterStatus
from dflash_desktop.workers.model_folder import (
    MODEL_BIN,
    ModelFolderError,
    TargetFacts,
    check_draft,
    check_target,
)

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.services.settings_store import SettingsStore

_UNREADABLE_WORDS = (
    "“{name}” cannot be read.",
    "Check that the folder is there and that you may open it.",
)
_EXPORT_DRAFT_AGAIN = "Export the draft again, or use the target without a draft."
_FOLDER_WORDS = {
    "model_missing": (
        "“{name}” is not a complete OpenVINO model.",
        (
            "The folder must hold openvino_model.xml and .bin, openvino_tokenizer.xml and "
            "openvino_detokenizer.xml. The details say which one is missing."
        ),
    ),
    "model_broken": (
        "A file of “{name}” is damaged.",
        "Download or export this model again, then choose the folder once more.",
    ),
    "draft_missing": (
        "“{name}” is not a complete OpenVINO draft.",
        "The folder must hold openvino_model.xml and openvino_model.bin.",
    ),
    "draft_not_dflash": (
        "“{name}” is not a DFlash draft.",
        f"Its openvino_model.xml carries no DFlash marker. {_EXPORT_DRAFT_AGAIN}",
    ),
    "draft_broken": (
        "The draft “{name}” is incomplete.",
        (
            "A file is empty, or openvino_model.xml names no target layers or no mask token. "
            f"{_EXPORT_DRAFT_AGAIN}"
        ),
    ),
}


class StarterPair(Protocol):
    """What the library asks of the starter pair."""

    def status(self) -> StarterStatus:
        """How far it is installed."""

    def pair(self) -> PairFolders:
        """Its folders; only asked when it is ready."""


class PairLibrary:
    """Knows folders only: adding or removing a pair never writes to or deletes its files."""

    def __init__(self, *, settings: SettingsStore, starter: StarterPair) -> None:
        self._settings = settings
        self._starter = starter

    def pairs(self) -> tuple[PairFolders, ...]:
        """The starter pair first, if it is ready, then the added ones in the order of adding."""
        added = tuple(
            PairFolders(p.id, p.title, p.target_dir, p.draft_dir)
            for p in self._settings.value.added_pairs
        )
        if self._starter.status().state is StarterState.READY:
            return (self._starter.pair(), *added)
        return added

    def find(self, pair_id: str) -> PairFolders | None:
        """The pair with this id, if it can be chosen."""
        return next((p for p in self.pairs() if p.id == pair_id), None)

    def preferred(self) -> PairFolders | None:
        """What to load at the start: the last used pair, else the first one, else nothing."""
        pairs = self.pairs()
        last = self._settings.value.last_pair_id
        return next((p for p in pairs if p.id == last), pairs[0] if pairs else None)

    @staticmethod
    def weight_bytes(folder: Path) -> int | None:
        """The size of a model's weights, or None while its folder is not there."""
        try:
            return (folder / MODEL_BIN).stat().st_size
        except OSError:
            return None

    async def add(self, title: str, target_dir: Path, draft_dir: Path | None) -> PairFolders:
        """Check the folders and remember them; the same folders again only change the title.

        Raises `AppError` that says which folder is not what it should be, and why.
        """
        await asyncio.to_thread(check_pair_folders, target_dir, draft_dir)
        named = " ".join(title.split()) or target_dir.name or str(target_dir)
        entry = AddedPair(_pair_id(target_dir, draft_dir), named, target_dir, draft_dir)
        others = tuple(p for p in self._settings.value.added_pairs if p.id != entry.id)
        self._settings.change(added_pairs=(*others, entry))
        return PairFolders(entry.id, named, target_dir, draft_dir)

    def remove(self, pair_id: str) -> None:
        """Forget an added pair; its folders stay on the disk. Raises `AppError` like settings."""
        kept = tuple(p for p in self._settings.value.added_pairs if p.id != pair_id)
        self._settings.change(added_pairs=kept)


def check_pair_folders(target_dir: Path, draft_dir: Path | None) -> None:
    """Cheap checks of what the files say; reads no weights, but may wait for a slow disk.

    Raises `AppError`.
    """
    if draft_dir is not None and target_dir == draft_dir:
        raise AppError(
            Problem(
                code="same_folder",
                headline="The target and the draft are the same folder.",
                advice="A draft is a small model of its own. Choose its folder, or no draft.",
                remedies=(Remedy.CHOOSE_MODEL,),
            )
        )
    target = _checked_target(target_dir)
    if draft_dir is None:
        return
    try:
        draft = check_draft(draft_dir)
    except (ModelFolderError, OSError) as error:
        raise AppError(_folder_problem(draft_dir, error)) from error
    vocabulary, mask = target.vocab_size, draft.mask_token_id
    if vocabulary is not None and mask is not None and mask >= vocabulary:
        raise AppError(
            Problem(
                code="draft_not_for_target",
                headline="This draft was made for another target.",
                advice=(
                    f"Its mask token has the number {mask}, but this target knows only "
                    f"{vocabulary} tokens. Choose the draft that belongs to this target."
                ),
                remedies=(Remedy.CHOOSE_MODEL,),
            )
        )


def _checked_target(folder: Path) -> TargetFacts:
    try:
        facts = check_target(folder)
    except (ModelFolderError, OSError) as error:
        raise AppError(_folder_problem(folder, error)) from error
    try:
        check_draft(folder)
    except (ModelFolderError, OSError):
        return facts
    raise AppError(
        Problem(
            code="draft_as_target",
            headline=f"“{folder.name}” is a draft, not a target.",
            advice="Choose the large model's folder as the target, and this one as its draft.",
            remedies=(Remedy.CHOOSE_MODEL,),
        )
    )


def _folder_problem(folder: Path, error: Exception) -> Problem:
    code = error.code if isinstance(error, ModelFolderError) else "folder_unreadable"
    headline, advice = _FOLDER_WORDS.get(code, _UNREADABLE_WORDS)
    return Problem(
        code=code,
        headline=headline.format(name=folder.name),
        advice=advice,
        detail=str(error),
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def _pair_id(target_dir: Path, draft_dir: Path | None) -> str:
    return hashlib.sha256(f"{target_dir}\n{draft_dir or ''}".encode()).hexdigest()[:12]
