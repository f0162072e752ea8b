"""The one program of all workers becomes what its first argument says."""

from __future__ import annotations

import subprocess
import sys
from typing import BinaryIO, cast

import pytest

from dflash_desktop.workers.frames import decode_event, read_frame
from dflash_desktop.workers.protocol import Hello


@pytest.mark.parametrize(
    ("arguments", "worker"),
    [
        ((), "engine"),
        (("engine",), "engine"),
        (("fetch",), "fetch"),
        (("pictures",), "pictures"),
        (("probe",), "probe"),
    ],
)
def test_each_says_who_it_is(arguments: tuple[str, ...], worker: str) -> None:
    code = "from dflash_desktop.workers.program import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        frame = read_frame(cast("BinaryIO", process.stdout))
        process.kill()

    assert frame is not None
    hello = decode_event(frame[0])
    assert isinstance(hello, Hello)
    assert hello.worker == worker
