"""Some hundred damaged files of every kind; tests/perf/fuzz_readers.py tries ten thousand."""

from __future__ import annotations

from tests.perf.fuzz_readers import LIMIT_BYTES, LIMIT_SECONDS, fuzz


def test_no_damaged_file_crashes_a_reader_or_keeps_it_busy() -> None:
    answer = fuzz(seed=2, numbers=range(640))
    slowest, grown_bytes = answer["slowest"], answer["grown_bytes"]
    assert isinstance(slowest, dict)
    assert isinstance(grown_bytes, int)
    assert len(slowest) == 8
    for kind, (seconds, number) in slowest.items():
        assert number >= 0
        assert seconds < LIMIT_SECONDS, f"{kind}: case {number}"
    assert grown_bytes < LIMIT_BYTES
