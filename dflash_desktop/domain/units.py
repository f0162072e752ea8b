"""Bytes, rates and durations as a person reads them: three significant digits, named units."""

from __future__ import annotations

import math

_BYTE_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def significant(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits and no exponent; "–" when it is not a number."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    rounded = round(value, decimals)
    # 9.996 rounds up to 10.0, which already has three digits.
    if rounded != 0:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def format_bytes(count: int) -> str:
    """File sizes in powers of 1000, as file managers show them: "98.4 MB"."""
    value = float(count)
    unit = _BYTE_UNITS[0]
    for unit in _BYTE_UNITS:
        if abs(value) < 999.5 or unit == _BYTE_UNITS[-1]:
            break
        value /= 1000
    return f"{count} bytes" if unit == "bytes" else f"{significant(value)} {unit}"


def format_byte_rate(bytes_per_second: float) -> str:
    """How fast bytes come in: "12.0 MB/s"."""
    return f"{format_bytes(round(bytes_per_second))}/s"


def format_rate(tokens_per_second: float | None) -> str:
    """A token rate, "48.2 tok/s", or "–" when there is none."""
    return "–" if tokens_per_second is None else f"{significant(tokens_per_second)} tok/s"


def format_speedup(speedup: float | None) -> str:
    """A ratio, "2.40x", or "–" when it was not measured."""
    return "–" if speedup is None else f"{significant(speedup)}x"


def format_seconds(seconds: float) -> str:
    """A duration: "0.21 s", "42 s", "3 min 5 s", "2 h 10 min"."""
    if seconds < 60:
        return f"{significant(seconds)} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def format_seconds_left(seconds: float) -> str:
    """How long something still takes, in whole seconds and at least one: "2 s left"."""
    whole = max(1, round(seconds))
    return f"{whole} s left" if whole < 60 else f"{format_seconds(float(whole))} left"
