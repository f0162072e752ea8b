"""The models of the library that make pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.catalogue import ModelKind
from dflash_desktop.domain.image_models import ImageModel
from dflash_desktop.domain.library import ModelCondition, ModelRole
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.error_map import problem_from_failure
from dflash_desktop.services.model_store import model_key
from dflash_desktop.workers.image_folder import read_image_model
from dflash_desktop.workers.model_folder import ModelFolderError
from dflash_desktop.workers.protocol import Failed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dflash_desktop.domain.catalogue import Catalogue, CataloguePair
    from dflash_desktop.domain.library import InstalledModel


@dataclass(frozen=True, slots=True)
class ImageModelEntry:
    """One model, or why it cannot be used."""

    id: str
    title: str
    precision: str
    model: ImageModel | None
    problem: Problem | None = None


def image_models(
    installed: Iterable[InstalledModel], catalogue: Catalogue
) -> tuple[ImageModelEntry, ...]:
    """Those of the installed models that make pictures. Blocking, milliseconds each."""
    labels = {
        model_key(pair.target.repository): pair.target.content_label or ""
        for pair in offered_image_models(catalogue)
        if pair.target.repository
    }
    found = (one for one in installed if one.manifest.role is ModelRole.IMAGE)
    return tuple(_entry(one, labels.get(model_key(one.id), "")) for one in found)


def added_image_model(folder: Path) -> ImageModel:
    """The model in a folder that is not in the library. Raises `AppError`."""
    try:
        return read_image_model(folder, model_id=folder.name)
    except ModelFolderError as error:
        raise AppError(problem_from_failure(Failed(0, error.code, str(error)))) from error


def offered_image_models(catalogue: Catalogue) -> tuple[CataloguePair, ...]:
    """What the catalogue knows of models that make pictures."""
    return tuple(pair for pair in catalogue.pairs if pair.target.kind is ModelKind.IMAGE)


def _entry(installed: InstalledModel, label: str) -> ImageModelEntry:
    precision = installed.manifest.precision
    try:
        model = _read(installed, label)
    except ModelFolderError as error:
        problem = problem_from_failure(Failed(0, error.code, str(error)))
        return ImageModelEntry(installed.id, installed.title, precision, None, problem)
    return ImageModelEntry(installed.id, installed.title, precision, model)


def _read(installed: InstalledModel, label: str) -> ImageModel:
    if installed.condition is ModelCondition.ABSENT:
        raise ModelFolderError("model_missing", f"{installed.path} is not there")
    return read_image_model(
        installed.path, model_id=installed.id, title=installed.title, content_label=label
    )
