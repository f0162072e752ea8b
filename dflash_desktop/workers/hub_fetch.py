"""Brings in all files of a transfer, several side by side, and ends at the first fault."""

from __future__ import annotations

import time
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.workers.disk_room import free_disk_bytes
from dflash_desktop.workers.fetch_messages import (
    FetchRepos,
    FilesProgress,
    FileState,
    ReposFetched,
)
from dflash_desktop.workers.hub_faults import (
    CancelledHereError,
    HubFaultError,
    fault_of_os_error,
)
from dflash_desktop.workers.hub_file import FileTransfer
from dflash_desktop.workers.hub_plan import check_names, needed_disk_bytes
from dflash_desktop.workers.hub_sources import Sources
from dflash_desktop.workers.hub_xet import is_xet_installed, xet_fetcher
from dflash_desktop.workers.incoming_folder import IncomingFolder
from dflash_desktop.workers.transfer_control import TransferControl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dflash_desktop.domain.library import ModelFile
    from dflash_desktop.domain.transfer import RepoPlan
    from dflash_desktop.workers.hub_session import HubSession

FILES_AT_ONCE: Final = 4
_REPORT_SECONDS: Final = 0.2
_POLL_SECONDS: Final = 0.05
_ENDING_SECONDS: Final = 0.5
_HANGING_GRACE_SECONDS: Final = 5.0
"""Beyond the client's own limit: what hangs elsewhere (Xet, a name server, a network disk)."""


class RepoFetch:
    """One `FetchRepos`; `is_cancelled` is asked and `send` called on the thread that runs it."""

    def __init__(
        self,
        command: FetchRepos,
        session: HubSession,
        *,
        send: Callable[[FilesProgress], None],
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._command = command
        self._session = session
        self._send = send
        self._is_cancelled = is_cancelled
        self._control = TransferControl(max_bytes_per_second=command.max_bytes_per_second)
        self._plans = _limited(command)
        self._folders = [
            IncomingFolder(command.incoming_dir, plan.repo_id) for plan in self._plans
        ]
        self._transfers: list[list[FileTransfer]] = []
        self._sent: dict[tuple[int, str], FileState] = {}

    def run(self) -> ReposFetched:
        """Raises `HubFaultError` or `CancelledHereError`."""
        try:
            self._prepare()
            files = self._fetch_all()
            self._look_again()
        except OSError as error:
            raise self._disk_fault(error) from error
        for folder in self._folders:
            folder.finish()
        return ReposFetched(self._command.job, files)

    def _prepare(self) -> None:
        for plan, folder in zip(self._plans, self._folders, strict=True):
            self._session.check_repo_id(plan.repo_id)
            check_names(plan.repo_id, plan.files, folder)
        needed, free = self._needed_bytes(), free_disk_bytes(self._command.incoming_dir)
        if needed > free:
            facts = {"needed_bytes": needed, "free_bytes": free}
            raise HubFaultError("disk_full", "before the transfer began", facts=facts)
        by_xet = None
        if (
            self._command.use_xet
            and self._command.max_bytes_per_second is None  # which Xet does not know
            and is_xet_installed()
        ):
            by_xet = xet_fetcher(self._command.access, self._session.endpoint)
        for plan, folder in zip(self._plans, self._folders, strict=True):
            folder.make()
            folder.forget_parts(plan.files)
            sources = Sources(
                session=self._session,
                access=self._command.access,
                plan=plan,
                folder=folder,
                cache_dirs=self._command.cache_dirs,
                control=self._control,
                fetch_by_xet=by_xet,
            )
            self._transfers.append([FileTransfer(sources, file) for file in plan.files])

    def _fetch_all(self) -> tuple[tuple[ModelFile, ...], ...]:
        # The largest first: small ones fill the gaps at the end.
        order = sorted(
            (transfer for repo in self._transfers for transfer in repo),
            key=lambda transfer: transfer.file.size_bytes,
            reverse=True,
        )
        pool = ThreadPoolExecutor(FILES_AT_ONCE, thread_name_prefix="fetching")
        try:
            futures = {id(transfer): pool.submit(transfer.run) for transfer in order}
            self._watch(list(futures.values()))
            return tuple(
                tuple(futures[id(transfer)].result() for transfer in repo)
                for repo in self._transfers
            )
        finally:
            self._control.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            # Those that hang do not hold up the answer, after which this process is ended.
            wait([f for f in futures.values() if not f.cancelled()], _ENDING_SECONDS)

    def _watch(self, futures: Sequence[Future[ModelFile]]) -> None:
        """Until all are done; tells the progress. Raises what the first of them raised."""
        reported_at = 0.0
        while True:
            done, running = wait(futures, _POLL_SECONDS, FIRST_EXCEPTION)
            for future in done:
                future.result()
            now = time.monotonic()
            if now - reported_at >= _REPORT_SECONDS or not running:
                self._report()
                reported_at = now
            if not running:
                return
            if self._is_cancelled():
                raise CancelledHereError
            limit = self._command.stall_seconds + _HANGING_GRACE_SECONDS
            if now - self._control.last_sign_of_life > limit:
                raise HubFaultError("stalled", f"nothing happened for {limit:.0f} s")

    def _report(self) -> None:
        changed = []
        for repo, transfers in enumerate(self._transfers):
            for transfer in transfers:
                state = FileState(
                    repo, transfer.file.path, transfer.done_bytes, transfer.is_verified
                )
                if self._sent.get((repo, state.path)) != state:
                    self._sent[repo, state.path] = state
                    changed.append(state)
        if changed:
            self._send(FilesProgress(self._command.job, tuple(changed)))

    def _look_again(self) -> None:
        """Some virus scanners take files away right after they were made, and say nothing."""
        for plan, folder in zip(self._plans, self._folders, strict=True):
            for file in plan.files:
                final = folder.final_path(file)
                if not final.is_file() or final.stat().st_size != file.size_bytes:
                    raise HubFaultError(
                        "file_vanished",
                        f"{final} is not there any more",
                        words={"file": file.path, "folder": str(folder.root)},
                    )

    def _needed_bytes(self) -> int:
        return needed_disk_bytes(self._plans, self._command.incoming_dir, self._command.cache_dirs)

    def _disk_fault(self, error: OSError) -> HubFaultError:
        if isinstance(error, FileNotFoundError):
            return HubFaultError(
                "file_vanished",
                str(error),
                words={"file": str(error.filename), "folder": str(self._command.incoming_dir)},
            )
        return fault_of_os_error(
            error,
            needed_bytes=self._needed_bytes(),
            free_bytes=free_disk_bytes(self._command.incoming_dir),
        )


def _limited(command: FetchRepos) -> tuple[RepoPlan, ...]:
    """The plans with the first one limited to the files that a repair asks for."""
    if not command.only_paths or not command.plans:
        return command.plans
    first, *others = command.plans
    wanted = tuple(file for file in first.files if file.path in command.only_paths)
    return (replace(first, files=wanted), *others)
