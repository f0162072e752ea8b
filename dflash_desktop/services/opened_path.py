"""What a file or folder is that the system or another start of the program asks us to open."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from dflash_desktop.domain.model_facts import TEXT_GRAPH, VISION_GRAPH
from dflash_desktop.domain.picture_kinds import (
    HEAD_BYTES,
    PILLOW_FORMATS,
    PictureKind,
    kind_of,
)
from dflash_desktop.domain.problems import Problem, Remedy, Severity

MAX_PATH_CHARACTERS: Final = 4096
_MODEL_FILES: Final = (TEXT_GRAPH, VISION_GRAPH)
_DEVICES: Final = ("\\\\.\\", "\\\\?\\globalroot", "//./")


def offer_of(text: str) -> tuple[Problem, Path | None]:
    """What to say about it, and what can be taken in, if anything. Blocking.

    That is a model's folder, a GGUF file (the problem's code is "opened_gguf" then) or a picture
    ("opened_picture").

    Nothing is done with the path but looking: whoever sent it may be anybody, so the person
    decides. A pipe or a device is never opened.
    """
    path = Path(text)
    is_plain = len(text) <= MAX_PATH_CHARACTERS and "\0" not in text
    if not is_plain or not path.is_absolute() or text.lower().startswith(_DEVICES):
        return _not_ours(text[:200]), None
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            folder = path if any((path / name).is_file() for name in _MODEL_FILES) else None
        elif stat.S_ISREG(mode) and path.name in _MODEL_FILES:
            folder = path.parent
        elif stat.S_ISREG(mode):
            return _of_file(path)
        else:
            folder = None
    except (OSError, ValueError) as error:
        return _gone(path, error), None
    return (_folder(folder), folder) if folder is not None else (_not_ours(path.name), None)


def _of_file(path: Path) -> tuple[Problem, Path | None]:
    """By its first bytes. Raises `OSError`."""
    with path.open("rb") as file:
        kind = kind_of(file.read(HEAD_BYTES))
    if kind is PictureKind.MODEL:
        return _gguf(path), path
    return (_picture(path), path) if kind in PILLOW_FORMATS else (_not_ours(path.name), None)


def _folder(folder: Path) -> Problem:
    return Problem(
        code="opened_model_folder",
        headline=f"“{folder.name[:100]}” holds a model.",
        advice="It can be used where it is: nothing is copied or changed there.",
        severity=Severity.INFO,
        detail=str(folder),
        remedies=(Remedy.ADD_MODEL,),
    )


def _gguf(path: Path) -> Problem:
    return Problem(
        code="opened_gguf",
        headline=f"“{path.name[:100]}” is a GGUF file.",
        advice=(
            "A model that a draft can read is made of it for the Models page. The file itself "
            "stays as it is."
        ),
        severity=Severity.INFO,
        detail=str(path),
        remedies=(Remedy.ADD_MODEL,),
    )


def _picture(path: Path) -> Problem:
    return Problem(
        code="opened_picture",
        headline=f"“{path.name[:100]}” is a picture.",
        advice="A model that sees can be asked about it. The file itself stays as it is.",
        severity=Severity.INFO,
        detail=str(path),
        remedies=(Remedy.ATTACH_PICTURE,),
    )


def _not_ours(name: str) -> Problem:
    return Problem(
        code="opened_unknown",
        headline=f"“{name[:100]}” is nothing that this program opens.",
        advice="It opens folders of OpenVINO models, GGUF files and pictures.",
        severity=Severity.INFO,
    )


def _gone(path: Path, error: Exception) -> Problem:
    return Problem(
        code="opened_unreadable",
        headline=f"“{path.name[:100]}” cannot be read.",
        advice="Look whether it is still there and whether you may read it.",
        severity=Severity.WARNING,
        detail=str(error),
    )
