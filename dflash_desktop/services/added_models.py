"""Models that a person keeps elsewhere: only what is known of them is ours, never their files."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.file_names import colliding_paths, unsafe_reason
from dflash_desktop.domain.library import InstalledModel, ModelFile, ModelManifest, ModelRole
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.file_tree import is_link
from dflash_desktop.services.model_description import describe_model
from dflash_desktop.services.model_manifest import (
    CONDITION_NAME,
    ModelRecord,
    read_record,
    record_dir,
    utc_now,
    write_record,
)
from dflash_desktop.services.model_store import model_key, own_models, with_condition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from dflash_desktop.paths import AppPaths

_FILE_LIMIT: Final = 20_000
_DEPTH_LIMIT: Final = 8
_TITLE_LIMIT: Final = 255
_CACHE_NAME: Final = re.compile(r"models--(.+)--(.+)")  # of a repository in the hub's own cache


def all_models(paths: AppPaths) -> tuple[InstalledModel, ...]:
    """The program's own models, and added ones whose id is free, by id. Blocking, quick."""
    models = {model_key(model.id): model for model in own_models(paths.models_dir)}
    for model in added_models(paths.added_models_dir):
        models.setdefault(model_key(model.id), model)
    return tuple(models[key] for key in sorted(models))


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


def records_of_added(added_dir: Path, folder: Path) -> Path:
    """Where the record of this folder lies: one for each folder, however often it is added."""
    place = os.path.normcase(folder.absolute())
    return added_dir / hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def add_folder(
    folder: Path, *, title: str, added_dir: Path, taken_ids: Collection[str]
) -> InstalledModel:
    """Remember a model where it is; nothing is copied and nothing is written there. Blocking.

    Hashes of its files are known at once only if the folder came from a library like ours.
    `taken_ids` are those of other models. Raises `AppError`: "folder_unreadable", "no_model" when
    the folder holds none, and "folder_name_refused"; and `OSError` when the record cannot be kept.
    """
    folder = folder.absolute()
    if not _is_unicode(str(folder)):
        raise AppError(_name_refused(folder))
    known = read_record(record_dir(folder))
    repo_id, commit = (known.manifest.repo_id, known.manifest.commit) if known else _origin(folder)
    wanted = known.id if known else repo_id or folder.name.strip()[:200] or "model"
    role, precision = describe_model(folder, name=wanted)
    if role is ModelRole.OTHER:
        raise AppError(_no_model(folder))
    records = records_of_added(added_dir, folder)
    before = read_record(records)
    model_id = before.id if before else _free_id(wanted, taken_ids)
    manifest = ModelManifest(
        repo_id=repo_id,
        commit=commit,
        endpoint=known.manifest.endpoint if known else "",
        files=known.manifest.files if known else tuple(_files(folder)),
        role=role,
        precision=precision,
        installed_at=utc_now(),
        verified_at=None,
    )
    named = " ".join(title.split())[:_TITLE_LIMIT] or wanted.rpartition("/")[2]
    record = ModelRecord(model_id, named, manifest, str(folder))
    (records / CONDITION_NAME).unlink(missing_ok=True)  # it is about what was there before
    write_record(records, record)
    return with_condition(record, folder, records, is_ours=False)


def keep_hashes(records: Path, model: InstalledModel) -> None:
    """Write down what the files of an added model are. Raises `OSError`."""
    manifest = replace(model.manifest, verified_at=utc_now())
    write_record(records, ModelRecord(model.id, model.title, manifest, str(model.path)))


def forget_added(records: Path) -> None:
    """Forget an added model; its own folder is not touched. Raises `OSError`."""
    if is_link(records) or not records.is_dir():
        return
    shutil.rmtree(records)


def _files(folder: Path) -> Iterator[ModelFile]:
    """Its files without hashes; a link counts as what it leads to, as in the hub's cache.

    Left out is what begins with a dot (version control, caches) and what no manifest may name.
    """
    found: list[ModelFile] = []
    pending = [("", 0)]
    while pending and len(found) < _FILE_LIMIT:
        prefix, depth = pending.pop()
        for entry in sorted(os.scandir(folder / prefix), key=lambda one: one.name):
            path = f"{prefix}{entry.name}"
            if entry.name.startswith(".") or unsafe_reason(path):
                continue
            if entry.is_file():
                found.append(ModelFile(path, entry.stat().st_size, ""))
            elif entry.is_dir(follow_symlinks=False) and depth < _DEPTH_LIMIT:
                pending.append((f"{path}/", depth + 1))
    while (collision := colliding_paths(file.path for file in found)) is not None:
        found = [file for file in found if file.path != collision[1]]
    return iter(found)


def _origin(folder: Path) -> tuple[str, str]:
    """Repository and commit of a folder in the hub's own cache; empty for any other."""
    match = _CACHE_NAME.fullmatch(folder.parent.parent.name)
    is_cache = match is not None and folder.parent.name == "snapshots"
    if match is None or not is_cache or not re.fullmatch("[0-9a-f]{40}", folder.name):
        return "", ""
    return f"{match[1]}/{match[2]}", folder.name


def _free_id(wanted: str, taken_ids: Collection[str]) -> str:
    taken = {model_key(one) for one in taken_ids}
    candidate, number = wanted, 1
    while model_key(candidate) in taken:
        number += 1
        candidate = f"{wanted}-{number}"
    return candidate


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_model(folder: Path) -> Problem:
    return Problem(
        code="no_model",
        headline=f"“{folder.name[:100]}” holds no model that this program knows.",
        advice="Choose the folder in which openvino_model.xml lies.",
        detail=str(folder),
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def _name_refused(folder: Path) -> Problem:
    return Problem(
        code="folder_name_refused",
        headline="The name of this folder is not valid text.",
        advice="Rename it, then add it again.",
        detail=repr(str(folder)),
        remedies=(Remedy.CHOOSE_MODEL,),
    )
