"""What the pairs on this disk would take of the memory, found out beside the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.memory_parts import MemoryPart, parts_of_budget
from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.recommend import DEFAULT_CONTEXT_TOKENS
from dflash_desktop.services.pair_memory import pair_budget
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from PySide6.QtCore import QObject

    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.memory_budget import MemoryBudget
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.machine_look import MachineLook

_MOST_READ: Final = 8
"""Reading a large graph takes a second; nobody compares more at once."""

_Key = tuple["Path", "Path | None"]


class PairBudgets:
    """`on_change` is called when more is known than before."""

    def __init__(
        self,
        *,
        owner: QObject,
        machine: MachineLook,
        pool_of: Callable[[HardwareReport], Awaitable[MemoryPool]],
        on_change: Callable[[], None],
        on_problem: Callable[[Problem], None],
    ) -> None:
        self._machine = machine
        self._pool_of = pool_of
        self._on_change = on_change
        self._tasks = TaskScope(owner=owner, on_problem=on_problem)
        self._pool: MemoryPool | None = None
        self._budgets: dict[_Key, MemoryBudget | None] = {}

    def parts(self, pair: PairFolders) -> tuple[MemoryPart, ...]:
        """What it takes and what stays free; nothing while that is not known."""
        budget = self._budgets.get((pair.target_dir, pair.draft_dir))
        if budget is None or self._pool is None:
            return ()
        return parts_of_budget(budget, self._pool.usable_bytes)

    @property
    def usable_bytes(self) -> int:
        """What a model may take; 0 while that is not known."""
        return 0 if self._pool is None else self._pool.usable_bytes

    def find_out(self, pairs: Sequence[PairFolders]) -> None:
        """Read the first of these pairs, unless that is being done or was done."""
        new = [
            pair
            for pair in pairs[:_MOST_READ]
            if (pair.target_dir, pair.draft_dir) not in self._budgets
        ]
        if new and not self._tasks.is_busy:
            self._tasks.start(self._read(new))

    async def close(self) -> None:
        """Read no more."""
        self._tasks.close()
        await self._tasks.wait()

    async def _read(self, pairs: list[PairFolders]) -> None:
        if self._pool is None:
            known = await self._machine.remembered()
            report, _ = known if known is not None else await self._machine.look()
            self._pool = await self._pool_of(report)
        for pair in pairs:
            self._budgets[pair.target_dir, pair.draft_dir] = await pair_budget(
                pair.target_dir,
                pair.draft_dir,
                context_tokens=DEFAULT_CONTEXT_TOKENS,
                runs_on_cpu=self._pool.kind is PoolKind.SYSTEM,
            )
        self._on_change()
