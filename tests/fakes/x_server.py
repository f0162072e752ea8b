"""An X server without a screen, for what only a real one shows."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def x_server() -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    """The server's process, and an environment in which windows open on it.

    Skips the test where there is none; CI has to have it.
    """
    program = shutil.which("Xvfb")
    if program is None and "CI" not in os.environ:
        pytest.skip("Xvfb is not installed")
    assert program is not None
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [program, "-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as answer:
            display = answer.readline().strip()
        yield server, {**os.environ, "DISPLAY": f":{display}", "QT_QPA_PLATFORM": "xcb"}
    finally:
        server.terminate()
        server.wait()
