"""Why a picture cannot be attached, in sentences: what happened, why, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.pictures import size_words
from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

_READ: Final = "JPEG, PNG, WebP, GIF, BMP, TIFF, AVIF and HEIC"
_SAVE_AS: Final = "Open it in the program that made it and save it as JPEG or PNG."
_AGAIN: Final = "Save or send it again from where it came from, then attach the new file."

_SENTENCES: Final = {
    "picture_missing": (
        "“{title}” is no longer there.",
        "It was moved, renamed or deleted meanwhile. Choose the file again.",
    ),
    "picture_denied": (
        "“{title}” cannot be opened: you may not read this file.",
        "Change its rights, or copy it to a folder of yours and attach the copy.",
    ),
    "picture_unreadable": (
        "“{title}” cannot be read: the disk gave an error.",
        "Look whether the disk or the network it lies on is still connected, then try again.",
    ),
    "picture_folder": (
        "“{title}” is a folder.",
        "Attach the pictures in it; several can be chosen at once.",
    ),
    "picture_not_a_file": (
        "“{title}” is a device or a pipe, not a file.",
        "Save the picture as a file, then attach that.",
    ),
    "picture_empty": (
        "“{title}” is empty: it has no bytes at all.",
        f"It was not saved or not downloaded completely. {_AGAIN}",
    ),
    "picture_file_too_large": (
        "“{title}” is too large for a picture: {file} of at most {max_file}.",
        "Save a smaller copy of it, for instance as JPEG.",
    ),
    "picture_too_large": (
        "“{title}” is too large: {size} pixels, {pixels} million of at most {max_pixels} million.",
        "Reduce it or cut out the part that matters. Models see 4 million pixels at most.",
    ),
    "picture_unknown": (
        "“{title}” is not a picture, or of a kind that this program does not know.",
        f"It reads {_READ}. {_SAVE_AS}",
    ),
    "picture_kind_not_read": (
        "“{title}” is of the kind “{kind}”, which this program does not read as a picture.",
        f"It reads {_READ}. {_SAVE_AS}",
    ),
    "picture_truncated": (
        "“{title}” is cut off: a part of the picture is missing.",
        f"It was not saved or not downloaded completely. {_AGAIN}",
    ),
    "picture_damaged": (
        "“{title}” is damaged and cannot be read.",
        f"Its bytes are not what such a file must have. {_AGAIN}",
    ),
    "picture_too_much_memory": (
        "“{title}” would need too much memory to be read.",
        (
            "Reading a picture may take 500 MB, so that a crafted file cannot take all. Save a "
            "smaller copy of it."
        ),
    ),
    "picture_too_slow": (
        "“{title}” took too long to be read and was given up.",
        (
            "Such a file is very large, crafted, or on a slow disk. Save a copy as JPEG on this "
            "machine and attach that."
        ),
    ),
    "picture_reader_ended": (
        "“{title}” brought down the process that reads pictures.",
        (
            "The file is probably damaged; the chat is not affected. Save it again in another "
            "program, for instance as PNG, then attach that."
        ),
    ),
    "disk_full": (
        "“{title}” could not be kept: the disk is full.",
        "Free some space and attach it again.",
    ),
    "folder_not_writable": (
        "“{title}” could not be kept: the program's folder does not allow it.",
        "Check the rights of the folder shown in the details, then attach it again.",
    ),
    "picture_not_saved": (
        "“{title}” could not be kept: the disk gave an error.",
        "Check the disk, then attach it again.",
    ),
}
_UNEXPECTED: Final = (
    "“{title}” could not be read.",
    "Save it in another program, for instance as PNG, then attach that. The log has more.",
)
_MILLION: Final = 1_000_000


def picture_problem(
    code: str, *, title: str, raw: str, facts: Mapping[str, int], words: Mapping[str, str]
) -> Problem:
    """The sentence for a code of the pictures process, or of what watches it."""
    headline, advice = _SENTENCES.get(code, _UNEXPECTED)
    filled = {
        "title": title,
        "kind": words.get("kind", ""),
        "file": format_bytes(facts.get("file_bytes", 0)),
        "max_file": format_bytes(facts.get("max_bytes", 0)),
        "size": size_words(facts.get("width", 0), facts.get("height", 0)),
        "pixels": f"{facts.get('width', 0) * facts.get('height', 0) / _MILLION:,.0f}",
        "max_pixels": f"{facts.get('max_pixels', 0) / _MILLION:,.0f}",
    }
    is_known = code in _SENTENCES
    return Problem(
        code=code if is_known else "picture_failed",
        headline=headline.format_map(filled),
        advice=advice,
        severity=Severity.WARNING,
        detail=raw,
        remedies=() if is_known else (Remedy.OPEN_LOG,),
    )
