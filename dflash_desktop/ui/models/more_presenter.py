"""Judges the catalogue's pairs for this machine, and starts the downloads that are chosen."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.export_pairs import request_to_export
from dflash_desktop.domain.pair_request import request_for_pair
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.domain.recommend import (
    DEFAULT_CONTEXT_TOKENS,
    PROGRAM_DRAFT_KINDS,
    PROGRAM_MODEL_KINDS,
    Abilities,
    Recommendation,
    Verdict,
    recommend,
)
from dflash_desktop.domain.starter import STARTER_CATALOGUE_ID
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.services.model_inspection import installed_runtime
from dflash_desktop.ui.models.offer_words import (
    name_error,
    offers,
    plan_lines,
    repository_name,
    request_by_name,
    room_error,
)
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dflash_desktop.domain.catalogue import Catalogue
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.transfer import Transfer, TransferPlan, TransferRequest
    from dflash_desktop.ui.machine_look import MachineLook
    from dflash_desktop.ui.models.more_pane import MorePane

_LOOKING = "Looking at this machine…"


class Shelf(Protocol):
    """What this page asks of the library of models."""

    def models(self) -> tuple[InstalledModel, ...]:
        """All."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change."""


class Queue(Protocol):
    """What this page asks of the downloads."""

    def transfers(self) -> tuple[Transfer, ...]:
        """All."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change."""

    async def plan(self, request: TransferRequest) -> TransferPlan:
        """What it would bring. Raises `AppError`."""

    def add(self, request: TransferRequest) -> None:
        """Start or queue it. Raises `AppError`."""


class MorePresenter:
    """`ask_token(repo_ids, on_given)` asks for one; `on_remedy` takes all other ways out;
    `export(request)` leads to the export of a pair that nobody has converted.
    """

    def __init__(
        self,
        *,
        pane: MorePane,
        machine: MachineLook,
        load_catalogue: Callable[[], Catalogue],
        pool_of: Callable[[HardwareReport], Awaitable[MemoryPool]],
        shelf: Shelf,
        queue: Queue,
        ask_token: Callable[[tuple[str, ...], Callable[[], None]], object],
        export: Callable[[ExportRequest], None],
        on_remedy: Callable[[Remedy, tuple[str, ...]], None],
    ) -> None:
        self._pane = pane
        self._machine = machine
        self._load_catalogue = load_catalogue
        self._pool_of = pool_of
        self._shelf = shelf
        self._queue = queue
        self._ask_token = ask_token
        self._export = export
        self._on_remedy = on_remedy
        self._ranked: tuple[Recommendation, ...] = ()
        self._usable_bytes = 0
        self._found: TransferRequest | None = None
        self._open_ids: frozenset[str] = frozenset()
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._asks = TaskScope(owner=pane, on_problem=pane.name_form.show_problem)
        self._ends = [shelf.subscribe(self._show), queue.subscribe(self._on_queue_changed)]
        pane.download_requested.connect(lambda i: self._tasks.start(self._download(i)))
        pane.export_requested.connect(self._lead_to_export)
        pane.more_requested.connect(self._show)
        pane.remedy_chosen.connect(self._take_remedy)
        form = pane.name_form
        form.look_requested.connect(self._look_up)
        form.changed.connect(self._forget_found)
        form.download_requested.connect(self._download_found)
        form.remedy_chosen.connect(self._take_form_remedy)

    def look(self) -> None:
        """Judge the pairs anew, by the memory of now; unless that is being done."""
        if not self._tasks.is_busy:
            self._tasks.start(self._judge())

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for end in self._ends:
            end()
        for scope in (self._tasks, self._asks):
            scope.close()
            await scope.wait()

    async def _judge(self) -> None:
        self._pane.clear_problem()
        catalogue = await asyncio.to_thread(self._load_catalogue)
        if not self._ranked:
            self._pane.show_machine(_LOOKING)
            known = await self._machine.remembered()
            if known is not None:
                await self._rank(catalogue, known[0])
        report, _ = await self._machine.look()
        await self._rank(catalogue, report)

    async def _rank(self, catalogue: Catalogue, report: HardwareReport) -> None:
        pool = await self._pool_of(report)
        runtime = report.genai or installed_runtime() or ""
        abilities = Abilities(runtime, PROGRAM_DRAFT_KINDS, PROGRAM_MODEL_KINDS)
        pairs = tuple(p for p in catalogue.pairs if p.id != STARTER_CATALOGUE_ID)
        # A person's own catalogue may be long.
        self._ranked = await asyncio.to_thread(
            recommend,
            replace(catalogue, pairs=pairs),
            pool,
            abilities=abilities,
            context_tokens=DEFAULT_CONTEXT_TOKENS,
        )
        self._usable_bytes = pool.usable_bytes
        words = f"{pool.explanation} {format_bytes(pool.usable_bytes)} are left for a model."
        if all(one.verdict is Verdict.TOO_BIG for one in self._ranked):
            words += " No pair fits into that now. Close programs, then open this page again."
        self._pane.show_machine(words)
        self._show()

    def _show(self) -> None:
        installed = {model.manifest.repo_id.casefold() for model in self._shelf.models()}
        self._pane.show_offers(
            offers(
                self._ranked[: self._pane.wanted],
                usable_bytes=self._usable_bytes,
                installed_ids=installed,
                transfers=self._queue.transfers(),
            ),
            count=len(self._ranked),
        )

    def _on_queue_changed(self) -> None:
        open_ids = frozenset(t.id for t in self._queue.transfers() if t.is_open)
        if open_ids != self._open_ids:  # progress alone changes nothing here
            self._open_ids = open_ids
            self._show()

    async def _download(self, pair_id: str) -> None:
        for one in self._ranked:
            request = request_for_pair(one.pair) if one.pair.id == pair_id else None
            if request is not None:
                self._queue.add(request)

    def _lead_to_export(self, pair_id: str) -> None:
        for one in self._ranked:
            request = request_to_export(one.pair) if one.pair.id == pair_id else None
            if request is not None:
                self._export(request)

    def _look_up(self, target: str, draft: str) -> None:
        names = tuple(repository_name(text) for text in (target, draft) if text)
        error = next((e for name in names if (e := name_error(name))), "")
        self._asks.cancel_all()
        self._found = None
        if error:
            self._pane.name_form.show_error(error)
        else:
            self._pane.name_form.show_looking()
            self._asks.start(self._plan(request_by_name(names)))

    async def _plan(self, request: TransferRequest) -> None:
        plan = await self._queue.plan(request)
        self._found = request
        size = format_bytes(plan.missing_bytes)
        self._pane.name_form.show_found(plan_lines(plan), f"Download {size}", room_error(plan))

    def _download_found(self) -> None:
        if self._found is not None:
            self._tasks.start(self._add(self._found))
            self._pane.name_form.empty()

    async def _add(self, request: TransferRequest) -> None:
        self._queue.add(request)

    def _forget_found(self) -> None:
        self._asks.cancel_all()
        self._found = None

    def _take_remedy(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self.look()
        else:
            self._on_remedy(remedy, ())

    def _take_form_remedy(self, remedy: Remedy) -> None:
        names = tuple(repository_name(text) for text in self._pane.name_form.names if text)
        match remedy:
            case Remedy.RETRY:
                self._pane.name_form.look_again()
            case Remedy.ENTER_TOKEN:
                self._ask_token(names, self._pane.name_form.look_again)
            case _:
                self._on_remedy(remedy, names)
