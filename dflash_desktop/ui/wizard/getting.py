"""Gets a pair from a hub for the setup: asks what it takes, follows the download, uses it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.pair_request import request_for_known_repos
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.domain.transfer import Transfer, TransferPlan, TransferRequest
    from dflash_desktop.ui.wizard.get_page import GetPage


class Transfers(Protocol):
    """What the setup asks of the downloads."""

    def transfers(self) -> tuple[Transfer, ...]:
        """All that are known."""

    def subscribe(self, listener: Callable[[], None], /) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""

    async def plan(self, request: TransferRequest) -> TransferPlan:
        """What it would take. Raises `AppError`."""

    def add(self, request: TransferRequest) -> None:
        """Start or queue it."""

    def pause(self, transfer_id: str) -> None:
        """Stop for now."""

    def resume(self, transfer_id: str) -> None:
        """Go on, or try again."""

    def remove(self, transfer_id: str, *, keep_files: bool) -> None:
        """Give it up."""


class Getting:
    """`find_loadable` knows the pairs that are on this disk already, `is_whole` the repositories.

    `on_arrived` is called with the id under which the pair can be loaded.
    """

    def __init__(
        self,
        *,
        page: GetPage,
        transfers: Transfers,
        find_loadable: Callable[[str], PairFolders | None],
        is_whole: Callable[[str], bool],
        on_arrived: Callable[[str], None],
    ) -> None:
        self._page = page
        self._transfers = transfers
        self._find_loadable = find_loadable
        self._is_whole = is_whole
        self._on_arrived = on_arrived
        self._pair: CataloguePair | None = None
        self._problem: Problem | None = None
        self._is_awaited = False
        self._tasks = TaskScope(owner=page, on_problem=self._show_problem)
        self._end = transfers.subscribe(self._on_transfers_changed)
        page.plan_requested.connect(self._ask)
        page.download_requested.connect(self._start)
        page.pause_requested.connect(transfers.pause)
        page.resume_requested.connect(transfers.resume)
        page.removed.connect(self._remove)

    def is_installed(self, pair: CataloguePair) -> bool:
        """Whether all of the pair is on this disk."""
        return loadable(pair, self._find_loadable) is not None

    def show(self, pair: CataloguePair) -> None:
        """Show how far this pair is: here, on its way, or what it would take."""
        self._pair = pair
        self._tasks.cancel_all()
        here = loadable(pair, self._find_loadable)
        if here is not None:
            self._on_arrived(here.id)
        elif (transfer := self._open_transfer()) is not None:
            self._is_awaited = True
            self._page.show_transfer(pair.title, transfer)
        else:
            self._is_awaited = False
            self._ask()

    @property
    def repo_ids(self) -> tuple[str, ...]:
        """The repositories of the pair; the one that the present problem is about first."""
        if self._pair is None:
            return ()
        transfer = self._open_transfer()
        problem = self._problem if transfer is None else transfer.problem
        said = "" if problem is None else problem.headline
        names = tuple(repo.repo_id for repo in request_for_known_repos(self._pair).repos)
        return tuple(sorted(names, key=lambda name: name not in said))

    def try_again(self) -> None:
        """Go on with what stopped, or ask the hub again."""
        transfer = self._open_transfer()
        if transfer is None:
            self._ask()
        else:
            self._transfers.resume(transfer.id)

    async def close(self) -> None:
        """Start nothing more; a download goes on by itself."""
        self._end()
        self._tasks.close()
        await self._tasks.wait()

    def _ask(self) -> None:
        if self._pair is None:
            return
        if not self._missing(self._pair).repos:
            self._page.show_problem(self._pair.title, _NOT_LOADABLE)
        else:
            self._page.show_planning(self._pair.title)
            self._tasks.start(self._plan(self._pair))

    async def _plan(self, pair: CataloguePair) -> None:
        plan = await self._transfers.plan(self._missing(pair))
        if pair is self._pair:
            self._page.show_plan(pair.title, plan)

    def _start(self) -> None:
        if self._pair is None:
            return
        try:
            self._transfers.add(self._missing(self._pair))
        except AppError as error:
            self._show_problem(error.problem)
            return
        self._on_transfers_changed()

    def _remove(self, transfer_id: str, keep_files: bool) -> None:
        self._transfers.remove(transfer_id, keep_files=keep_files)
        self._ask()

    def _on_transfers_changed(self) -> None:
        transfer, pair = self._transfer(), self._pair
        if pair is None or transfer is None:
            return
        if transfer.state is not TransferState.DONE:
            self._is_awaited = True
            self._page.show_transfer(pair.title, transfer)
        elif self._is_awaited:  # once only: later changes of other transfers are no arrival
            self._is_awaited = False
            self._take_in(pair)

    def _take_in(self, pair: CataloguePair) -> None:
        here = loadable(pair, self._find_loadable)
        if here is None:
            self._page.show_problem(pair.title, _NOT_LOADABLE)
        else:
            self._pair = None
            self._on_arrived(here.id)

    def _transfer(self) -> Transfer | None:
        wanted = None if self._pair is None else self._pair.id
        return next((one for one in self._transfers.transfers() if one.id == wanted), None)

    def _open_transfer(self) -> Transfer | None:
        """One that ended long ago says nothing about what is on the disk now."""
        transfer = self._transfer()
        is_done = transfer is not None and transfer.state is TransferState.DONE
        return None if is_done else transfer

    def _missing(self, pair: CataloguePair) -> TransferRequest:
        """Nobody is asked for a token, or waits for a hub, for what is on this disk already."""
        wanted = request_for_known_repos(pair)
        repos = tuple(repo for repo in wanted.repos if not self._is_whole(repo.repo_id))
        return replace(wanted, repos=repos)

    def _show_problem(self, problem: Problem) -> None:
        self._problem = problem
        title = "" if self._pair is None else self._pair.title
        self._page.show_problem(title, with_retry(problem))


def loadable(
    pair: CataloguePair, find_loadable: Callable[[str], PairFolders | None]
) -> PairFolders | None:
    """The pair if it is on this disk, or a target without a draft under its own name."""
    repository = pair.target.repository if pair.draft is None else None
    return find_loadable(pair.id) or find_loadable(repository or pair.id)


_NOT_LOADABLE: Final = Problem(
    code="pair_not_loadable",
    headline="It is in the library now, but it is no pair that this program can load.",
    advice="One of its models is not what its place in the pair asks for: see under Models what "
    "they are, or choose another pair.",
    remedies=(Remedy.CHOOSE_MODEL,),
)


def with_retry(problem: Problem) -> Problem:
    """The same problem with "Try again" among its ways out."""
    if Remedy.RETRY in problem.remedies:
        return problem
    return replace(problem, remedies=(Remedy.RETRY, *problem.remedies))
