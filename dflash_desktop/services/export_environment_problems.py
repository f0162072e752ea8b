"""What can go wrong with an export environment, in words that lead on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.services.error_sentences import Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.export_environment import ExportEnvironment

# First match wins: a transfer that broke off also tells of requests that failed.
_FAILURES: Final[tuple[tuple[str, str], ...]] = (
    (r"os error 28\b|os error 112\b|os error 122\b|No space left on device", "disk_full"),
    (r"Hash mismatch|Failed to extract archive|Invalid zip", "export_hash_mismatch"),
    (r"invalid peer certificate|UnknownIssuer|CertificateRequired", "certificate_refused"),
    (r"os error 13\b|os error 30\b|os error 5\b|Permission denied", "not_writable"),
    (r"there is no version of|not found in the package registry", "export_package_missing"),
    (r"no wheels with a matching|no wheels (?:are )?available", "export_package_missing"),
    (r"HTTP status (?:client|server) error|HTTP/.* [45]\d\d", "export_index_refused"),
    (r"reading a body|decoding response body|before message length", "download_failed"),
    (r"dns error|client error \(Connect\)|error sending request|tcp connect", "no_network"),
    (r"operation timed out|connection (?:reset|closed)|IncompleteMessage", "download_failed"),
    (r"No interpreter found", "export_python_missing"),
)

_SENTENCES: Final = {
    "export_hash_mismatch": Sentence(
        "The export tools were not installed: a package is not the one that was tested.",
        "It was changed on its way, or a mirror offers another file under the same name. Nothing "
        "of it was run. Try again in another network, or ask whoever keeps the mirror.",
    ),
    "certificate_refused": Sentence(
        "The export tools could not be downloaded: the connection's certificate is not trusted.",
        "A company proxy or a virus scanner may put its own certificate in between; pip must be "
        "told to trust it (its setting “cert”).",
    ),
    "export_package_missing": Sentence(
        "The export tools could not be downloaded: the package index lacks one of them.",
        "If you use a mirror, it may be behind or leave out PyTorch: the details name the "
        "package. Try again later, or with the ordinary index.",
    ),
    "export_index_refused": Sentence(
        "The export tools could not be downloaded: the package index refused.",
        "It may be overloaded, or want a password. Try again in a few minutes.",
    ),
    "no_network": Sentence(
        "The export tools could not be downloaded: there is no connection.",
        "Check the network and any proxy, then try again. What has arrived is kept.",
    ),
    "download_failed": Sentence(
        "The export tools could not be downloaded: the transfer broke off.",
        "Try again. What has arrived is kept.",
    ),
    "export_python_missing": Sentence(
        "The export tools need Python 3.11, 3.12 or 3.13, and none was found.",
        "Install Python from its website or from your system's packages, then try again.",
    ),
    "not_writable": Sentence(
        "The export tools could not be installed: the folder does not allow it.",
        "Check the rights of the folder shown in the details, and whether a virus scanner holds "
        "a file in it, then try again.",
    ),
}
_OTHER: Final = Sentence(
    "The export tools could not be installed.",
    "Try again. If it happens again, the details say what the installer said.",
)


def install_failed(output: str, folder: Path) -> Problem:
    """Why uv gave up, by what it printed."""
    code = next((code for pattern, code in _FAILURES if re.search(pattern, output)), "")
    if code == "disk_full":
        return disk_full(folder, detail=output)
    sentence = _SENTENCES.get(code, _OTHER)
    return Problem(
        code=code or "export_install_failed",
        headline=sentence.headline,
        advice=sentence.advice,
        detail=output,
        remedies=(Remedy.RETRY,),
    )


def disk_full(
    folder: Path, *, needed_bytes: int = 0, free_bytes: int = 0, detail: str = ""
) -> Problem:
    """There is no room; with numbers where they are known."""
    numbers = (
        f": they need {format_bytes(needed_bytes)}, and {format_bytes(free_bytes)} are free"
        if needed_bytes
        else ""
    )
    return Problem(
        code="disk_full",
        headline=f"There is no room for the export tools{numbers}.",
        advice="Free some space on the disk that is named in the details, then try again.",
        detail=detail or str(folder),
        remedies=(Remedy.RETRY,),
    )


def uv_missing() -> Problem:
    """The program that installs is not here."""
    return Problem(
        code="export_installer_missing",
        headline="The export tools cannot be installed: the installer “uv” is missing.",
        advice=(
            "It belongs to this program, so the installation is incomplete: install the program "
            "again, or put uv on the PATH."
        ),
    )


def already_installing() -> Problem:
    """Another process is at it."""
    return Problem(
        code="export_installing",
        headline="Export tools are being installed already.",
        advice="Wait until that is done, or stop it where it was started, then try again.",
        remedies=(Remedy.RETRY,),
    )


def not_ready(environment: ExportEnvironment, *, is_damaged: bool) -> Problem:
    """An export needs an environment that is not here."""
    action = "repair" if is_damaged else "install"
    state = "are damaged" if is_damaged else "are not installed"
    return Problem(
        code="export_environment_missing",
        headline=f"The {_in_sentence(environment)} {state}.",
        advice=f"First run: dflash-desktop export-env {action} {environment.id}",
    )


def check_failed(fault: str) -> Problem:
    """Everything was installed, and it does not run."""
    return Problem(
        code="export_check_failed",
        headline="The export tools were installed, but do not run on this computer.",
        advice=(
            "A virus scanner may have taken a file away; on Windows, the Visual C++ runtime may "
            "be missing. Mend that, then repair the export tools."
        ),
        detail=fault,
        remedies=(Remedy.RETRY,),
    )


def in_use(environment: ExportEnvironment, detail: str) -> Problem:
    """They cannot be removed or replaced now."""
    return Problem(
        code="export_environment_in_use",
        headline=f"The {_in_sentence(environment)} are in use.",
        advice="Wait until the export that runs is done, then try again.",
        detail=detail,
        remedies=(Remedy.RETRY,),
    )


def _in_sentence(environment: ExportEnvironment) -> str:
    return f"{environment.title[0].lower()}{environment.title[1:]}"
