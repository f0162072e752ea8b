"""The program is killed at random moments of a download, and loses nothing that it had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.killed_downloads import kill_again_and_again

if TYPE_CHECKING:
    from pathlib import Path


def test_kills_at_random_moments_cost_at_most_one_chunk_of_a_file(tmp_path: Path) -> None:
    # The seed gives moments of all lengths. The full size is tests/perf/killed_downloads.py.
    killed = kill_again_and_again(
        tmp_path, files=40, total_bytes=30_000_000, kills=6, seconds=8.0, seed=3
    )
    assert killed.kills == 6
    assert killed.continued_answers >= 4, killed  # some were in the middle of files
    assert killed.is_identical
    assert killed.left_over == ()
    assert killed.most_again_bytes <= killed.allowed_again_bytes, killed
