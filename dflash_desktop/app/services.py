"""The services of the window, built once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.chat import Chat
from dflash_desktop.services.conversation_store import ConversationStore
from dflash_desktop.services.downloads import open_downloads
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.export_environments import ExportEnvironments
from dflash_desktop.services.export_opening import open_exports
from dflash_desktop.services.export_planning import open_export_planning
from dflash_desktop.services.gallery_store import GalleryStore
from dflash_desktop.services.hardware_probe import HardwareProbe
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.hub_reach import SettingsHubReach
from dflash_desktop.services.image_studio import ImageStudio
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.memory_watch import MemoryWatch
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.own_pairs import OwnPairs
from dflash_desktop.services.pair_library import PairLibrary
from dflash_desktop.services.pair_loading import PairLoading
from dflash_desktop.services.pictures import Pictures
from dflash_desktop.services.refetch import ModelRefetch
from dflash_desktop.services.starter import Starter
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.services.token_store import TokenStore
from dflash_desktop.services.worker_launch import WorkerLauncher

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.settings_store import SettingsStore


class Services:
    """Everything below the window; no process is started before something needs it."""

    def __init__(
        self,
        *,
        paths: AppPaths,
        settings: SettingsStore,
    ) -> None:
        launcher = WorkerLauncher(
            log_dir=paths.log_dir, is_network_off=lambda: settings.value.no_network
        )
        resources = starter_resources()
        self.paths = paths
        self.launcher = launcher
        self.settings = settings
        self.pin = resources.pin
        self.engine = Engine(launcher=launcher)
        self.starter = Starter(
            paths=paths, launcher=launcher, engine=self.engine, resources=resources
        )
        self.hardware = HardwareProbe(
            launcher=launcher, models_dir=lambda: paths.models_dir, memory_file=paths.hardware_file
        )
        self.measurements = MeasurementStore(paths.measurements_file)
        self.conversations = ConversationStore(paths.conversations_dir)
        self.pictures = Pictures(launcher=launcher, folder=paths.pictures_dir)
        self.own_pairs = OwnPairs(paths.own_pairs_file)
        self.models = ModelLibrary(
            paths=paths,
            in_use=self._folders_in_use,
            added_pairs=lambda: settings.value.added_pairs,
        )
        self.upkeep = LibraryUpkeep(paths=paths, library=self.models, settings=settings)
        self.library = PairLibrary(settings=settings, starter=self.starter, models=self.models)
        self.loading = PairLoading(
            engine=self.engine,
            compile_cache_dir=paths.compile_cache_dir,
            settings=settings,
            note_used=self.models.note_used,
            measurements=self.measurements,
        )
        self.gallery = GalleryStore(paths.gallery_dir)
        self.studio = ImageStudio(
            engine=self.engine,
            gallery=self.gallery,
            choose_device=lambda: self.loading.chosen_device(settings.value.device),
            compile_cache_dir=paths.compile_cache_dir,
            note_used=self.models.note_used,
        )
        self.tokens = TokenStore()
        self.hub = SettingsHubReach(settings=settings, tokens=self.tokens)
        self.downloads = open_downloads(
            paths=paths, launcher=launcher, models=self.models, hub=self.hub
        )
        self.refetch = ModelRefetch(
            paths=paths, launcher=launcher, library=self.models, hub=self.hub, explain=hub_problem
        )
        self.export_environments = ExportEnvironments(
            paths=paths, is_network_off=lambda: settings.value.no_network
        )
        self.export_planning = open_export_planning(
            paths=paths,
            launcher=launcher,
            hub=self.hub,
            environments=self.export_environments,
            reserve_bytes=lambda: settings.value.memory_reserve_bytes,
        )
        self.exports = open_exports(
            paths=paths,
            launcher=launcher,
            environments=self.export_environments,
            models=self.models,
            pairs=self.library,
            hub=self.hub,
            settings=settings,
            measurements=self.measurements,
        )
        self.memory = MemoryWatch(engine=self.engine, settings=settings)
        self.chat = Chat(
            engine=self.engine,
            measurements=self.measurements,
            conversations=self.conversations,
            settings=settings,
            pictures=self.pictures,
        )

    def _folders_in_use(self) -> tuple[Path, ...]:
        return (*self.loading.folders_in_use(), *self.studio.folders_in_use())
