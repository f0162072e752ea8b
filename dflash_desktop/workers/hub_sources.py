"""Where the files of one repository may come from, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dflash_desktop.domain.transfer import PlannedFile, RepoPlan
from dflash_desktop.workers.fetch_messages import HubAccess
from dflash_desktop.workers.hub_session import HubSession
from dflash_desktop.workers.incoming_folder import IncomingFolder
from dflash_desktop.workers.transfer_control import TransferControl

XetFetcher = Callable[[RepoPlan, PlannedFile, Path, Callable[[int], None]], Path]
"""Brings in one file below a folder, tells each time how many bytes more, and returns its path."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What all files of a repository share."""

    session: HubSession
    access: HubAccess
    plan: RepoPlan
    folder: IncomingFolder
    cache_dirs: Sequence[Path]
    control: TransferControl
    fetch_by_xet: XetFetcher | None
