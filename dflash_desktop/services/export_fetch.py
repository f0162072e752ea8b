"""The stage that fetches a checkpoint: a transfer whose files go to an export."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.transfer import (
    RepoRequest,
    TransferRequest,
    TransferState,
    incoming_folder_name,
    request_id,
)
from dflash_desktop.domain.units import format_byte_rate, format_bytes
from dflash_desktop.services.export_steps import item_of, source_dir
from dflash_desktop.services.file_tree import rename_folder
from dflash_desktop.services.transfer_run import TransferRun
from dflash_desktop.services.transfer_store import StoredTransfer

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.export_plan import ExportPlan, ExportStep
    from dflash_desktop.domain.library import ModelFile
    from dflash_desktop.domain.transfer import RepoPlan, Transfer
    from dflash_desktop.services.export_journal import StoredExport
    from dflash_desktop.services.export_stages import StageTelling
    from dflash_desktop.services.transfer_world import TransferWorld


class ExportFetch:
    """Goes on where an earlier attempt stopped, at the commit that was planned."""

    def __init__(self, *, world: TransferWorld) -> None:
        self._world = world

    async def run(
        self, stored: StoredExport, step: ExportStep, telling: StageTelling, *, work_dir: Path
    ) -> StoredExport:
        """Every file of the checkpoint is there and verified. Raises `AppError`, `OSError`."""
        request = transfer_of(stored.plan, step)
        known = (one for one in stored.transfers if one.request == request)
        transfer = next(known, StoredTransfer(request))
        others = tuple(one for one in stored.transfers if one.request != request)
        saving: list[asyncio.Task[None]] = []

        def keep(changed: StoredTransfer) -> None:
            nonlocal stored
            stored = replace(stored, transfers=(*others, changed))
            saving.append(asyncio.create_task(_keep(telling, stored), name="keep an export"))

        item = item_of(stored.plan, step)
        world = replace(self._world, installing=_IntoFolder(source_dir(item, work_dir)))
        folder = work_dir / step.name
        run = TransferRun(
            transfer,
            folder=folder,
            world=world,
            show=lambda shown: _show(shown, telling),
            keep=keep,
        )
        try:
            await run.run()
        finally:
            if saving:
                await asyncio.wait(saving)
        await asyncio.to_thread(_remove_empty, folder)
        return stored


class _IntoFolder:
    """What `TransferRun` asks of a library, for one folder."""

    def __init__(self, destination: Path) -> None:
        self._destination = destination

    def known(self, plan: RepoPlan) -> RepoPlan:
        """Nothing of a checkpoint is installed anywhere."""
        return plan

    async def bring_back(self, incoming: Path, plan: RepoPlan) -> None:
        """See above."""

    async def install(
        self, incoming: Path, plan: RepoPlan, files: tuple[ModelFile, ...], *, endpoint: str
    ) -> None:
        """Move the verified files to where the exporter reads them. Raises `OSError`."""
        folder = incoming / incoming_folder_name(plan.repo_id)
        if folder.is_dir():
            await asyncio.to_thread(rename_folder, folder, self._destination)


def transfer_of(plan: ExportPlan, step: ExportStep) -> TransferRequest:
    """What a step of the kind "fetch" brings: the files that its command names, at its commit."""
    repo_id, *words = step.command[2:]
    files = tuple(words[: words.index("--revision")])
    commit = words[words.index("--revision") + 1]
    repos = (RepoRequest(repo_id, commit, tuple(map(_literal, files))),)
    return TransferRequest(request_id(repos), f"{plan.request.title}: {repo_id}", repos)


def _literal(name: str) -> str:
    """A name as a pattern that only it matches."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in name)


async def _keep(telling: StageTelling, stored: StoredExport) -> None:
    await telling.keep(stored)


def _show(transfer: Transfer, telling: StageTelling) -> None:
    total = transfer.total_bytes
    if not total:
        telling.progress(None, "Asking the hub")
    else:
        words = f"{format_bytes(transfer.done_bytes)} of {format_bytes(total)}"
        if transfer.state is TransferState.CHECKING:
            words = f"Checking {words}"
        elif transfer.bytes_per_second:
            words = f"{words}, {format_byte_rate(transfer.bytes_per_second)}"
        telling.progress(transfer.done_bytes / total, words)
    telling.notice(transfer.notice)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
