"""What a person can send when something does not work: read first, masked, and saved as one file.

It holds versions, the last report of the machine, the ends of the logs, and the stored checks and
measurements. It holds no conversation, no settings and no pictures: what is not listed here is not
in it.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop import __version__
from dflash_desktop.log import read_tail
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.diagnostics import problem_report, system_lines
from dflash_desktop.workers.package_version import package_version

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.diagnostics import PrivateFacts

_PACKAGES: Final = ("openvino", "openvino-genai", "openvino-tokenizers", "PySide6-Essentials")
_RECORD_LIMIT_BYTES: Final = 1 << 20
_MAX_LOGS: Final = 30
_HEAD: Final = "what-happened.txt"


@dataclass(frozen=True, slots=True)
class BundleFile:
    """One file of the bundle as it will be sent: nothing private is in `text`."""

    name: str
    text: str


def collect_bundle(
    paths: AppPaths, private: PrivateFacts, *, problem: Problem | None = None
) -> tuple[BundleFile, ...]:
    """All files, masked, what happened first. Blocking; what cannot be read is left out."""
    private = replace(private, places=_places(paths, private))
    files = [BundleFile(_HEAD, _head(private, problem))]
    records = (paths.hardware_file, paths.measurements_file, paths.checks_file)
    files += [
        BundleFile(file.name, private.mask(text)) for file in records if (text := _record(file))
    ]
    for log in _logs(paths.log_dir):
        lines = read_tail(log)
        if lines:
            text = private.mask("\n".join(lines))
            files.append(BundleFile(f"logs/{log.name}", f"{text}\n"))
    return tuple(files)


def bundle_bytes(files: tuple[BundleFile, ...]) -> bytes:
    """The files as one zip; always the same for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.name)  # without the time of day, and whose it was
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, file.text.encode("utf-8", "replace"))
    return buffer.getvalue()


def save_bundle(files: tuple[BundleFile, ...], file: Path) -> None:
    """Write the zip. Blocking; raises `OSError`."""
    write_atomically(file, bundle_bytes(files))


def bundle_name() -> str:
    """What the file is called unless a person calls it otherwise."""
    return f"dflash-desktop-{__version__}-report.zip"


def _head(private: PrivateFacts, problem: Problem | None) -> str:
    versions = [(name, package_version(name) or "not installed") for name in _PACKAGES]
    if problem is not None:
        return problem_report(problem, private=private, facts=versions)
    lines = [
        *system_lines(),
        *(f"{name}: {version}" for name, version in versions),
    ]
    return private.mask("\n".join(lines)) + "\n"


def _places(paths: AppPaths, private: PrivateFacts) -> tuple[tuple[Path, str], ...]:
    """Folders of this installation that a person chose: on a stick, on another disk."""
    named = (
        (paths.models_dir, "<models>"),
        (paths.data_dir, "<data>"),
        (paths.config_dir, "<settings>"),
        (paths.cache_dir, "<cache>"),
        (paths.log_dir, "<logs>"),
    )
    return tuple(one for one in named if not one[0].is_relative_to(private.home_dir))


def _record(file: Path) -> str:
    try:
        if file.stat().st_size > _RECORD_LIMIT_BYTES:
            return ""
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _logs(folder: Path) -> list[Path]:
    """The latest first, with those of earlier runs and of native faults."""
    try:
        found = [path for path in folder.iterdir() if path.is_file() and ".log" in path.name]
        found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return []
    return found[:_MAX_LOGS]
