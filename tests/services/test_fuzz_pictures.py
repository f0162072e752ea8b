"""Two hundred damaged pictures; tests/perf/fuzz_pictures.py tries two thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.workers.picture_limits import PICTURE_MEMORY_BYTES
from tests.perf.fuzz_pictures import fuzz

if TYPE_CHECKING:
    from pathlib import Path


async def test_no_damaged_picture_ends_its_reader_or_takes_too_much(tmp_path: Path) -> None:
    answer = await fuzz(seed=2, numbers=range(200), folder=tmp_path)
    assert not answer.unexplained  # "picture_too_slow" is one of these: two seconds of work
    assert answer.largest_bytes < PICTURE_MEMORY_BYTES
    assert answer.outcomes.total() == 200
    assert answer.outcomes["read"] > 20
    assert answer.outcomes.total() - answer.outcomes["read"] > 20
