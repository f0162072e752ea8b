"""Widgets that are garbage die in the window's thread, whatever other threads do meanwhile."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCENARIO = """
import sys, threading
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
from dflash_desktop.ui.garbage import GarbageCollection

app = QApplication(sys.argv[:1])
alive = set()

class Ticking(QWidget):
    def __init__(self):
        super().__init__()
        self.timer = QTimer(self)
        self.timer.timeout.connect(self.tick)
        self.timer.start(1)
        self.me = self  # a cycle: only the collector frees it
        alive.add(id(self))

    def tick(self):
        pass

    def __del__(self):
        alive.discard(id(self))
        died_in.add(threading.current_thread() is threading.main_thread())

died_in = set()
if sys.argv[1] == "ours":
    owner = QWidget()
    collection = GarbageCollection(owner)
is_over = threading.Event()

def allocate():
    while not is_over.is_set():
        [[] for _ in range(2000)]

thread = threading.Thread(target=allocate)
thread.start()
maker = QTimer()
maker.timeout.connect(lambda: [Ticking() for _ in range(5)] and None)
maker.start(5)
QTimer.singleShot(1500, maker.stop)
QTimer.singleShot(2500, app.quit)
app.exec()
is_over.set()
thread.join()
print(sorted(died_in), len(alive))
sys.stdout.flush()
import os
os._exit(0)
"""


def ends(whose: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCENARIO, whose],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_garbage_dies_in_the_windows_thread_and_does_die() -> None:
    ended = ends("ours")
    assert ended.returncode == 0, ended.stderr
    in_main_thread, still_alive = ended.stdout.rsplit(" ", 1)
    assert in_main_thread == "[True]"
    assert int(still_alive) < 600
    assert "another thread" not in ended.stderr


def test_without_it_garbage_dies_in_other_threads() -> None:
    """Else the test above could not fail."""
    ended = ends("pythons")
    if ended.returncode == 0 and "another thread" not in ended.stderr:
        pytest.fail(f"nothing died elsewhere: {ended.stdout}")
