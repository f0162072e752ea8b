"""Fills the pages about the machine and the choice: looks, judges, and shows what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain.devices import choose_device, offered_devices
from dflash_desktop.domain.gpu_findings import findings, version_findings
from dflash_desktop.domain.memory_parts import parts_of_pool
from dflash_desktop.domain.memory_pool import memory_pool
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.recommend import DEFAULT_CONTEXT_TOKENS
from dflash_desktop.domain.starter import StarterState
from dflash_desktop.services.hardware_report import property_fields, report_fields
from dflash_desktop.services.model_inspection import installed_runtime
from dflash_desktop.ui.tasks import TaskScope
from dflash_desktop.ui.wizard.choices import Choices, choices_for
from dflash_desktop.ui.wizard.getting import loadable, with_retry
from dflash_desktop.ui.wizard.words import machine_sentence, people_name, sum_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.catalogue import Catalogue, CataloguePair
    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.wizard.choose_page import ChoosePage
    from dflash_desktop.ui.wizard.machine_page import MachinePage
    from dflash_desktop.ui.wizard.parts import SetupParts


class Survey:
    """`on_change` is called after each look, whether it went well or not.

    `on_problem` shows what is wrong without being in the way.
    """

    def __init__(
        self,
        *,
        machine: MachinePage,
        choose: ChoosePage,
        parts: SetupParts,
        on_change: Callable[[], None],
        on_problem: Callable[[Problem], None],
    ) -> None:
        self._machine = machine
        self._choose = choose
        self._parts = parts
        self._settings = parts.settings
        self._on_change = on_change
        self._on_problem = on_problem
        self._report: HardwareReport | None = None
        self._devices: DeviceReport | None = None
        self._reclaimable_bytes = 0
        self._catalogue: Catalogue | None = None
        self._tasks = TaskScope(owner=machine, on_problem=self._show_problem)
        self.choices: Choices | None = None
        self.has_failed = False

    @property
    def is_known(self) -> bool:
        """Whether the machine was looked at."""
        return self._report is not None

    def look(self) -> None:
        """Look at the machine anew, unless that is being done."""
        if not self._tasks.is_busy:
            self.has_failed = False
            self._machine.show_looking()
            self._tasks.start(self._look())

    def look_once(self) -> None:
        """Look, unless that was done or tried."""
        if self._report is None and not self.has_failed:
            self.look()

    def find_pair(self, pair_id: str) -> CataloguePair | None:
        """The pair of the catalogue with this id."""
        pairs = self._pairs().pairs
        return next((pair for pair in pairs if pair.id == pair_id), None)

    def show(self) -> None:
        """Show what follows from the machine, the reserve and the context, as they are now."""
        pool = self._pool()
        if self._report is None or pool is None:
            return
        self._show_devices()
        self._machine.show_sentence(machine_sentence(self._report, pool))
        self._machine.show_memory(parts_of_pool(pool), pool.reserve_bytes, sum_words(pool))
        place = self._settings.value.setup
        context = place.context_tokens or DEFAULT_CONTEXT_TOKENS
        # Looked up once: a list may have a thousand rows, and asking of each reads the disk.
        here = {pair.id.casefold(): pair for pair in self._parts.all_loadable()}
        self.choices = choices_for(
            self._pairs(),
            pool,
            runtime=self._report.genai or installed_runtime() or "",
            context_tokens=context,
            pin=self._parts.pin,
            is_starter_installed=self._parts.starter.status().state is StarterState.READY,
            is_installed=lambda pair: (
                loadable(pair, lambda name: here.get(name.casefold())) is not None
            ),
            wanted_id=place.pair_id,
        )
        self._choose.show_context(context)
        self._choose.show_choices(self.choices)

    def forget_pairs(self) -> None:
        """Read the catalogue again the next time: the person added a pair."""
        self._catalogue = None

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        self._tasks.close()
        await self._tasks.wait()

    async def _look(self) -> None:
        if self._report is None and (known := await self._parts.probe.remembered()) is not None:
            await self._show_look(*known)
            self._machine.show_looking()  # it may have changed
        await self._show_look(*await self._parts.probe.look())

    async def _show_look(self, report: HardwareReport, devices: DeviceReport) -> None:
        # What the loaded pair takes is free for the one that takes its place.
        self._reclaimable_bytes = await self._parts.reclaimable_bytes(report)
        found = (*version_findings(devices), *findings(report, self._parts.load_known_drivers()))
        told = [{"id": one.id, "properties": property_fields(one)} for one in devices.devices]
        fields = {**report_fields(report), "devices": told}  # still a report that can be read
        raw = msgspec.json.format(msgspec.json.encode(fields), indent=2)
        self._report, self._devices = report, devices
        self._machine.show_machine(found, raw.decode())
        self.show()
        self._on_change()

    def _pool(self) -> MemoryPool | None:
        if self._report is None:
            return None
        settings = self._settings.value
        return memory_pool(
            self._report,
            reserve_bytes=settings.memory_reserve_bytes,
            device=settings.device,
            reclaimable_bytes=self._reclaimable_bytes,
        )

    def _show_devices(self) -> None:
        if self._devices is None:
            return
        try:
            automatic = people_name(choose_device(self._devices).full_name)
        except AppError:
            automatic = ""
        wanted = self._settings.value.device
        self._machine.show_devices(offered_devices(self._devices), wanted, automatic)

    def _pairs(self) -> Catalogue:
        if self._catalogue is None:
            self._catalogue, problem = self._parts.load_catalogue()
            if problem is not None:
                self._on_problem(problem)
        return self._catalogue

    def _show_problem(self, problem: Problem) -> None:
        self.has_failed = True
        self._machine.show_problem(with_retry(problem))
        self._on_change()
