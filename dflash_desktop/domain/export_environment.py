"""The environments in which exports run, and which one a model needs.

No release of transformers exports every model: optimum-intel holds each architecture to a range of
releases, and refuses late, sometimes after it wrote files. So the choice is made before the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dflash_desktop.domain.export_model_types import transformers_range
from dflash_desktop.domain.model_facts import ModelKind
from dflash_desktop.domain.problems import AppError, Problem


class EnvironmentState(StrEnum):
    """What is known of an environment on this disk."""

    ABSENT = "absent"
    INSTALLING = "installing"
    READY = "ready"
    OUTDATED = "outdated"  # made from other requirements than this program's
    DAMAGED = "damaged"  # cut off, or a check failed: repair it


@dataclass(frozen=True, slots=True)
class EnvironmentStatus:
    """One environment; `id` is stable ("transformers-5.5")."""

    id: str
    title: str
    state: EnvironmentState
    used_for: str  # which models, in words
    size_bytes: int  # on disk, what it shares with others counted once
    needed_bytes: int  # of disk, to install it
    is_development: bool = False  # from source and nightly builds
    detail: str = ""


class EnvironmentStage(StrEnum):
    """The steps of an installation, in order."""

    PREPARING = "preparing"  # a Python, a folder
    PACKAGES = "packages"
    CHECKING = "checking"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class EnvironmentProgress:
    """One report of an installation; bytes are those that were written onto the disk."""

    stage: EnvironmentStage
    sentence: str
    package: str = ""  # that is being fetched, "torch"
    done_bytes: int = 0
    total_bytes: int = 0  # 0: nothing to count


@dataclass(frozen=True, slots=True)
class ExportEnvironment:
    """One environment as this program knows it; `transformers` is the release in it."""

    id: str
    title: str
    used_for: str
    transformers: tuple[int, ...]
    is_development: bool = False


DEVELOPMENT: Final = ExportEnvironment(
    id="development",
    title="Development builds",
    used_for=(
        "DFlash 2 and DSpark drafts. Made of whatever optimum-intel and OpenVINO were built of "
        "last: nobody has checked these builds, and what they export may not run."
    ),
    transformers=(),
    is_development=True,
)

ENVIRONMENTS: Final = (
    ExportEnvironment(
        id="transformers-5.5",
        title="Export tools with transformers 5.5",
        used_for="most text models, Gemma 4, and all DFlash drafts",
        transformers=(5, 5, 4),
    ),
    ExportEnvironment(
        id="transformers-5.2",
        title="Export tools with transformers 5.2",
        used_for="Qwen3.5, with and without pictures",
        transformers=(5, 2, 0),
    ),
    ExportEnvironment(
        id="transformers-4.57",
        title="Export tools with transformers 4.57",
        used_for="Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3-Next, Gemma 2 and older models",
        transformers=(4, 57, 6),
    ),
    DEVELOPMENT,
)
"""The first that knows a model is taken, so the newest; only what is asked for goes elsewhere."""


def export_environment(environment_id: str) -> ExportEnvironment:
    """The environment of this name. Raises `AppError` (code "export_environment_unknown")."""
    for environment in ENVIRONMENTS:
        if environment.id == environment_id:
            return environment
    known = ", ".join(environment.id for environment in ENVIRONMENTS)
    raise AppError(
        Problem(
            code="export_environment_unknown",
            headline="There are no export tools of this name.",
            advice=f"Known are: {known}.",
            detail=environment_id[:_SHOWN_LENGTH],
        )
    )


def choose_environment(
    model_type: str, *, kind: ModelKind | None = None, allow_development: bool = False
) -> ExportEnvironment:
    """Where a checkpoint is exported whose config.json says `model_type`.

    `kind` is given for drafts. DFlash 2 and DSpark, which no released exporter knows, go to the
    development builds, and only if a person allowed these. Raises `AppError` for what nothing
    installed can export, before anything was started.
    """
    if kind in (ModelKind.DFLASH2, ModelKind.DSPARK):
        if not allow_development:
            raise AppError(_needs_development(kind))
        return DEVELOPMENT
    if kind is ModelKind.EAGLE3:
        raise AppError(_EAGLE)
    allowed = transformers_range(model_type)
    if allowed is None:
        raise AppError(_unknown(model_type))
    for environment in ENVIRONMENTS:
        if not environment.is_development and allowed.holds(environment.transformers):
            return environment
    raise AppError(_other_release(model_type, allowed.words))


_SHOWN_LENGTH: Final = 80

_EAGLE: Final = Problem(
    code="export_kind_unsupported",
    headline="An Eagle3 draft is not exported by this program.",
    advice="Choose a DFlash draft, or export the target alone.",
)


def _unknown(model_type: str) -> Problem:
    named = f"“{model_type[:_SHOWN_LENGTH]}”" if model_type.strip() else "without a name"
    return Problem(
        code="export_kind_unknown",
        headline=f"The export tools do not know models of the kind {named}.",
        advice=(
            "Nothing was started. Look whether somebody has exported it already, or choose "
            "another model; a later version of this program may know it."
        ),
        detail=f"model_type: {model_type[:_SHOWN_LENGTH]!r}",
    )


def _other_release(model_type: str, words: str) -> Problem:
    return Problem(
        code="export_kind_unsupported",
        headline=f"Models of the kind “{model_type}” cannot be exported with these tools.",
        advice=(
            f"They need {words}, which none of this program's export tools has. Nothing was "
            f"started. Choose another model, or one that somebody has exported already."
        ),
        detail=f"model_type: {model_type!r}",
    )


def _needs_development(kind: ModelKind) -> Problem:
    label = {ModelKind.DFLASH2: "DFlash 2", ModelKind.DSPARK: "DSpark"}[kind]
    return Problem(
        code="export_needs_development",
        headline=f"No released export tool knows {label} drafts.",
        advice=(
            "A released tool would write a model that looks right and gains nothing, so nothing "
            "was started. The development builds may know it: allow them for this export, or "
            "choose a DFlash draft."
        ),
    )
