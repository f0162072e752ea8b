"""Where settings, models, logs and resources live: the only place that builds such paths."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP_NAME = "dflash-desktop"
HOME_VARIABLE = "DFLASH_HOME"
"""Set to a folder, everything the program writes goes below it: for tests and for USB sticks."""


@dataclass(frozen=True, slots=True)
class AppPaths:
    """Folders of one installation; none is made before it is needed."""

    config_dir: Path
    data_dir: Path
    cache_dir: Path
    log_dir: Path

    @property
    def settings_file(self) -> Path:
        """The person's settings."""
        return self.config_dir / "settings.json"

    @property
    def own_pairs_file(self) -> Path:
        """Pairs that the person added, in the form of the program's own catalogue."""
        return self.config_dir / "pairs.json"

    @property
    def library_place_file(self) -> Path:
        """Says where the models are, once a person has moved them to another disk."""
        return self.data_dir / "library.json"

    @property
    def in_use_dir(self) -> Path:
        """Which processes have which models loaded."""
        return self.data_dir / "in-use"

    @property
    def downloads_file(self) -> Path:
        """The transfers that are not done."""
        return self.data_dir / "downloads.json"

    @property
    def downloads_lock_file(self) -> Path:
        """Held by the process that runs the transfers."""
        return self.data_dir / "downloads.lock"

    @property
    def starter_lock_file(self) -> Path:
        """Held by the process that installs the starter pair."""
        return self.data_dir / "starter.lock"

    @property
    def import_lock_file(self) -> Path:
        """Held by a process that makes a model of a file."""
        return self.data_dir / "import.lock"

    @property
    def exports_dir(self) -> Path:
        """What must be known of each export at the next start; one JSON file for each."""
        return self.data_dir / "exports"

    @property
    def exports_lock_file(self) -> Path:
        """Held by the process that runs exports."""
        return self.data_dir / "exports.lock"

    @property
    def repair_lock_file(self) -> Path:
        """Held by the process that repairs a model."""
        return self.data_dir / "repair.lock"

    @property
    def exporters_dir(self) -> Path:
        """The export environments, and what they share."""
        return self.data_dir / "exporters"

    @property
    def exporters_lock_file(self) -> Path:
        """Held by the process that installs or removes an export environment."""
        return self.data_dir / "exporters.lock"

    @property
    def window_lock_file(self) -> Path:
        """Held by the one window of this data folder."""
        return self.data_dir / "window.lock"

    @property
    def window_mark_file(self) -> Path:
        """There while the window runs, and after it if it did not end well."""
        return self.data_dir / "window.running"

    @property
    def data_format_file(self) -> Path:
        """Says how new the data here is."""
        return self.data_dir / "format.json"

    @property
    def checked_file(self) -> Path:
        """Says which installation of the program was found whole."""
        return self.cache_dir / "checked.json"

    @property
    def library_journal_file(self) -> Path:
        """Names both places while the models are on their way from one to the other."""
        return self.data_dir / "moving.json"

    @property
    def library_dir(self) -> Path:
        """What holds `models_dir` and `incoming_dir`.

        Read anew each time, since another process may have moved it: never keep it for long.
        """
        try:
            place = json.loads(self.library_place_file.read_bytes())["library_dir"]
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return self.data_dir
        is_usable = isinstance(place, str) and Path(place).is_absolute()
        return Path(place) if is_usable else self.data_dir

    @property
    def models_dir(self) -> Path:
        """Models that the program brought in."""
        return self.library_dir / "models"

    @property
    def incoming_dir(self) -> Path:
        """What is on its way; on the same disk as `models_dir`, so that moves are atomic."""
        return self.library_dir / "incoming"

    @property
    def added_models_dir(self) -> Path:
        """What is known of models that lie elsewhere; a folder for each."""
        return self.data_dir / "added"

    @property
    def library_lock_file(self) -> Path:
        """Held by whatever changes the library; it stays where it is when the library moves."""
        return self.data_dir / "library.lock"

    @property
    def conversations_dir(self) -> Path:
        """One JSON file for each conversation."""
        return self.data_dir / "conversations"

    @property
    def pictures_dir(self) -> Path:
        """Pictures of conversations, prepared, by the hash of their bytes."""
        return self.data_dir / "pictures"

    @property
    def gallery_dir(self) -> Path:
        """Pictures that were made here, each with its settings."""
        return self.data_dir / "gallery"

    @property
    def gallery_thumbnails_dir(self) -> Path:
        """Smaller ones of them, made anew when they are missing."""
        return self.cache_dir / "gallery"

    @property
    def measurements_file(self) -> Path:
        """Stored benchmark reports."""
        return self.data_dir / "measurements.json"

    @property
    def checks_file(self) -> Path:
        """The last checks of each pair."""
        return self.data_dir / "checks.json"

    @property
    def hardware_file(self) -> Path:
        """What OpenVINO last said of this machine's devices."""
        return self.cache_dir / "hardware.json"

    @property
    def compile_cache_dir(self) -> Path:
        """Compiled models of the OpenVINO runtime."""
        return self.cache_dir / "compiled"


def app_paths() -> AppPaths:
    """The folders of this person's installation, by the system's conventions."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        root = Path(home).absolute()  # "." on a stick must stay what it was at the start
        return AppPaths(root / "config", root / "data", root / "cache", root / "logs")
    dirs = platformdirs.PlatformDirs(APP_NAME, appauthor=False, roaming=False)
    return AppPaths(
        Path(dirs.user_config_dir),
        Path(dirs.user_data_dir),
        Path(dirs.user_cache_dir),
        Path(dirs.user_log_dir),
    )


def resources_dir() -> Path:
    """The resources that came with the program: packed into the package, or beside a checkout.

    Raises `FileNotFoundError` when neither is there, which means a broken installation.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_resources", package.parent / "resources"):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError("the program's resources folder is missing; install it again")


def source_dir() -> Path:
    """The folder that another Python must have on its path to run this package's modules.

    In a frozen program they are packed, so that plain ones lie apart, with nothing beside them.
    """
    if getattr(sys, "frozen", False):
        return Path(__file__).resolve().parents[1] / "source"
    return Path(__file__).resolve().parents[1]
