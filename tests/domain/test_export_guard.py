"""When an export is slowed down and stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.export_guard import (
    GuardLimits,
    GuardReason,
    GuardVerdict,
    MemorySample,
    decide,
    guard_limits,
    next_look_seconds,
)

_GB = 1_000_000_000
_LIMITS = guard_limits(16 * _GB, limit_bytes=10 * _GB, swap_free_bytes=4 * _GB)
_CALM = MemorySample(10.0, tree_bytes=2 * _GB, available_bytes=12 * _GB, stalled_seconds=0.0)


def _verdict(sample: MemorySample, *before: MemorySample) -> tuple[GuardVerdict, GuardReason]:
    decision = decide([*before, sample], _LIMITS)
    return decision.verdict, decision.reason


def test_a_machine_that_is_at_ease_is_left_alone() -> None:
    assert _verdict(_CALM) == (GuardVerdict.CONTINUE, GuardReason.NONE)
    assert decide([], _LIMITS).verdict is GuardVerdict.CONTINUE


@pytest.mark.parametrize(
    ("tree_gb", "verdict"),
    [
        (7.9, GuardVerdict.CONTINUE),
        (8.0, GuardVerdict.WARN),
        (9.0, GuardVerdict.LOWER_PRIORITY),
        (9.99, GuardVerdict.LOWER_PRIORITY),
        (10.0, GuardVerdict.STOP),
    ],
)
def test_the_limit_warns_slows_and_stops(tree_gb: float, verdict: GuardVerdict) -> None:
    assert _verdict(replace(_CALM, tree_bytes=int(tree_gb * _GB)))[0] is verdict


@pytest.mark.parametrize(
    ("available_gb", "verdict"),
    [
        (2.5, GuardVerdict.CONTINUE),
        (2.3, GuardVerdict.WARN),
        (1.8, GuardVerdict.LOWER_PRIORITY),
        (1.2, GuardVerdict.STOP),
    ],
)
def test_the_systems_floor_counts_whoever_took_the_memory(
    available_gb: float, verdict: GuardVerdict
) -> None:
    sample = replace(_CALM, tree_bytes=0, available_bytes=int(available_gb * _GB))
    assert _verdict(sample)[0] is verdict


def test_memory_that_falls_fast_stops_before_the_floor_is_reached() -> None:
    before = replace(_CALM, at_seconds=9.9, available_bytes=int(1.6 * _GB))
    slow = replace(_CALM, available_bytes=int(1.5 * _GB) - 1)
    assert _verdict(slow, before) == (GuardVerdict.STOP, GuardReason.FLOOR)
    assert _verdict(slow)[0] is not GuardVerdict.STOP


def test_what_windows_may_still_promise_counts_as_what_is_free() -> None:
    sample = replace(_CALM, commit_free_bytes=_GB)
    assert _verdict(sample) == (GuardVerdict.STOP, GuardReason.COMMIT)


def test_others_that_are_moved_to_the_disk_stop_it() -> None:
    assert _LIMITS.swap_growth_bytes == 2 * _GB
    sample = replace(_CALM, swap_used_bytes=2 * _GB)
    assert _verdict(sample) == (GuardVerdict.STOP, GuardReason.SWAP)
    used_before = replace(_LIMITS, swap_from_bytes=2 * _GB)
    assert decide([sample], used_before).verdict is GuardVerdict.CONTINUE


def test_two_seconds_of_waiting_for_memory_stop_it_one_does_not() -> None:
    start = replace(_CALM, at_seconds=8.0)
    assert _verdict(replace(_CALM, stalled_seconds=0.9), start) == (
        GuardVerdict.STOP,
        GuardReason.PRESSURE,
    )
    short = replace(_CALM, at_seconds=9.0)
    assert _verdict(replace(_CALM, stalled_seconds=0.9), short)[0] is GuardVerdict.CONTINUE


def test_a_small_export_is_not_blamed_for_what_others_wait_for() -> None:
    start = replace(_CALM, at_seconds=8.0, tree_bytes=_GB // 10)
    waiting = replace(_CALM, tree_bytes=_GB // 10, stalled_seconds=1.9)
    assert _verdict(waiting, start)[0] is GuardVerdict.CONTINUE


@pytest.mark.parametrize("total_gb", [4, 8, 16, 64, 256])
def test_limits_leave_the_system_what_it_needs_on_every_machine(total_gb: int) -> None:
    total = total_gb * _GB
    limits = guard_limits(total)
    assert 0 < limits.floor_bytes < limits.warn_floor_bytes < total / 4
    assert limits.tree_bytes <= 0.95 * total


@given(total=st.integers(1, 1 << 45), wish=st.integers(-(1 << 50), 1 << 50))
def test_no_wish_makes_a_limit_that_is_not_safe(total: int, wish: int) -> None:
    limits = guard_limits(total, limit_bytes=wish)
    assert limits.tree_bytes <= 0.95 * total
    assert limits.tree_bytes >= 0


_BYTES = st.integers(0, 1 << 38)
_SAMPLES = st.builds(
    MemorySample,
    at_seconds=st.floats(0, 10),
    tree_bytes=_BYTES,
    available_bytes=_BYTES,
    swap_used_bytes=_BYTES,
    commit_free_bytes=st.none() | _BYTES,
    stalled_seconds=st.none() | st.floats(0, 20),
)
_ANY_LIMITS = st.builds(
    guard_limits,
    st.integers(1 << 30, 1 << 38),
    limit_bytes=st.none() | _BYTES,
    swap_used_bytes=_BYTES,
    swap_free_bytes=_BYTES,
)
_WORSE = st.integers(0, 1 << 36)


@given(
    samples=st.lists(_SAMPLES, min_size=1, max_size=6),
    limits=_ANY_LIMITS,
    tree=_WORSE,
    available=_WORSE,
    swap=_WORSE,
    stalled=st.floats(0, 5),
)
def test_a_worse_last_look_is_never_judged_more_mildly(
    samples: list[MemorySample],
    limits: GuardLimits,
    tree: int,
    available: int,
    swap: int,
    stalled: float,
) -> None:
    samples = sorted(samples, key=lambda one: one.at_seconds)
    last = samples[-1]
    worse = replace(
        last,
        tree_bytes=last.tree_bytes + tree,
        available_bytes=last.available_bytes - available,
        swap_used_bytes=last.swap_used_bytes + swap,
        commit_free_bytes=(
            None if last.commit_free_bytes is None else last.commit_free_bytes - available
        ),
        stalled_seconds=None if last.stalled_seconds is None else last.stalled_seconds + stalled,
    )
    mild, harsh = decide(samples, limits), decide([*samples[:-1], worse], limits)
    assert harsh.verdict >= mild.verdict


@given(samples=st.lists(_SAMPLES, min_size=1, max_size=4), less=_WORSE, limits=_ANY_LIMITS)
def test_a_lower_limit_never_allows_more(
    samples: list[MemorySample], less: int, limits: GuardLimits
) -> None:
    samples = sorted(samples, key=lambda one: one.at_seconds)
    stricter = replace(limits, tree_bytes=max(0, limits.tree_bytes - less))
    assert decide(samples, stricter).verdict >= decide(samples, limits).verdict


@given(sample=_SAMPLES, limits=_ANY_LIMITS)
def test_the_next_look_comes_before_a_gigabyte_a_second_can_do_harm(
    sample: MemorySample, limits: GuardLimits
) -> None:
    assert 0.01 <= next_look_seconds(sample, limits) <= 0.1
