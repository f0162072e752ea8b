"""The turn of one transfer in the queue: run to its end, and the queue told how that was."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.services import transfer_problems as problems
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.folder_removal import remove_folder
from dflash_desktop.services.library_place import require_place
from dflash_desktop.services.transfer_run import TransferRun

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.transfer_queue import QueuedTransfer, TransferQueue
    from dflash_desktop.services.transfer_store import StoredTransfer
    from dflash_desktop.services.transfer_world import TransferWorld

_log = logging.getLogger(__name__)


async def take_turn(
    entry: QueuedTransfer,
    *,
    folder: Path,
    queue: TransferQueue,
    world: TransferWorld,
    paths: AppPaths,
) -> None:
    """Fetch into `folder`, which is gone after success. Raises nothing but its cancellation."""

    def show(transfer: Transfer) -> None:
        entry.shown = transfer
        queue.tell()

    def keep(stored: StoredTransfer) -> None:
        entry.stored = stored
        queue.changed()

    run = TransferRun(entry.stored, folder=folder, world=world, show=show, keep=keep)
    try:
        require_place(paths)
        await run.run()
        await remove_folder(folder)
    except AppError as error:
        _fail(queue, entry, error.problem)
    except OSError as error:
        _fail(queue, entry, write_problem(error, what="The download", kept="Nothing is lost."))
    except Exception as error:  # noqa: BLE001 - the queue must outlive our own mistakes
        _log.exception("a download ended by a mistake of the program")
        _fail(queue, entry, problems.failed("internal_error", repr(error)))
    else:
        queue.settle(entry, TransferState.DONE)


def _fail(queue: TransferQueue, entry: QueuedTransfer, problem: Problem) -> None:
    """A full disk pauses, since a person makes room and lets it go on."""
    is_full = problem.code == "disk_full"
    queue.settle(entry, TransferState.PAUSED if is_full else TransferState.FAILED, problem)
