"""Downloads a wheel with pip in a child process.

pip, because it already knows the person's mirrors, proxies, certificates and passwords, and takes
up a broken transfer where it stopped; a child, because only a process can be ended at any moment.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import queue
import re
import subprocess
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Final

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import IO

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)\s*")
_FIRST_PIP_WITH_RAW_PROGRESS: Final = (24, 1)
_FIRST_PIP_WITH_RESUME: Final = (25, 1)
_RESUME_ATTEMPTS: Final = 5
_POLL_SECONDS: Final = 0.1
_KEPT_LINES: Final = 60
_END_SECONDS: Final = 5.0

# First match wins: a transfer that broke off also tells of the connections that failed, and an
# index that cannot be reached also offers no version. Codes stand where the system translates its
# texts; "connection-failed" and its like are pip's own names for its errors.
_FAILURES: Final[tuple[tuple[str, str], ...]] = (
    (r"\[Errno 28\]|\[Errno 122\]|\[WinError 112\]|No space left on device", "disk_full"),
    (r"\[Errno 13\]|\[Errno 30\]|\[WinError 5\]", "folder_not_writable"),
    (r"DO NOT MATCH THE HASHES", "hash_mismatch"),
    (r"ssl-verification-failed|CERTIFICATE_VERIFY_FAILED", "certificate_refused"),
    (r"confirming the ssl certificate|certificate verify failed", "certificate_refused"),
    (r"incomplete-download|IncompleteRead|Connection interrupted", "download_failed"),
    (r"has an invalid wheel|is invalid\.|BadZipFile|not a zip file", "wheel_damaged"),
    (r"connection-failed|connection-timeout|proxy-connection-failed", "no_network"),
    (r"connection error:|NewConnectionError|NameResolutionError|ProxyError", "no_network"),
    (r"ConnectTimeoutError|ReadTimeoutError|timed out", "no_network"),
    (r"Could not fetch URL .*: (?:401|403|407|429|5\d\d) ", "download_failed"),
    (r"No matching distribution found|Could not find a version", "package_missing"),
)
_UNREACHED = re.compile(r"Could not fetch URL .*")


class DownloadError(Exception):
    """pip gave up; `code` is one of the fetch worker's failure codes, the text is pip's own."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class DownloadCancelledError(Exception):
    """The download was asked to stop, and pip has ended."""


def download_wheel(
    requirement: str,
    folder: Path,
    *,
    report: Callable[[int, int], None],
    is_cancelled: Callable[[], bool],
) -> Path:
    """Download the wheel of `requirement` ("name==version") into `folder` and return its path.

    `report` gets bytes done and in all (0 if the server does not say). Raises `DownloadError`, or
    `DownloadCancelledError` soon after `is_cancelled` turns true.
    """
    version = _pip_version()
    if version is None:
        raise DownloadError("pip_missing", "this installation of the program has no pip")
    wheels = folder / "wheel"
    temporary = folder / "tmp"
    for made in (wheels, temporary):
        made.mkdir(parents=True, exist_ok=True)
    log_file = folder / "pip.log"
    child = subprocess.Popen(
        _command(requirement, wheels, log_file, version),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_environment(temporary),
    )
    try:
        lines = _watch(child, report, is_cancelled)
    finally:
        _end_tree(child)
    if child.returncode != 0:
        text = "\n".join((lines, *_unreached(log_file)))
        raise DownloadError(failure_code(text), text)
    found = sorted(wheels.glob("*.whl"))
    if not found:
        raise DownloadError("download_failed", f"pip ended well, but left no wheel\n{lines}")
    return found[0]


def failure_code(output: str) -> str:
    """The failure code for what pip printed before it gave up."""
    for pattern, code in _FAILURES:
        if re.search(pattern, output):
            return code
    return "download_failed"


def _unreached(log_file: Path) -> list[str]:
    """Why pages of an index could not be read: pip tells that to its log file only."""
    with contextlib.suppress(OSError):
        return _UNREACHED.findall(log_file.read_text(encoding="utf-8", errors="replace"))
    return []


def _command(
    requirement: str, folder: Path, log_file: Path, version: tuple[int, int]
) -> list[str]:
    progress = "raw" if version >= _FIRST_PIP_WITH_RAW_PROGRESS else "off"
    resume = [f"--resume-retries={_RESUME_ATTEMPTS}"] if version >= _FIRST_PIP_WITH_RESUME else []
    # -P: no file called pip.py in the current folder shall run in its place.
    python = ("pip",) if getattr(sys, "frozen", False) else ("-P", "-m", "pip")
    return [
        *(sys.executable, *python, "download", requirement),
        *("--no-deps", "--only-binary", ":all:", "--dest", str(folder), "--log", str(log_file)),
        # The cache would keep a second copy on the person's disk for ever.
        *("--no-cache-dir", "--no-input", "--disable-pip-version-check", "--no-color"),
        *("--progress-bar", progress, *resume),
    ]


def _environment(temporary: Path) -> dict[str, str]:
    """The person's own settings for pip, with everything unfinished beside its destination."""
    return {
        **os.environ,
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
        # Nothing is installed, so a setting against installing outside of environments is moot.
        "PIP_REQUIRE_VIRTUALENV": "0",
    }


def _pip_version() -> tuple[int, int] | None:
    try:
        parts = importlib.metadata.version("pip").split(".")
        return int(parts[0]), int(parts[1])
    except (importlib.metadata.PackageNotFoundError, ValueError, IndexError):
        return None


def _watch(
    child: subprocess.Popen[bytes],
    report: Callable[[int, int], None],
    is_cancelled: Callable[[], bool],
) -> str:
    """Pass on pip's progress until it ends; returns its last other lines."""
    assert child.stdout is not None  # noqa: S101 - it was started with a pipe
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    reader = threading.Thread(
        target=_read_lines, args=(child.stdout, lines), name="pip-output", daemon=True
    )
    reader.start()
    kept: deque[str] = deque(maxlen=_KEPT_LINES)
    while True:
        if is_cancelled():
            raise DownloadCancelledError
        try:
            line = lines.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            continue
        if line is None:
            child.wait()
            return "\n".join(kept)
        progress = _PROGRESS.fullmatch(line)
        if progress:
            report(int(progress.group(1)), int(progress.group(2)))
        else:
            kept.append(line.rstrip())


def _read_lines(stream: IO[bytes], lines: queue.SimpleQueue[str | None]) -> None:
    with contextlib.suppress(ValueError), stream:  # closed while we read: pip was ended
        for line in stream:
            lines.put(line.decode("utf-8", "replace"))
    lines.put(None)


def _end_tree(child: subprocess.Popen[bytes]) -> None:
    """End pip and whatever it started, if it still runs."""
    if child.poll() is not None:
        return
    with contextlib.suppress(psutil.NoSuchProcess):
        processes = psutil.Process(child.pid).children(recursive=True)
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    child.kill()
    child.wait(_END_SECONDS)
