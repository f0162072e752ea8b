"""A download of 40 files and 300 MB whose program is killed 20 times: what that costs.

python -m tests.perf.killed_downloads
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.killed_downloads import kill_again_and_again

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        killed = kill_again_and_again(
            Path(folder), files=40, total_bytes=300_000_000, kills=20, seconds=60.0
        )
    again = killed.sent_bytes - killed.total_bytes
    print(
        f"killed {killed.kills} times in {killed.seconds:.0f} s, identical: {killed.is_identical}"
    )
    print(f"answers that began in the middle of a file: {killed.continued_answers}")
    print(f"{killed.total_bytes} bytes needed, {again} fetched again in all")
    print(f"most of one file after one kill: {killed.most_again_bytes}", end=" ")
    print(f"(allowed: {killed.allowed_again_bytes})")
    is_good = killed.is_identical and killed.most_again_bytes <= killed.allowed_again_bytes
    raise SystemExit(0 if is_good and killed.kills == 20 else 1)
