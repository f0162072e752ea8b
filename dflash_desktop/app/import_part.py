"""Builds what imports GGUF files on the models page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.library import ModelCondition, ModelRole
from dflash_desktop.services.gguf_import import GgufImport
from dflash_desktop.services.pair_library import folders_of
from dflash_desktop.ui.models.import_presenter import ImportPresenter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.ui.models.library_view import LibraryView


def build_import(
    *,
    view: LibraryView,
    services: Services,
    look_at: Callable[[PairFolders], None],
    lead: Callable[[Remedy, tuple[Path, ...]], None],
    on_remedy: Callable[[Remedy], None],
) -> ImportPresenter:
    """What takes dropped files; `look_at` opens the page of a pair, `lead` where they belong."""

    def drafts() -> dict[Path, str]:
        alone = {
            model.path: f"“{model.title}”"
            for model in services.models.models()
            if model.manifest.role is ModelRole.DRAFT
            and model.condition is not ModelCondition.ABSENT
        }
        of_pairs = {
            pair.draft_dir: f"The draft of “{pair.title}”"
            for pair in services.library.pairs()
            if pair.draft_dir is not None
        }
        return of_pairs | alone

    return ImportPresenter(
        view=view,
        importer=GgufImport(
            paths=services.paths, launcher=services.launcher, library=services.models
        ),
        is_taken=lambda name: services.models.find(name) is not None,
        drafts=drafts,
        check=lambda title, target, draft: look_at(folders_of(title, target, draft)),
        lead=lead,
        on_remedy=on_remedy,
    )
