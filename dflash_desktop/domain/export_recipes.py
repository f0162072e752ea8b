"""How each kind of checkpoint becomes an OpenVINO model: the commands, and why they are so.

A recipe is the command itself. What a person reads in the plan is what runs, with the two places
filled in: the folder that it reads and the folder that it writes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_request import WeightFormat

if TYPE_CHECKING:
    from collections.abc import Iterable

PROGRAM: Final = ("python", "-m", "dflash_desktop.workers.export_program")
"""What runs in the export environment, as it is called where the app is installed as a package."""
_OPTIMUM: Final = ("optimum-cli", "export", "openvino")
_GROUP_SIZES: Final = (128, 64, 32, 16)
_SOURCE: Final = ("--model", "--source")


class Recipe(StrEnum):
    """The ways of making a model; the value is stable."""

    TEXT_TARGET = "text-target"
    VISION_TARGET = "vision-target"
    DRAFT = "draft"
    OWN_CODE_DRAFT = "own-code-draft"
    GGUF_DRAFT = "gguf-draft"

    @property
    def task(self) -> str:
        """What optimum-cli exports it for: never inferred, since a folder tells it nothing.

        A vision target is exported whole: its language model alone is another graph.
        """
        return (
            "image-text-to-text" if self is Recipe.VISION_TARGET else "text-generation-with-past"
        )

    @property
    def is_draft(self) -> bool:
        """Whether it makes a DFlash draft."""
        return self not in {Recipe.TEXT_TARGET, Recipe.VISION_TARGET}

    @property
    def preparation(self) -> str:
        """The part of the export program that first makes a clean checkpoint; empty: none does."""
        return {Recipe.OWN_CODE_DRAFT: "copy-draft", Recipe.GGUF_DRAFT: "unpack-gguf"}.get(
            self, ""
        )


def convert_command(
    recipe: Recipe,
    *,
    model: str,
    output: str,
    weight_format: WeightFormat,
    group_size: int | None = None,
    all_layers: bool = False,
) -> tuple[str, ...]:
    """The whole command; `group_size` is that of int4.

    - The weight format is always named: without it the exporter itself makes int8 of a model
      with 1e9 parameters or more.
    - `--trust-remote-code` is for drafts alone, where the exporter puts a class of its own in
      place through `auto_map`. What it reads has none of the repository's code: the checkpoint
      was seen to bring none, or a copy without it was made (`Recipe.preparation`).
    - A draft needs no tokenizer: it is given its target's embeddings.
    """
    options = ["--model", model, "--task", recipe.task, "--weight-format", str(weight_format)]
    if weight_format is WeightFormat.INT4:
        size = str(group_size or _GROUP_SIZES[0])
        options += ["--group-size", size, "--group-size-fallback", "adjust"]
        options += ["--all-layers"] if all_layers else []
    if recipe.is_draft:
        options += ["--trust-remote-code", "--disable-convert-tokenizer"]
    return (*_OPTIMUM, *options, output)


def prepare_command(recipe: Recipe, *, source: str, output: str) -> tuple[str, ...]:
    """The command that makes a clean checkpoint; empty for a recipe that needs none."""
    if not recipe.preparation:
        return ()
    return (*PROGRAM, recipe.preparation, "--source", source, output)


def placed(command: tuple[str, ...], *, source: str, output: str) -> tuple[str, ...]:
    """The same command for other places. Raises `ValueError` for one that names no source."""
    at = next((i for i, word in enumerate(command) if word in _SOURCE), -1)
    if at < 0:
        raise ValueError(f"this command has no source: {command[:4]}")
    return (*command[: at + 1], source, *command[at + 2 : -1], output)


def fitting_group_size(widths: Iterable[int], wanted: int | None = None) -> int | None:
    """How many weights of a row share one scale: 128, else the largest that divides every width.

    `wanted` is taken as it is when it divides all of them. None when no size does: the exporter
    then takes for each matrix what divides it.
    """
    rows = [width for width in widths if width > 0]
    sizes = _GROUP_SIZES if wanted is None else (wanted,)
    return next((size for size in sizes if not any(width % size for width in rows)), None)
