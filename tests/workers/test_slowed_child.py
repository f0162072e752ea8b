"""A step's low priority reaches also what it starts in that very moment."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.workers.guarded_child import GuardedChild

if TYPE_CHECKING:
    from pathlib import Path

_WAITS = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="numbers of Linux")
def test_what_is_started_while_the_rest_is_slowed_down_is_slow_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    late = subprocess.Popen(_WAITS)
    child = GuardedChild(_WAITS, env={}, work_dir=tmp_path, hard_limit_bytes=1 << 30)
    looks = iter([(child.pid,)])
    monkeypatch.setattr(child, "pids", lambda: next(looks, (child.pid, late.pid)))
    try:
        child.slow_down()
        assert [psutil.Process(pid).nice() for pid in (child.pid, late.pid)] == [19, 19]
    finally:
        late.kill()
        late.wait()
        monkeypatch.undo()
        child.end()
        child.close()
