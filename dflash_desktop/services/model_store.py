"""The models that the program brought in: read from the disk, and moved into place whole.

A new folder is there, complete and with its manifest, before an older one of the same model goes;
of two the later counts. So there is no moment at which neither is, whatever ends the program.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.file_names import RECORD_FOLDER
from dflash_desktop.domain.library import InstalledModel, ModelCondition
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.file_tree import (
    is_link,
    is_same,
    rename_folder,
    sizes_of,
    tree_entries,
    write_folder_through,
)
from dflash_desktop.services.model_manifest import (
    ModelRecord,
    encode_record,
    read_condition,
    read_last_use,
    read_record,
    record_dir,
    write_last_use,
    write_record,
)
from dflash_desktop.services.model_removal import refuse_if_in_use, remove_model

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from dflash_desktop.domain.library import ModelManifest

_log = logging.getLogger(__name__)

_NAME_LENGTH: Final = 24  # of a folder: Windows lends 260 characters to a whole path


def model_key(model_id: str) -> str:
    """What makes two ids the same model: a hub's names do not tell upper from lower case."""
    return model_id.casefold()


def own_models(models_dir: Path) -> tuple[InstalledModel, ...]:
    """All models that are whole, by id; of two of the same id the later. Blocking, quick.

    What has no manifest that can be used is not there. A model whose files are gone or have
    another size is damaged, which costs no reading to see.
    """
    latest: dict[str, InstalledModel] = {}
    for folder in model_folders(models_dir):
        model = read_model(folder)
        if model is None:
            continue
        known = latest.get(model_key(model.id))
        if known is None or _age(known) < _age(model):
            latest[model_key(model.id)] = model
    return tuple(sorted(latest.values(), key=lambda model: model_key(model.id)))


def model_folders(models_dir: Path) -> Iterator[Path]:
    """The folders that may hold a model; links to somewhere else are none of ours."""
    try:
        with os.scandir(models_dir) as entries:
            found = [Path(entry.path) for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return
    for folder in sorted(found):
        if folder.is_dir() and not is_link(folder):
            yield folder


def read_model(folder: Path) -> InstalledModel | None:
    """The model in this folder, or None without a valid manifest."""
    records = record_dir(folder)
    record = read_record(records)
    if record is None or record.folder:
        return None
    return with_condition(record, folder, records, is_ours=True)


def with_condition(
    record: ModelRecord, folder: Path, records: Path, *, is_ours: bool
) -> InstalledModel:
    """The model with what is known of its bytes, and a glance at names and sizes."""
    manifest, stored = record.manifest, read_condition(records)
    if stored is not None and stored.is_whole:
        manifest = replace(manifest, verified_at=stored.at)
    if stored is not None and not stored.is_whole:
        condition = ModelCondition.DAMAGED
    elif not is_ours and not folder.is_dir():
        condition = ModelCondition.ABSENT
    elif not _looks_whole(folder, manifest, follow_links=not is_ours):
        condition = ModelCondition.DAMAGED
    elif manifest.verified_at is None:
        condition = ModelCondition.UNVERIFIED
    else:
        condition = ModelCondition.VERIFIED
    return InstalledModel(
        id=record.id,
        title=record.title,
        path=folder,
        manifest=manifest,
        condition=condition,
        is_ours=is_ours,
        last_used_at=read_last_use(records),
    )


def install_folder(
    incoming: Path,
    manifest: ModelManifest,
    *,
    models_dir: Path,
    model_id: str = "",
    title: str = "",
) -> InstalledModel:
    """Move a complete folder into the library; whatever the manifest does not name is dropped.

    Both must be on one disk. `model_id` is the repository's unless given, which a model without a
    repository needs. Blocking: the files are written through to the disk first. An older folder
    of the same model stays until the caller removes it (`remove_superseded`).

    Raises `AppError`: "model_incomplete" when a file is not there in its size, "model_refused"
    for a manifest that must not be used, and "disk_full", "not_writable" or "write_failed". What
    was installed before then still is, and `incoming` can be used again.
    """
    named = model_id or manifest.repo_id
    record = ModelRecord(named, title or named.rpartition("/")[2] or named, manifest)
    try:
        encode_record(record)
    except ValueError as error:
        raise AppError(_refused(named, str(error))) from error
    try:
        _keep_only(incoming, manifest)
        older = [m for m in own_models(models_dir) if model_key(m.id) == model_key(named)]
        record = _dated(record, older)
        for file in manifest.files:
            _write_through(incoming / file.path)
        models_dir.mkdir(parents=True, exist_ok=True)
        write_record(record_dir(incoming), record)
        if older and older[0].last_used_at:
            write_last_use(record_dir(incoming), older[0].last_used_at)
        folder = _free_folder(models_dir, named, manifest.commit)
        rename_folder(incoming, folder)
        write_folder_through(models_dir)
    except OSError as error:
        raise AppError(
            write_problem(error, what=f"“{record.title}”", kept="Nothing that arrived is lost.")
        ) from error
    return with_condition(record, folder, record_dir(folder), is_ours=True)


def installed_already(
    incoming: Path, manifest: ModelManifest, *, models_dir: Path
) -> InstalledModel | None:
    """The model that is there, if every file that arrived is a second name of one of its own.

    So it is when nothing had changed. Blocking; what arrived can then be dropped.
    """
    for model in own_models(models_dir):
        there = model.manifest
        is_it = (there.repo_id, there.commit) == (manifest.repo_id, manifest.commit)
        if is_it and set(there.files) == set(manifest.files):
            names = [file.path for file in there.files]
            if all(is_same(incoming / name, model.path / name) for name in names):
                return model
    return None


def superseded_models(models_dir: Path) -> tuple[InstalledModel, ...]:
    """Models of which a later one is there, too; they count no more."""
    current = {model.path for model in own_models(models_dir)}
    others = (read_model(f) for f in model_folders(models_dir) if f not in current)
    return tuple(model for model in others if model is not None)


def remove_superseded(
    model: InstalledModel, *, models_dir: Path, in_use: Collection[Path]
) -> None:
    """Delete what this model replaced. Blocking; hold the library's lock.

    What cannot be deleted now stays as a leftover: it counts no more.
    """
    for old in superseded_models(models_dir):
        if model_key(old.id) != model_key(model.id):
            continue
        try:
            refuse_if_in_use(old, in_use)
            remove_model(old, models_dir=models_dir)
        except (AppError, OSError) as error:
            _log.info("the replaced folder %s stays for now: %s", old.path, error)


def _age(model: InstalledModel) -> tuple[float, str]:
    return model.manifest.installed_at.timestamp(), model.path.name


def _dated(record: ModelRecord, older: list[InstalledModel]) -> ModelRecord:
    """Later than what it replaces, whatever a clock that was set back says."""
    at = record.manifest.installed_at
    for model in older:
        at = max(at, model.manifest.installed_at + timedelta(milliseconds=1))
    return replace(record, manifest=replace(record.manifest, installed_at=at))


def _looks_whole(folder: Path, manifest: ModelManifest, *, follow_links: bool) -> bool:
    parents = {file.path.rpartition("/")[0] for file in manifest.files}
    sizes = sizes_of(folder, parents, follow_links=follow_links)
    return all(sizes.get(file.path) == file.size_bytes for file in manifest.files)


def _keep_only(incoming: Path, manifest: ModelManifest) -> None:
    """Drop what a transfer left beside the files, and see that all of them are there."""
    wanted = {file.path: file.size_bytes for file in manifest.files}
    empty: list[Path] = []
    for entry in tree_entries(incoming):
        if entry.is_folder:
            empty.append(incoming / entry.path)
        elif wanted.get(entry.path) == entry.size_bytes and entry.is_plain:
            del wanted[entry.path]
        elif entry.path in wanted:
            raise AppError(_incomplete(incoming, entry.path))
        elif not entry.path.startswith(f"{RECORD_FOLDER}/"):
            (incoming / entry.path).unlink()
    if wanted:
        raise AppError(_incomplete(incoming, min(wanted)))
    for folder in sorted(empty, reverse=True):
        with suppress(OSError):  # it holds files of the model
            folder.rmdir()


def _free_folder(models_dir: Path, model_id: str, commit: str) -> Path:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model_id.rpartition("/")[2]).strip("-._")
    name = plain[:_NAME_LENGTH].rstrip("-._") or "model"
    mark = hashlib.sha256(f"{model_key(model_id)}\n{commit}".encode()).hexdigest()[:6]
    folder = models_dir / f"{name}-{mark}"
    while folder.exists() or is_link(folder):
        folder = models_dir / f"{name}-{secrets.token_hex(3)}"
    return folder


def _write_through(path: Path) -> None:
    """A manifest must never promise bytes that a loss of power would take away."""
    mode = os.lstat(path).st_mode
    if not mode & stat.S_IWUSR:
        return  # made by others (a hub's cache keeps its files read-only): on the disk long since
    handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _incomplete(incoming: Path, path: str) -> Problem:
    return Problem(
        code="model_incomplete",
        headline="A file is missing at the end of the transfer.",
        advice="Something removed or changed it after it had arrived, perhaps a virus scanner. "
        "Try again: only this file is fetched.",
        detail=f"{incoming}: {path}",
        remedies=(Remedy.RETRY,),
    )


def _refused(model_id: str, detail: str) -> Problem:
    return Problem(
        code="model_refused",
        headline=f"“{model_id[:100]}” holds files that cannot be kept on this disk.",
        advice="Its file names are not safe. Choose another source for this model.",
        detail=detail[:1000],
        remedies=(Remedy.CHOOSE_MODEL,),
    )
