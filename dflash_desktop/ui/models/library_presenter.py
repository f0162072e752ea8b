"""Shows the models on this disk and does what a person asks of one of them."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.engine_state import loaded_pair
from dflash_desktop.domain.library import ModelCondition, ModelRole
from dflash_desktop.ui.models.library_words import (
    card_content,
    fetched_words,
    library_summary,
    model_row,
    removal_words,
    report_words,
    shown_models,
)
from dflash_desktop.ui.models.model_work import ModelWork
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from dflash_desktop.domain.library import (
        InstalledModel,
        RemovalPlan,
        VerificationReport,
        WorkProgress,
    )
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.refetch import Repaired
    from dflash_desktop.ui.models.library_view import LibraryView


class ModelShelf(Protocol):
    """What the page asks of the library of models."""

    def models(self) -> tuple[InstalledModel, ...]:
        """All, as last read."""

    def absence(self) -> Problem | None:
        """Why there are none, if their disk is not there."""

    def find(self, model_id: str) -> InstalledModel | None:
        """One of them."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the answer ends that."""

    async def refresh(self) -> None:
        """Read the disk again."""

    async def verify(
        self, model_id: str, on_progress: Callable[[WorkProgress], None]
    ) -> VerificationReport:
        """Compare every byte. Raises `AppError`."""

    async def add_folder(self, folder: Path, title: str = "") -> InstalledModel:
        """Use a model where it lies. Raises `AppError`."""

    async def plan_removal(self, model_id: str) -> RemovalPlan:
        """What removing would do. Raises `AppError` where it is refused."""

    async def remove(self, model_id: str) -> object:
        """Do it. Raises `AppError`."""


class Refetch(Protocol):
    """What brings bad files anew."""

    async def repair(
        self, report: VerificationReport, on_progress: Callable[[WorkProgress], None]
    ) -> Repaired:
        """Fetch what the report calls bad. Raises `AppError`."""


class LibraryPresenter:
    """`pairs` are what can be loaded; `open_folder` shows a folder in the file manager.

    `load` gets the model that was picked too; `make_pictures` leads to where such a one is used.
    """

    def __init__(
        self,
        *,
        view: LibraryView,
        shelf: ModelShelf,
        engine: Engine,
        pairs: Callable[[], tuple[PairFolders, ...]],
        load: Callable[[str, Path], None],
        open_folder: Callable[[Path], None],
        refetch: Refetch,
        on_remedy: Callable[[Remedy, tuple[str, ...]], None] = lambda *_: None,
        make_pictures: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._view = view
        self._shelf = shelf
        self._engine = engine
        self._pairs = pairs
        self._load = load
        self._open_folder = open_folder
        self._refetch = refetch
        self._make_pictures = make_pictures
        self._works: dict[str, ModelWork] = {}
        self._outcomes: dict[str, tuple[str, bool]] = {}
        self._tasks = TaskScope(owner=view, on_problem=view.card.show_problem)
        self._adding = TaskScope(owner=view, on_problem=view.show_problem)
        self._ends = [shelf.subscribe(self.refresh), engine.subscribe(lambda _: self.refresh())]
        card = view.card
        view.look_requested.connect(self.look)
        view.search_changed.connect(lambda *_: self.refresh())
        view.model_chosen.connect(lambda _: self._show_card())
        view.folder_chosen.connect(lambda f: self._adding.start(self._add(Path(f))))
        view.add_cancelled.connect(self._adding.cancel_all)
        card.load_requested.connect(self._on_load)
        card.folder_requested.connect(self._on_folder)
        card.verify_requested.connect(self.verify)
        card.repair_requested.connect(self.repair)
        card.remedy_chosen.connect(lambda model_id, remedy: on_remedy(remedy, (model_id,)))
        card.removal_asked.connect(lambda i: self._tasks.start(self._ask_removal(i)))
        card.removal_confirmed.connect(lambda i: self._tasks.start(self._remove(i)))
        card.cancel_requested.connect(self._on_cancel)
        self.refresh()

    def look(self) -> None:
        """Read the disk anew: a stick may be there now, or another program's download."""
        self._tasks.start(self._look())

    def refresh(self) -> None:
        """Show what is known now."""
        models = self._shelf.models()
        now = datetime.now().astimezone()
        shown = shown_models(models, words=self._view.words, order=self._view.order)
        rows = tuple(model_row(m, in_use_on=self._device_of(m), now=now) for m in shown)
        self._view.show_models(rows, summary=library_summary(models), count=len(models))
        self._show_card()

    def verify(self, model_id: str) -> None:
        """Compare a model's bytes, unless something is being done with them."""
        self._begin(model_id, self._verify)

    def repair(self, model_id: str) -> None:
        """Fetch again what is not right, unless something is being done with it."""
        self._begin(model_id, self._mend)

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for end in self._ends:
            end()
        for scope in (self._tasks, self._adding, *(w.tasks for w in self._works.values())):
            scope.close()
            await scope.wait()

    async def _look(self) -> None:
        self._view.show_absence(await asyncio.to_thread(self._shelf.absence))
        await self._shelf.refresh()

    def _show_card(self) -> None:
        model = self._shelf.find(self._view.chosen_id)
        if model is None:
            return
        card = self._view.card
        is_other = card.model_id != model.id
        now = datetime.now().astimezone()
        card.show_model(
            card_content(
                model,
                in_use_on=self._device_of(model),
                now=now,
                load_tip=self._load_tip(model),
            )
        )
        work, outcome = self._works.get(model.id), self._outcomes.get(model.id)
        if work is not None:
            card.show_progress(*work.shown)
        elif outcome is not None and is_other:
            card.show_outcome(*outcome)

    def _begin(
        self,
        model_id: str,
        do: Callable[[InstalledModel, ModelWork], Coroutine[object, object, None]],
    ) -> None:
        model = self._shelf.find(model_id)
        if model is not None and model_id not in self._works:
            work = ModelWork(TaskScope(owner=self._view, on_problem=self._view.card.show_problem))
            self._works[model_id] = work
            work.tasks.start(self._finish(model_id, do(model, work)))

    async def _finish(self, model_id: str, job: Coroutine[object, object, None]) -> None:
        """Run a job to its end; only one that ended well has left an outcome to show."""
        before = self._outcomes.get(model_id)
        try:
            await job
        finally:
            del self._works[model_id]
            card, outcome = self._view.card, self._outcomes.get(model_id)
            if card.model_id == model_id:
                card.clear_progress()
                if outcome is not None and outcome is not before:
                    card.show_outcome(*outcome)
            self.refresh()

    async def _verify(self, model: InstalledModel, work: ModelWork) -> None:
        report = await self._compare(model, work)
        self._outcomes[model.id] = (report_words(report), report.is_whole)

    async def _mend(self, model: InstalledModel, work: ModelWork) -> None:
        report = await self._compare(model, work)
        show = self._progress_of(model.id, work, f"Fetching what is bad in {model.title}")
        repaired = await self._refetch.repair(report, show)
        words = report_words(repaired.report)
        if repaired.paths:
            words = f"{fetched_words(repaired.paths)} {words}"
        self._outcomes[model.id] = (words, repaired.report.is_whole)

    async def _compare(self, model: InstalledModel, work: ModelWork) -> VerificationReport:
        show = self._progress_of(model.id, work, f"Comparing every byte of {model.title}")
        return await self._shelf.verify(model.id, show)

    def _progress_of(
        self, model_id: str, work: ModelWork, sentence: str
    ) -> Callable[[WorkProgress], None]:
        work.begin(sentence)
        self._show_work(model_id)

        def show(progress: WorkProgress) -> None:
            if work.take(progress):
                self._show_work(model_id)

        return show

    def _show_work(self, model_id: str) -> None:
        if self._view.card.model_id == model_id:
            self._view.card.show_progress(*self._works[model_id].shown)

    async def _add(self, folder: Path) -> None:
        self._view.show_adding(f"Looking at {folder.name or folder}", "", 0.0)
        try:
            model = await self._shelf.add_folder(folder)
        finally:
            self._view.clear_adding()
        self.refresh()
        self._view.choose(model.id)
        self.verify(model.id)

    async def _ask_removal(self, model_id: str) -> None:
        plan = await self._shelf.plan_removal(model_id)
        if self._view.card.model_id == model_id:
            self._view.card.ask_removal(*removal_words(plan))

    async def _remove(self, model_id: str) -> None:
        await self._shelf.remove(model_id)
        self._outcomes.pop(model_id, None)
        self.refresh()

    def _on_cancel(self, model_id: str) -> None:
        if model_id in self._works:
            self._works[model_id].tasks.cancel_all()

    def _on_folder(self, model_id: str) -> None:
        model = self._shelf.find(model_id)
        if model is not None:
            self._open_folder(model.path)

    def _on_load(self, model_id: str) -> None:
        model = self._shelf.find(model_id)
        if model is not None and model.manifest.role is ModelRole.IMAGE:
            self._make_pictures(model.id)
            return
        pair = None if model is None else self._pair_of(model)
        if pair is not None and model is not None:
            self._load(pair.id, model.path)

    def _pair_of(self, model: InstalledModel) -> PairFolders | None:
        """The pair that this model is a part of; one with a draft before the target alone."""
        pairs = [p for p in self._pairs() if model.path in (p.target_dir, p.draft_dir)]
        return next((p for p in pairs if p.draft_dir is not None), pairs[0] if pairs else None)

    def _load_tip(self, model: InstalledModel) -> str:
        if self._device_of(model):
            return "It is loaded."
        if model.condition is ModelCondition.ABSENT:
            return "Its folder is not there. Is a drive missing?"
        if model.manifest.role is ModelRole.IMAGE or self._pair_of(model) is not None:
            return ""
        if model.manifest.role is ModelRole.DRAFT:
            return "A draft only helps a target. Get the target that it was made for."
        return "This version cannot run this kind of model."

    def _device_of(self, model: InstalledModel) -> str:
        pair = loaded_pair(self._engine.state)
        if pair is None or model.path not in (pair.target_dir, pair.draft_dir):
            return ""
        return pair.device_name if pair.device == "CPU" else f"{pair.device} {pair.device_name}"
