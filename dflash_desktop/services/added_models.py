"""Models that a person keeps elsewhere: only what is known of them is ours, never their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.services.file_tree import is_link
from dflash_desktop.services.model_manifest import read_record
from dflash_desktop.services.model_store import with_condition

if TYPE_CHECKING:
    from dflash_desktop.domain.library import InstalledModel


def added_models(added_dir: Path) -> tuple[InstalledModel, ...]:
    """All models that were added, also those on a stick that is not there now. Blocking, quick."""
    try:
        folders = sorted(added_dir.iterdir())
    except OSError:
        return ()
    models = (read_added(folder) for folder in folders if not is_link(folder))
    return tuple(model for model in models if model is not None)


def read_added(records: Path) -> InstalledModel | None:
    """The model of which this is the record folder."""
    record = read_record(records)
    if record is None or not record.folder:
        return None
    return with_condition(record, Path(record.folder), records, is_ours=False)
