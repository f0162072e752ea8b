"""What the setup works with, beside the window's own presenters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from dflash_desktop.domain.catalogue import Catalogue
from dflash_desktop.domain.gpu_findings import KnownDriver
from dflash_desktop.domain.hardware import HardwareReport
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import Problem
from dflash_desktop.domain.starter import StarterPin
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.machine_look import MachineLook
from dflash_desktop.ui.starter.presenter import StarterInstall
from dflash_desktop.ui.wizard.getting import Transfers


@dataclass(frozen=True, slots=True)
class SetupParts:
    """Each for one purpose; nothing of it is started before it is needed."""

    pin: StarterPin
    probe: MachineLook
    load_catalogue: Callable[[], tuple[Catalogue, Problem | None]]
    """With what is wrong with the person's own part, which is left out then."""
    load_known_drivers: Callable[[], tuple[KnownDriver, ...]]
    starter: StarterInstall
    transfers: Transfers
    find_loadable: Callable[[str], PairFolders | None]
    all_loadable: Callable[[], tuple[PairFolders, ...]]
    is_whole: Callable[[str], bool]  # whether a repository's model is in the library, undamaged
    reclaimable_bytes: Callable[[HardwareReport], Awaitable[int]]  # by the pair that is loaded
    engine: Engine
    settings: SettingsStore
