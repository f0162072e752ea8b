"""What a file or folder is that the system or another start of the program asks us to open."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.checkpoint_files import is_weights
from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_draft import ARCHITECTURE
from dflash_desktop.domain.model_facts import TEXT_GRAPH, VISION_GRAPH
from dflash_desktop.domain.picture_kinds import (
    HEAD_BYTES,
    PILLOW_FORMATS,
    PictureKind,
    kind_of,
)
from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.services.gguf_file import read_header

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PATH_CHARACTERS: Final = 4096
_MODEL_FILES: Final = (TEXT_GRAPH, VISION_GRAPH)
_CONFIG: Final = "config.json"
_DEVICES: Final = ("\\\\.\\", "\\\\?\\globalroot", "//./")


_KINDS: Final = {
    Remedy.ATTACH_PICTURE: ("picture", "pictures"),
    Remedy.ADD_MODEL: ("model", "models"),
    Remedy.EXPORT: ("checkpoint", "checkpoints"),
}


@dataclass(frozen=True, slots=True)
class Opened:
    """Several things at once: what to say, and each way out with what it is for, if any."""

    problem: Problem
    ways: Mapping[Remedy, tuple[Path, ...]]

    def without(self, remedy: Remedy) -> Opened | None:
        """What is left to offer when this way was taken."""
        left = {way: paths for way, paths in self.ways.items() if way is not remedy}
        return Opened(_several(left, others=0), left) if left else None


def opened_of(texts: Sequence[str]) -> Opened:
    """What to say of at least one path. Blocking, like `offer_of`."""
    offers = [offer_of(text) for text in texts]
    ways: dict[Remedy, tuple[Path, ...]] = {}
    for problem, path in offers:
        if path is not None:
            way = problem.remedies[0]
            ways[way] = (*ways.get(way, ()), path)
    if len(offers) == 1:
        return Opened(offers[0][0], ways)
    others = sum(path is None for _, path in offers)
    return Opened(_several(ways, others=others), ways)


def offer_of(text: str) -> tuple[Problem, Path | None]:
    """What to say about it, and what can be taken in, if anything. Blocking.

    That is a model's folder, a GGUF file (the problem's code is "opened_gguf" then), a picture
    ("opened_picture"), or what can be exported: a checkpoint's folder or a draft's GGUF file. The
    first remedy is the way it goes.

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
            return _of_folder(path) or (_not_ours(path.name), None)
        if stat.S_ISREG(mode):
            return _of_file(path)
    except (OSError, ValueError) as error:
        return _gone(path, error), None
    return _not_ours(path.name), None


def _of_folder(folder: Path) -> tuple[Problem, Path] | None:
    """A model, or a checkpoint of one, by the names of its files. Raises `OSError`."""
    if any((folder / name).is_file() for name in _MODEL_FILES):
        return _folder(folder), folder
    if (folder / _CONFIG).is_file() and any(is_weights(file.name) for file in folder.iterdir()):
        return _checkpoint(folder), folder
    return None


def _of_file(path: Path) -> tuple[Problem, Path | None]:
    """By its first bytes, or for what it is in its folder. Raises `OSError`."""
    if path.name in (*_MODEL_FILES, _CONFIG) or is_weights(path.name):
        return _of_folder(path.parent) or (_not_ours(path.name), None)
    with path.open("rb") as file:
        kind = kind_of(file.read(HEAD_BYTES))
    if kind is PictureKind.MODEL:
        return (_draft(path) if _is_draft(path) else _gguf(path)), path
    return (_picture(path), path) if kind in PILLOW_FORMATS else (_not_ours(path.name), None)


def _is_draft(path: Path) -> bool:
    """Whether a GGUF file holds a draft; of a damaged one its import says what is wrong."""
    try:
        architecture = read_header(path).metadata.get("general.architecture")
    except GgufError:
        return False
    return architecture is not None and architecture.value == ARCHITECTURE


def _several(ways: Mapping[Remedy, tuple[Path, ...]], *, others: int) -> Problem:
    counts = [_counted(len(paths), *_KINDS[way]) for way, paths in ways.items()]
    *first, last = counts or ["nothing that this program opens"]
    words = f"{', '.join(first)} and {last}" if first else last
    advice = "It opens folders of models, GGUF files and pictures."
    if len(ways) > 1:
        advice = "Choose what comes first; the rest is offered again."
    elif ways:
        advice = "The files themselves stay as they are."
    if ways and others:
        left_out = "1 other is" if others == 1 else f"{others} others are"
        advice += f" {left_out} nothing that this program opens."
    return Problem(
        code="opened_several",
        headline=f"This is {words}." if not ways else f"{words} can be opened here.",
        advice=advice,
        severity=Severity.INFO,
        detail="\n".join(str(path) for paths in ways.values() for path in paths),
        remedies=tuple(ways),
    )


def _counted(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count} {many}"


def _folder(folder: Path) -> Problem:
    advice = "It can be used where it is: nothing is copied or changed there."
    return _offer("opened_model_folder", folder, "holds a model.", advice, Remedy.ADD_MODEL)


def _gguf(path: Path) -> Problem:
    advice = (
        "A model that a draft can read is made of it for the Models page. The file itself stays "
        "as it is."
    )
    return _offer("opened_gguf", path, "is a GGUF file.", advice, Remedy.ADD_MODEL)


def _checkpoint(folder: Path) -> Problem:
    what = "is a checkpoint, which OpenVINO cannot run as it is."
    advice = (
        "The Export page makes a model of it. First you see what that takes, and the folder "
        "itself stays as it is."
    )
    return _offer("opened_checkpoint", folder, what, advice, Remedy.EXPORT)


def _draft(path: Path) -> Problem:
    advice = (
        "The Export page makes a draft of it that OpenVINO can run. First you see what that "
        "takes, and the file itself stays as it is."
    )
    return _offer("opened_draft", path, "is a draft as a GGUF file.", advice, Remedy.EXPORT)


def _picture(path: Path) -> Problem:
    advice = "A model that sees can be asked about it. The file itself stays as it is."
    return _offer("opened_picture", path, "is a picture.", advice, Remedy.ATTACH_PICTURE)


def _offer(code: str, path: Path, what: str, advice: str, way: Remedy) -> Problem:
    return Problem(
        code=code,
        headline=f"“{path.name[:100]}” {what}",
        advice=advice,
        severity=Severity.INFO,
        detail=str(path),
        remedies=(way,),
    )


def _not_ours(name: str) -> Problem:
    return Problem(
        code="opened_unknown",
        headline=f"“{name[:100]}” is nothing that this program opens.",
        advice="It opens folders of models, GGUF files and pictures.",
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
