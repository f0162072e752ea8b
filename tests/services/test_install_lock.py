from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from dflash_desktop.services.install_lock import InstallLock

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys, time
from pathlib import Path
from dflash_desktop.services.install_lock import InstallLock
print(InstallLock(Path(sys.argv[1])).acquire(), flush=True)
time.sleep(60)
"""


def test_only_one_holds_it_until_it_is_let_go(tmp_path: Path) -> None:
    one, other = (InstallLock(tmp_path / "ein Ordner ü" / "lock") for _ in range(2))
    assert not other.is_held_by_anyone()
    assert one.acquire()
    assert not other.acquire()
    assert one.is_held_by_anyone()
    assert other.is_held_by_anyone()
    one.release()
    one.release()
    assert not one.is_held_by_anyone()
    assert other.acquire()
    other.release()


def test_asking_does_not_take_it(tmp_path: Path) -> None:
    one, other = (InstallLock(tmp_path / "lock") for _ in range(2))
    assert one.acquire()
    one.release()
    assert not other.is_held_by_anyone()
    assert one.acquire()
    one.release()


def test_a_process_that_dies_lets_go_of_it(tmp_path: Path) -> None:
    lock = InstallLock(tmp_path / "lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "True"
        assert lock.is_held_by_anyone()
        assert not lock.acquire()
        process.kill()
        process.wait()
    assert lock.acquire()
    lock.release()
