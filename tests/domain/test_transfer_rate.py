from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.transfer_rate import WINDOW_SECONDS, TransferRate


def test_nothing_is_known_before_the_second_sample() -> None:
    assert TransferRate().add(1000, 5.0) is None


def test_a_steady_transfer_has_its_rate() -> None:
    rate = TransferRate()
    shown = [rate.add(second * 1000, float(second)) for second in range(20)]
    assert shown[-1] == 1000


def test_a_pause_shows_within_the_window() -> None:
    rate = TransferRate()
    rate.add(0, 0.0)
    rate.add(1_000_000, 1.0)
    times = [1.0 + 0.5 * step for step in range(1, 20)]
    shown = [rate.add(1_000_000, at) for at in times]
    assert shown[-1] == 0
    assert times[shown.index(0)] <= 1.0 + WINDOW_SECONDS


def test_a_transfer_that_starts_again_is_never_negative() -> None:
    rate = TransferRate()
    rate.add(0, 0.0)
    rate.add(5000, 1.0)
    assert rate.add(100, 2.0) is None
    assert rate.add(1100, 3.0) == 1000


@given(st.lists(st.tuples(st.integers(0, 10**9), st.floats(0, 100)), max_size=50))
def test_the_rate_is_never_negative(steps: list[tuple[int, float]]) -> None:
    rate, at = TransferRate(), 0.0
    for done_bytes, seconds in steps:
        at += seconds
        shown = rate.add(done_bytes, at)
        assert shown is None or shown >= 0
