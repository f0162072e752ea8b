"""Takes what a person drops or chooses: a GGUF file is imported, a model's folder is added."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.gguf_import import ImportedModel
from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.services.fitting_drafts import fitting_drafts
from dflash_desktop.services.gguf_file import look_at_gguf
from dflash_desktop.services.gguf_problems import already_running
from dflash_desktop.services.opened_path import opened_of
from dflash_desktop.ui.models.import_words import (
    SEVERAL,
    ImportSteps,
    done_words,
    draft_words,
    file_facts,
    free_name,
    note_lines,
    only_one,
)
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from dflash_desktop.domain.gguf_import import GgufFile, ImportProgress, ImportWeights
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.models.library_view import LibraryView

_GGUF: Final = ".gguf"


class Importer(Protocol):
    """What makes a model of a file."""

    def run(
        self, file: Path, *, name: str, weights: ImportWeights
    ) -> AsyncGenerator[ImportProgress | ImportedModel, None]:
        """Import it; ends with an `ImportedModel`. Raises `AppError`."""


class ImportPresenter:
    """`drafts` are the folders of those that are here, with what a sentence calls them.

    `check` opens the page of a pair, and `lead(remedy, paths)` the page for what is no model yet.
    """

    def __init__(
        self,
        *,
        view: LibraryView,
        importer: Importer,
        is_taken: Callable[[str], bool],
        drafts: Callable[[], Mapping[Path, str]],
        check: Callable[[str, Path, Path], None],
        lead: Callable[[Remedy, tuple[Path, ...]], None],
        on_remedy: Callable[[Remedy], None] = lambda _: None,
    ) -> None:
        self._view = view
        self._part = view.importing
        self._importer = importer
        self._is_taken = is_taken
        self._drafts = drafts
        self._check = check
        self._lead = lead
        self._file: Path | None = None
        self._suggested: tuple[str, Path, Path] | None = None
        self._looks = TaskScope(owner=view, on_problem=self._part.show_refusal)
        self._imports = TaskScope(owner=view, on_problem=self._part.show_problem)
        view.paths_dropped.connect(self.take)
        view.gguf_chosen.connect(lambda path: self.take((path,)))
        self._part.import_requested.connect(self._on_import)
        self._part.cancelled.connect(self._imports.cancel_all)
        self._part.check_requested.connect(self._on_check)
        self._part.file_requested.connect(view.choose_gguf)
        self._part.retry_requested.connect(self._on_retry)
        self._part.remedy_chosen.connect(on_remedy)

    def take(self, paths: tuple[str, ...]) -> None:
        """Look at what was dropped or handed over, and offer what can be done with it."""
        if paths:
            path = only_one(paths)
            self._looks.start(self._take(paths if path is None else (path,)))

    async def close(self) -> None:
        """Stop an import, which leaves nothing half-made, and wait for that."""
        for scope in (self._looks, self._imports):
            scope.close()
            await scope.wait()

    async def _take(self, paths: tuple[str, ...]) -> None:
        """The first way out of what it is called is where it goes."""
        opened = await asyncio.to_thread(opened_of, paths)
        to_export = opened.ways.get(Remedy.EXPORT, ())
        if len(to_export) == len(paths):
            self._lead(Remedy.EXPORT, to_export)
            return
        found = opened.ways.get(Remedy.ADD_MODEL, ())
        if len(paths) > 1:
            self._view.show_problem(SEVERAL)
        elif opened.problem.code == "opened_gguf" or paths[0].lower().endswith(_GGUF):
            self._begin_look(Path(paths[0]))  # which says what is wrong with it, if anything
        elif found:
            self._view.folder_chosen.emit(str(found[0]))
        else:
            self._view.show_problem(opened.problem)

    def _begin_look(self, file: Path) -> None:
        if self._imports.is_busy:
            self._view.show_problem(_without_remedies(already_running()))
            return
        self._looks.cancel_all()
        self._file = file
        self._looks.start(self._look(file))

    async def _look(self, file: Path) -> None:
        source = await asyncio.to_thread(look_at_gguf, file)
        if self._file == file and not self._imports.is_busy:
            self._show_offer(source)

    def _show_offer(self, source: GgufFile) -> None:
        name = source.model.name or source.parts[0].stem
        self._part.fill(free_name(name, self._is_taken))
        self._part.show_offer(
            f"Import “{source.parts[0].name}”",
            file_facts(source),
            note_lines(source.model.notes),
        )

    def _on_import(self, name: str, weights: ImportWeights) -> None:
        if self._file is not None and not self._imports.is_busy:
            self._imports.start(self._import(self._file, name, weights))

    async def _import(self, file: Path, name: str, weights: ImportWeights) -> None:
        steps, imported = ImportSteps(), None
        self._view.show_importing(True)
        try:
            async with aclosing(self._importer.run(file, name=name, weights=weights)) as told:
                async for step in told:
                    if isinstance(step, ImportedModel):
                        imported = step
                    else:
                        self._part.show_progress(*steps.words(step))
        except (AppError, asyncio.CancelledError):
            self._part.show_form_again()
            raise
        finally:
            self._view.show_importing(False)
        if imported is not None:
            await self._show_done(imported)

    async def _show_done(self, imported: ImportedModel) -> None:
        model = imported.model
        self._file = None
        self._part.show_done(*done_words(imported))
        self._view.choose(model.id)
        here = self._drafts()
        drafts = await asyncio.to_thread(fitting_drafts, model.path, tuple(here))
        if drafts:
            self._suggested = (model.title, model.path, drafts[0])
            self._part.show_draft(*draft_words(here[drafts[0]]))

    def _on_check(self) -> None:
        if self._suggested is not None:
            self._check(*self._suggested)

    def _on_retry(self) -> None:
        if self._file is not None:
            self._begin_look(self._file)


def _without_remedies(problem: Problem) -> Problem:
    return replace(problem, remedies=())
