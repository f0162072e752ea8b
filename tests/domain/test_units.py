"""Numbers as a person reads them."""

from __future__ import annotations

import math

import pytest

from dflash_desktop.domain.units import (
    format_byte_rate,
    format_bytes,
    format_rate,
    format_seconds,
    format_seconds_left,
    format_speedup,
    significant,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.2134, "0.213"), (2.4, "2.40"), (9.996, "10.0"), (48.24, "48.2"),
     (1234.0, "1234"), (99.96, "100"), (-1.5, "-1.50"), (math.nan, "–"), (math.inf, "–")],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.00 kB"), (98_362_432, "98.4 MB"),
     (999_999, "1.00 MB"), (6_600_000_000, "6.60 GB"), (4_000_000_000_000_000, "4000 TB")],
)  # fmt: skip
def test_bytes(count: int, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.21, "0.210 s"), (9.5, "9.50 s"), (42, "42 s"), (60, "1 min"), (185, "3 min 5 s"),
     (7800, "2 h 10 min"), (3600, "1 h")],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_what_was_not_measured_is_a_dash() -> None:
    assert format_rate(None) == format_speedup(None) == "–"
    assert format_rate(48.24) == "48.2 tok/s"
    assert format_speedup(2.4) == "2.40x"


def test_how_fast_bytes_come_in_is_told_as_their_sizes_are() -> None:
    assert format_byte_rate(12_000_000.4) == "12.0 MB/s"


def test_what_is_left_is_told_in_whole_seconds() -> None:
    assert format_seconds_left(0.2) == "1 s left"
    assert format_seconds_left(9.6) == "10 s left"
    assert format_seconds_left(65.4) == "1 min 5 s left"
