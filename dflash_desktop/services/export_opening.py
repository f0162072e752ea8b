"""The exports of this installation, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.check_history import CheckHistory
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.export_fetch import ExportFetch
from dflash_desktop.services.export_finish import ExportFinish
from dflash_desktop.services.export_guard import ExportGuard
from dflash_desktop.services.export_work import ExportWork
from dflash_desktop.services.exports import Exports
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.keep_awake import KeepAwake
from dflash_desktop.services.library_install import LibraryInstalling
from dflash_desktop.services.machine_watch import MachineWatch
from dflash_desktop.services.pair_check import PairCheck
from dflash_desktop.services.pair_loading import PairLoading
from dflash_desktop.services.transfer_world import HubReach, TransferWorld

if TYPE_CHECKING:
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.export_environments import ExportEnvironments
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.pair_library import PairLibrary
    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.services.worker_launch import WorkerLauncher


def open_exports(
    *,
    paths: AppPaths,
    launcher: WorkerLauncher,
    environments: ExportEnvironments,
    models: ModelLibrary,
    pairs: PairLibrary,
    hub: HubReach,
    settings: SettingsStore,
    measurements: MeasurementStore,
    limit_bytes: int | None = None,
) -> Exports:
    """Nothing runs before `start` or `resume`; `limit_bytes` goes before the settings."""

    def make_check() -> tuple[Engine, PairCheck]:
        # An engine of its own, since the chat's may hold another model.
        engine = Engine(launcher=launcher)
        loading = PairLoading(
            engine=engine, compile_cache_dir=paths.compile_cache_dir, settings=settings
        )
        return engine, PairCheck(engine=engine, loading=loading)

    world = TransferWorld(
        launcher=launcher,
        hub=hub,
        installing=LibraryInstalling(library=models),  # each fetch has a folder of its own instead
        explain=hub_problem,
        make_watch=MachineWatch,
    )
    work = ExportWork(
        paths=paths,
        environments=environments,
        guard=ExportGuard(launcher=launcher),
        fetch=ExportFetch(world=world),
        finish=ExportFinish(
            library=models,
            pairs=pairs,
            settings=settings,
            history=CheckHistory(paths.checks_file),
            measurements=measurements,
            make_check=make_check,
        ),
        limit_bytes=lambda: limit_bytes or settings.value.export_memory_limit_bytes,
    )
    return Exports(paths=paths, stages=work, keep_awake=KeepAwake())
