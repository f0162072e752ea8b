"""Tells the library's records that a repair has changed files, so that they count as whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import ModelFile
from dflash_desktop.services.added_models import records_of_added
from dflash_desktop.services.file_hashing import file_sha256
from dflash_desktop.services.model_manifest import read_record, record_dir, write_record

if TYPE_CHECKING:
    from pathlib import Path


def note_changed_files(folder: Path, names: tuple[str, ...], *, added_dir: Path) -> None:
    """Write the files' new sizes and hashes into every record of this folder.

    What the files were before the repair is in the folder itself. Blocking; raises `OSError`.
    """
    for records in (record_dir(folder), records_of_added(added_dir, folder)):
        record = read_record(records)
        if record is None:
            continue
        files = tuple(
            _as_it_is(folder, file) if file.path in names else file
            for file in record.manifest.files
        )
        write_record(records, replace(record, manifest=replace(record.manifest, files=files)))


def _as_it_is(folder: Path, file: ModelFile) -> ModelFile:
    path = folder / file.path
    if not path.exists():  # a file that was missing before the repair, and is again
        return file
    # A file that was never hashed is not hashed by the way: that is the verification's work.
    sha256 = file_sha256(path) if file.sha256 else ""
    return ModelFile(file.path, path.stat().st_size, sha256)
