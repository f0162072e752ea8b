"""Keeps the transfers page and the count in the navigation true, and passes wishes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.sidebar import Sidebar
    from dflash_desktop.ui.transfers.pane import TransfersPane


class TransferQueue(Protocol):
    """What this page asks of the downloads."""

    def transfers(self) -> tuple[Transfer, ...]:
        """All that are known, in the order in which they run."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the answer ends that."""

    def pause(self, transfer_id: str) -> None:
        """Stop for now."""

    def resume(self, transfer_id: str) -> None:
        """Go on, try again, or try now what waits for its next attempt."""

    def remove(self, transfer_id: str, *, keep_files: bool) -> None:
        """Give up."""

    def move(self, transfer_id: str, position: int) -> None:
        """Change the order."""


class TransferCount:
    """Shows beside the page's name how many transfers are open."""

    def __init__(self, *, sidebar: Sidebar, queue: TransferQueue) -> None:
        self._sidebar = sidebar
        self._queue = queue
        self._shown = 0
        self._end = queue.subscribe(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Count again."""
        count = sum(transfer.is_open for transfer in self._queue.transfers())
        if count != self._shown:
            self._shown = count
            self._sidebar.show_count(Page.TRANSFERS, count)

    async def close(self) -> None:
        """Count no more."""
        self._end()


class TransfersPresenter:
    """`on_remedy(transfer, remedy)` takes the ways out that lead away from this page."""

    def __init__(
        self,
        *,
        pane: TransfersPane,
        queue: TransferQueue,
        on_remedy: Callable[[Transfer, Remedy], None],
    ) -> None:
        self._pane = pane
        self._queue = queue
        self._on_remedy = on_remedy
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._last: Callable[[], None] | None = None
        self._end = queue.subscribe(self.refresh)
        pane.pause_requested.connect(lambda i: self._do(lambda: queue.pause(i)))
        pane.resume_requested.connect(lambda i: self._do(lambda: queue.resume(i)))
        pane.removed.connect(lambda i, keep: self._do(lambda: queue.remove(i, keep_files=keep)))
        pane.moved.connect(self._move)
        pane.remedy_chosen.connect(self._take_remedy)
        pane.done_cleared.connect(self._clear_done)
        pane.retry_requested.connect(self._retry)
        self.refresh()

    def refresh(self) -> None:
        """Show the transfers as they are now."""
        self._pane.show_transfers(self._queue.transfers())

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        self._end()
        self._tasks.close()
        await self._tasks.wait()

    def _do(self, work: Callable[[], None]) -> None:
        """Run `work` where its `AppError` reaches the page."""
        self._last = work

        async def run() -> None:
            work()

        self._tasks.start(run())

    def _retry(self) -> None:
        if self._last is not None:
            self._do(self._last)

    def _move(self, transfer_id: str, steps: int) -> None:
        still_open = [t.id for t in self._queue.transfers() if t.is_open]
        if transfer_id in still_open:
            # Positions count all transfers: the neighbour's is the one to take.
            neighbour = still_open.index(transfer_id) + steps
            if 0 <= neighbour < len(still_open):
                everything = [t.id for t in self._queue.transfers()]
                position = everything.index(still_open[neighbour])
                self._do(lambda: self._queue.move(transfer_id, position))

    def _take_remedy(self, transfer_id: str, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self._do(lambda: self._queue.resume(transfer_id))
            return
        for transfer in self._queue.transfers():
            if transfer.id == transfer_id:
                self._on_remedy(transfer, remedy)

    def _clear_done(self) -> None:
        for transfer in self._queue.transfers():
            if not transfer.is_open:
                self._do(lambda i=transfer.id: self._queue.remove(i, keep_files=True))  # type: ignore[misc]
