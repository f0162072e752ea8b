"""Tells the library's records that a repair has changed files, so that they count as whole."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import ModelFile
from dflash_desktop.services.model_manifest import read_record, record_dir, write_record

if TYPE_CHECKING:
    from collections.abc import Iterator


def note_changed_files(folder: Path, names: tuple[str, ...], *, added_dir: Path) -> None:
    """Write the files' new sizes and hashes into every record of this folder.

    What the files were before the repair is in the folder itself. Blocking; raises `OSError`.
    """
    for records in _records_of(folder, added_dir):
        record = read_record(records)
        if record is None:
            continue
        files = tuple(
            _as_it_is(folder, file) if file.path in names else file
            for file in record.manifest.files
        )
        write_record(records, replace(record, manifest=replace(record.manifest, files=files)))


def _records_of(folder: Path, added_dir: Path) -> Iterator[Path]:
    yield record_dir(folder)
    try:
        added = sorted(added_dir.iterdir())
    except OSError:
        return
    for records in added:
        record = read_record(records)
        if record is not None and record.folder and folder == Path(record.folder):
            yield records


def _as_it_is(folder: Path, file: ModelFile) -> ModelFile:
    path = folder / file.path
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    # A file that was never hashed is not hashed by the way: that is the verification's work.
    return ModelFile(file.path, path.stat().st_size, sha256 if file.sha256 else "")
