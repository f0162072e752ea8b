"""The command line's composition root: what the commands share, built when first asked for."""

from __future__ import annotations

import contextlib
import logging
from functools import cached_property
from typing import TYPE_CHECKING, Self

from dflash_desktop.paths import app_paths

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.check_history import CheckHistory
    from dflash_desktop.services.downloads import Downloads
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.export_environments import ExportEnvironments
    from dflash_desktop.services.export_planning import ExportPlanning
    from dflash_desktop.services.exports import Exports
    from dflash_desktop.services.hardware_probe import HardwareProbe
    from dflash_desktop.services.hub_reach import SettingsHubReach
    from dflash_desktop.services.library_upkeep import LibraryUpkeep
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.pair_library import PairLibrary
    from dflash_desktop.services.pictures import Pictures
    from dflash_desktop.services.refetch import ModelRefetch
    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.services.starter import Starter
    from dflash_desktop.services.token_store import TokenStore
    from dflash_desktop.services.worker_launch import WorkerLauncher


class CommandContext:
    """The services and the log of one command; leaving it ends the processes that it started.

    Services are imported where they are built, since a help text must not wait for them.
    """

    def __init__(self, *, paths: AppPaths, launcher: WorkerLauncher) -> None:
        self.paths = paths
        self.launcher = launcher
        self._log_handler: logging.Handler | None = None

    @property
    def log_file(self) -> Path:
        """Where a command writes what is too much for the screen."""
        return self.paths.log_dir / "command.log"

    @classmethod
    def of_this_installation(cls) -> Self:
        """The context of the person who runs the program."""
        from dflash_desktop.services.worker_launch import WorkerLauncher

        paths = app_paths()
        context = cls(paths=paths, launcher=WorkerLauncher(log_dir=paths.log_dir))
        context.launcher = WorkerLauncher(
            log_dir=paths.log_dir, is_network_off=lambda: context.settings.value.no_network
        )
        return context

    @cached_property
    def engine(self) -> Engine:
        """The engine; its process starts with the first call that needs it."""
        from dflash_desktop.services.engine import Engine

        return Engine(launcher=self.launcher)

    @cached_property
    def hardware_probe(self) -> HardwareProbe:
        """What looks at this machine."""
        from dflash_desktop.services.hardware_probe import HardwareProbe

        return HardwareProbe(
            launcher=self.launcher,
            models_dir=lambda: self.paths.models_dir,
            memory_file=self.paths.hardware_file,
        )

    @cached_property
    def starter(self) -> Starter:
        """The starter pair of this installation."""
        from dflash_desktop.services.starter import Starter

        return Starter(paths=self.paths, launcher=self.launcher, engine=self.engine)

    @cached_property
    def models(self) -> ModelLibrary:
        """The models of this installation."""
        from dflash_desktop.services.model_library import ModelLibrary

        return ModelLibrary(paths=self.paths, added_pairs=lambda: self.settings.value.added_pairs)

    @cached_property
    def upkeep(self) -> LibraryUpkeep:
        """What is done with the library as a whole."""
        from dflash_desktop.services.library_upkeep import LibraryUpkeep

        return LibraryUpkeep(paths=self.paths, library=self.models, settings=self.settings)

    @cached_property
    def refetch(self) -> ModelRefetch:
        """What mends damaged models."""
        from dflash_desktop.services.hub_problems import hub_problem
        from dflash_desktop.services.refetch import ModelRefetch

        return ModelRefetch(
            paths=self.paths,
            launcher=self.launcher,
            library=self.models,
            hub=self.hub,
            explain=hub_problem,
        )

    @cached_property
    def exporters(self) -> ExportEnvironments:
        """The export environments of this installation."""
        from dflash_desktop.services.export_environments import ExportEnvironments

        return ExportEnvironments(
            paths=self.paths, is_network_off=lambda: self.settings.value.no_network
        )

    @cached_property
    def export_planning(self) -> ExportPlanning:
        """What says before an export what it takes."""
        from dflash_desktop.services.export_planning import open_export_planning

        return open_export_planning(
            paths=self.paths,
            launcher=self.launcher,
            hub=self.hub,
            environments=self.exporters,
            reserve_bytes=lambda: self.settings.value.memory_reserve_bytes,
        )

    def open_exports(self, *, limit_bytes: int | None = None) -> Exports:
        """The exports of this installation; what is given goes before the settings."""
        from dflash_desktop.services.export_opening import open_exports

        return open_exports(
            paths=self.paths,
            launcher=self.launcher,
            environments=self.exporters,
            models=self.models,
            pairs=self.pairs,
            hub=self.hub,
            settings=self.settings,
            measurements=self.measurements,
            limit_bytes=limit_bytes,
        )

    @cached_property
    def pairs(self) -> PairLibrary:
        """The pairs that can be loaded, as the window offers them."""
        from dflash_desktop.services.pair_library import PairLibrary

        return PairLibrary(settings=self.settings, starter=self.starter, models=self.models)

    @cached_property
    def hub(self) -> SettingsHubReach:
        """The way to the hub, as the settings say."""
        from dflash_desktop.services.hub_reach import SettingsHubReach

        return SettingsHubReach(settings=self.settings, tokens=self.tokens)

    @cached_property
    def tokens(self) -> TokenStore:
        """The token for the hub."""
        from dflash_desktop.services.token_store import TokenStore

        return TokenStore()

    def open_downloads(
        self, *, endpoint: str = "", max_bytes_per_second: int | None = None
    ) -> Downloads:
        """The downloads of this installation; what is given goes before the settings."""
        from dflash_desktop.services.downloads import open_downloads
        from dflash_desktop.services.hub_reach import SettingsHubReach
        from dflash_desktop.services.transfer_attempt import TransferLimits

        hub = SettingsHubReach(
            settings=self.settings,
            tokens=self.tokens,
            endpoint=endpoint,
            max_bytes_per_second=max_bytes_per_second,
        )
        return open_downloads(
            paths=self.paths,
            launcher=self.launcher,
            models=self.models,
            hub=hub,
            # A script must come to an end where a window may wait.
            limits=TransferLimits(waits_for_network=False),
        )

    @cached_property
    def measurements(self) -> MeasurementStore:
        """The stored measurements, shared with the window."""
        from dflash_desktop.services.measurement_store import MeasurementStore

        return MeasurementStore(self.paths.measurements_file)

    @cached_property
    def checks(self) -> CheckHistory:
        """The checks made before, shared with the window."""
        from dflash_desktop.services.check_history import CheckHistory

        return CheckHistory(self.paths.checks_file)

    @cached_property
    def settings(self) -> SettingsStore:
        """The person's settings, shared with the window."""
        from dflash_desktop.services.settings_store import SettingsStore

        return SettingsStore(self.paths.settings_file)

    @cached_property
    def pictures(self) -> Pictures:
        """What prepares pictures; those of a command go when no conversation mentions them."""
        from dflash_desktop.services.pictures import Pictures

        return Pictures(launcher=self.launcher, folder=self.paths.pictures_dir)

    async def __aenter__(self) -> Self:
        """Raises `AppError` when a newer program's data is here."""
        from dflash_desktop.log import log_to_file
        from dflash_desktop.services.data_format import require_known_data

        require_known_data(self.paths)
        # A full or write-protected disk is no reason not to answer.
        with contextlib.suppress(OSError):
            self._log_handler = log_to_file(self.log_file)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if "pictures" in self.__dict__:
                await self.pictures.close()
            if "engine" in self.__dict__:
                await self.engine.stop()
        finally:
            if self.paths.data_dir.exists():  # a question alone keeps nothing
                from dflash_desktop.services.data_format import leave_mark

                leave_mark(self.paths)
            if self._log_handler:
                logging.getLogger().removeHandler(self._log_handler)
                self._log_handler.close()
