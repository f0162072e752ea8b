"""The program is killed at random moments of an export, and loses no finished stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.killed_exports import kill_exports

if TYPE_CHECKING:
    from pathlib import Path


def test_kills_at_random_moments_leave_the_library_whole_and_the_export_goes_on(
    tmp_path: Path,
) -> None:
    # The full number is tests/perf/killed_exports.py.
    killed = kill_exports(tmp_path / "home", kills=5, longest_seconds=2.0, seed=7)
    assert killed.kills >= 4, killed
    assert killed.models == ("source-int8-ov", "source-int8-ov-2")
    assert killed.half == ()
    assert killed.strays == 0
    assert killed.slowest_end_seconds < 3.0
    assert killed.left_over == ()
    assert killed.kept_stages >= 1, "no kill came after a finished stage"
