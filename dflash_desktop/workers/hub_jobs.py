"""The fetch process's jobs with a hub: every fault becomes a `Failed`, without any secrets."""

from __future__ import annotations

import shutil
import sys
import traceback
from typing import TYPE_CHECKING

from dflash_desktop.workers.fetch_messages import FetchRepos, PlanRepos, ReposPlanned
from dflash_desktop.workers.hub_addresses import endpoint_of
from dflash_desktop.workers.hub_faults import (
    CancelledHereError,
    HubFaultError,
    fault_of_os_error,
    scrubbed,
)
from dflash_desktop.workers.hub_fetch import RepoFetch
from dflash_desktop.workers.hub_plan import plan_repos
from dflash_desktop.workers.hub_session import HubSession, prepare_environment
from dflash_desktop.workers.protocol import Failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.workers.fetch_messages import FilesProgress, ReposFetched


def answer_hub_job(
    command: PlanRepos | FetchRepos,
    *,
    send: Callable[[FilesProgress], None],
    is_cancelled: Callable[[], bool],
) -> ReposPlanned | ReposFetched | Failed:
    """Do the job. One a process: its settings hold from the import of huggingface_hub on."""
    access = command.access
    own_folder = command.incoming_dir / ".hub"
    try:
        prepare_environment(
            access,
            own_folder=own_folder,
            use_xet=isinstance(command, FetchRepos) and command.use_xet,
        )
        return _answer(command, send=send, is_cancelled=is_cancelled)
    except CancelledHereError:
        return Failed(command.job, "cancelled", "")
    except HubFaultError as fault:
        return _failed(command, fault)
    except OSError as error:
        return _failed(command, fault_of_os_error(error, needed_bytes=0, free_bytes=0))
    except Exception:  # noqa: BLE001  # its text may hold secrets, so it must not go further
        raw = scrubbed(traceback.format_exc(), access)
        sys.stderr.write(raw)
        return Failed(command.job, "worker_error", raw)
    finally:
        shutil.rmtree(own_folder, ignore_errors=True)


def _failed(command: PlanRepos | FetchRepos, fault: HubFaultError) -> Failed:
    access = command.access
    words = {name: scrubbed(word, access) for name, word in fault.words.items()}
    if "repo" in words:
        words["page"] = scrubbed(f"{endpoint_of(access)}/{words['repo']}", access)
    raw = scrubbed(str(fault), access)
    return Failed(command.job, fault.code, raw, facts=fault.facts, words=words)


def _answer(
    command: PlanRepos | FetchRepos,
    *,
    send: Callable[[FilesProgress], None],
    is_cancelled: Callable[[], bool],
) -> ReposPlanned | ReposFetched:
    seconds = command.answer_seconds if isinstance(command, PlanRepos) else command.stall_seconds
    session = HubSession(command.access, timeout_seconds=seconds)
    try:
        if isinstance(command, PlanRepos):
            return ReposPlanned(command.job, plan_repos(command, session))
        return RepoFetch(command, session, send=send, is_cancelled=is_cancelled).run()
    finally:
        session.close()
