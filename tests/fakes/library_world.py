"""Small models as a transfer leaves them, and a library to put them into."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dflash_desktop.domain.library import ModelFile, ModelManifest, ModelRole
from dflash_desktop.paths import AppPaths
from dflash_desktop.services.model_manifest import ModelRecord, record_dir, write_record

COMMIT = "a" * 40
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)

FILES = {
    "openvino_model.xml": b"<net/>",
    "openvino_model.bin": b"weights" * 100,
    "config.json": b"{}",
    "deep/er/notes é.txt": b"text",
}


@dataclass(frozen=True, slots=True)
class Arrived:
    """A folder in which every file arrived, and what it holds."""

    folder: Path
    files: tuple[ModelFile, ...]

    def manifest(
        self,
        *,
        repo_id: str = "owner/name",
        commit: str = COMMIT,
        role: ModelRole = ModelRole.TARGET,
        installed_at: datetime = NOW,
    ) -> ModelManifest:
        return ModelManifest(
            repo_id=repo_id,
            commit=commit,
            endpoint="https://hub.example",
            files=self.files,
            role=role,
            precision="int4",
            installed_at=installed_at,
            verified_at=installed_at,
        )


def app_paths(root: Path) -> AppPaths:
    return AppPaths(root / "config", root / "data", root / "cache", root / "logs")


def arrive(folder: Path, files: dict[str, bytes] | None = None) -> Arrived:
    """Write the files of a model and say what they are."""
    listed = []
    for path, data in (FILES if files is None else files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        listed.append(ModelFile(path, len(data), hashlib.sha256(data).hexdigest()))
    return Arrived(folder, tuple(listed))


def arrived_model(folder: Path) -> Arrived:
    """What is in a folder that somebody else wrote."""
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return arrive(folder, {path: file.read_bytes() for path, file in files.items()})


def many_models(paths: AppPaths, count: int) -> None:
    """So many targets of 15 small files, as they lie on the disk when they are installed."""
    files = {f"file{number}.bin": b"x" * number for number in range(13)}
    files |= {"openvino_model.xml": b"<net/>", "openvino_model.bin": b"weights"}
    for number in range(count):
        arrived = arrive(paths.models_dir / f"model-{number}", files)
        manifest = arrived.manifest(repo_id=f"owner/model-{number}")
        record = ModelRecord(manifest.repo_id, f"Model {number}", manifest)
        write_record(record_dir(arrived.folder), record)
