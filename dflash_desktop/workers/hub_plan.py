"""What a transfer would bring: commits, files, sizes and hashes, and what is already here."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.file_names import (
    RECORD_FOLDER,
    colliding_paths,
    too_long_path,
    unsafe_reason,
)
from dflash_desktop.domain.transfer import PlannedFile, RepoPlan, RepoRequest, TransferPlan
from dflash_desktop.workers.disk_room import free_disk_bytes
from dflash_desktop.workers.hub_faults import HubFaultError, fault_of_response
from dflash_desktop.workers.incoming_folder import (
    BOOKKEEPING,
    IncomingFolder,
    cached_blob,
    is_on_same_disk,
    part_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from huggingface_hub.hf_api import ModelInfo, RepoSibling

    from dflash_desktop.workers.fetch_messages import PlanRepos
    from dflash_desktop.workers.hub_session import HubSession

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MAX_FILES: Final = 20_000
_SPARE_DISK_BYTES: Final = 16 * 1024 * 1024
"""For folders, the record, and what other programs write meanwhile."""


def plan_repos(command: PlanRepos, session: HubSession) -> TransferPlan:
    """Raises `HubFaultError`, also for names that must not be made here."""
    plans = tuple(_plan_repo(request, command, session) for request in command.repos)
    needed = needed_disk_bytes(plans, command.incoming_dir, command.cache_dirs)
    return TransferPlan(plans, needed, free_disk_bytes(command.incoming_dir))


def needed_disk_bytes(
    plans: Sequence[RepoPlan], incoming_dir: Path, cache_dirs: Sequence[Path]
) -> int:
    """What the disk must still give: cached files cost nothing where they can be linked."""
    needed = 0
    for plan in plans:
        folder = IncomingFolder(incoming_dir, plan.repo_id)
        for file in plan.files:
            blob = cached_blob(cache_dirs, plan.repo_id, file)
            if blob is None or not is_on_same_disk(blob, incoming_dir):
                needed += file.size_bytes - folder.present_bytes(file)
    return needed + _SPARE_DISK_BYTES if needed else 0


def check_names(repo_id: str, files: Iterable[PlannedFile], folder: IncomingFolder) -> None:
    """Raises `HubFaultError` for names that could do harm, or that cannot be made here."""
    paths = [file.path for file in files]
    for path in paths:
        reason = unsafe_reason(path)
        if reason is None and path.split("/")[0].casefold() in (BOOKKEEPING, RECORD_FOLDER):
            reason = "this program needs that name itself"
        if reason is not None:
            raise _unsafe(repo_id, path, reason)
    if collision := colliding_paths(paths):
        first, second = collision
        raise _unsafe(repo_id, second, f"on many systems it is the same as {first!r}")
    parts = [f"{BOOKKEEPING}/{part_name(file)}" for file in files]
    too_long = too_long_path(str(folder.root), paths + parts, is_windows=os.name == "nt")
    if too_long is not None:
        raise HubFaultError(
            "path_too_long",
            f"{folder.root}/{too_long}",
            facts={"characters": len(f"{folder.root}/{too_long}")},
            words={"file": too_long, "folder": str(folder.root)},
        )


def _plan_repo(request: RepoRequest, command: PlanRepos, session: HubSession) -> RepoPlan:
    session.check_repo_id(request.repo_id)
    info = session.model_info(request.repo_id, request.revision)
    commit = str(info.sha or "")
    if not _COMMIT.fullmatch(commit):
        raise _not_a_hub(session, request.repo_id, f"its commit is {commit!r}")
    files = _wanted_files(request, info, session)
    folder = IncomingFolder(command.incoming_dir, request.repo_id)
    check_names(request.repo_id, files, folder)
    plan = RepoPlan(
        repo_id=request.repo_id,
        commit=commit,
        files=tuple(
            replace(file, present_bytes=_present_bytes(file, request.repo_id, folder, command))
            for file in files
        ),
        licence=_licence(info),
        is_gated=bool(info.gated),
    )
    if plan.is_gated or info.private:
        _ask_for_access(plan, command, session)
    return plan


def _wanted_files(
    request: RepoRequest, info: ModelInfo, session: HubSession
) -> tuple[PlannedFile, ...]:
    siblings = info.siblings or []
    if len(siblings) > _MAX_FILES:
        raise _not_a_hub(session, request.repo_id, f"it lists {len(siblings)} files")
    files = []
    for sibling in siblings:
        path = str(sibling.rfilename)
        if not request.patterns or any(fnmatchcase(path, each) for each in request.patterns):
            files.append(_planned(path, sibling, request.repo_id, session))
    if not files:
        words = {"repo": request.repo_id, "patterns": ", ".join(request.patterns)}
        raise HubFaultError("nothing_to_fetch", f"{len(siblings)} files are there", words=words)
    return tuple(files)


def _planned(path: str, sibling: RepoSibling, repo_id: str, session: HubSession) -> PlannedFile:
    """Every file needs a size and a hash: what cannot be verified is not brought in."""
    size: object = sibling.lfs.size if sibling.lfs else sibling.size
    sha256: object = sibling.lfs.sha256 if sibling.lfs else None
    blob_id: object = sibling.blob_id
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 50:
        raise _not_a_hub(session, repo_id, f"the size of {path!r} is {size!r}")
    if sha256 is not None and not (isinstance(sha256, str) and _SHA256.fullmatch(sha256)):
        raise _not_a_hub(session, repo_id, f"the hash of {path!r} is {sha256!r}")
    if sha256 is None and not (isinstance(blob_id, str) and _COMMIT.fullmatch(blob_id)):
        raise _not_a_hub(session, repo_id, f"the hash of {path!r} is {blob_id!r}")
    return PlannedFile(
        path,
        size,
        sha256 if isinstance(sha256, str) else None,
        # Of a large file this is the hash of its pointer, which never arrives here.
        blob_id if sha256 is None and isinstance(blob_id, str) else None,
    )


def _present_bytes(
    file: PlannedFile, repo_id: str, folder: IncomingFolder, command: PlanRepos
) -> int:
    if cached_blob(command.cache_dirs, repo_id, file) is not None:
        return file.size_bytes
    return folder.present_bytes(file)


def _ask_for_access(plan: RepoPlan, command: PlanRepos, session: HubSession) -> None:
    """A gated repository's listing is open to all; its files are not, large ones above all."""
    largest = max(plan.files, key=lambda file: file.size_bytes)
    url = session.file_url(plan.repo_id, plan.commit, largest.path)
    with session.request("HEAD", url, stays_on_hub=True) as (response, _):
        if response.status_code in (401, 403):
            raise fault_of_response(
                response, command.access, repo_id=plan.repo_id, path=largest.path
            )


def _licence(info: ModelInfo) -> str:
    licence = getattr(info.card_data, "license", None)
    if licence == "other":
        licence = getattr(info.card_data, "license_name", None) or licence
    return licence if isinstance(licence, str) else ""


def _unsafe(repo_id: str, path: str, reason: str) -> HubFaultError:
    shown = path.encode("unicode_escape").decode()[:200]
    return HubFaultError(
        "unsafe_name",
        f"{shown!r} in {repo_id}: {reason}",
        words={"repo": repo_id, "file": shown, "reason": reason},
    )


def _not_a_hub(session: HubSession, repo_id: str, text: str) -> HubFaultError:
    words = {"repo": repo_id, "host": session.host}
    return HubFaultError("not_a_hub", f"the listing of {repo_id}: {text}", words=words)
