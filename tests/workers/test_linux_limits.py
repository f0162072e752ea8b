"""What the guard asks of Linux: process trees, memory, pressure and control groups."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dflash_desktop.workers.linux_cgroup import make_memory_group
from dflash_desktop.workers.linux_tree import descendants, exact_bytes, quick_bytes
from dflash_desktop.workers.system_load import linux_load, oom_kills, system_load

_KIB = 1024


def _process(proc: Path, pid: int, parent: int, *, children: str | None = None) -> Path:
    folder = proc / str(pid)
    (folder / "task" / str(pid)).mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} (a (b) c) S {parent} 0 0")
    (folder / "status").write_text("Name:\tx\nRssAnon:\t100 kB\nRssShmem:\t20 kB\nVmSwap:\t3 kB\n")
    (folder / "smaps_rollup").write_text(
        "00-ff ---p 0 00:00 0 [rollup]\nRss: 999 kB\nPss: 500 kB\nPss_Anon: 40 kB\n"
        "Pss_File: 455 kB\nPss_Shmem: 5 kB\nSwapPss: 1 kB\n"
    )
    if children is not None:
        (folder / "task" / str(pid) / "children").write_text(children)
    return folder


def test_a_tree_is_found_by_what_each_thread_started(tmp_path: Path) -> None:
    _process(tmp_path, 1, 0, children="2 ")
    _process(tmp_path, 2, 1, children="3 ")
    (tmp_path / "2" / "task" / "22").mkdir()
    (tmp_path / "2" / "task" / "22" / "children").write_text("4 ")
    _process(tmp_path, 3, 2, children="")
    _process(tmp_path, 4, 2, children="")
    _process(tmp_path, 5, 0, children="")
    assert sorted(descendants(1, tmp_path)) == [2, 3, 4]


def test_a_kernel_that_lists_no_children_is_asked_for_all_processes(tmp_path: Path) -> None:
    for pid, parent in ((1, 0), (2, 1), (3, 2), (5, 0)):
        _process(tmp_path, pid, parent)
    (tmp_path / "meminfo").write_text("")
    assert descendants(1, tmp_path) == (2, 3)


def test_memory_is_what_cannot_be_taken_back_and_shared_pages_count_once(tmp_path: Path) -> None:
    _process(tmp_path, 2, 1)
    _process(tmp_path, 3, 1)
    assert quick_bytes((2, 3, 99), tmp_path) == 2 * 123 * _KIB
    assert exact_bytes((2, 3, 99), tmp_path) == 2 * 46 * _KIB
    (tmp_path / "3" / "smaps_rollup").unlink()  # an old kernel, or no right to read it
    assert exact_bytes((2, 3), tmp_path) == (46 + 123) * _KIB


@pytest.mark.skipif(sys.platform != "linux", reason="looks at a real Linux")
def test_a_real_child_is_found_and_weighed() -> None:
    code = "held = bytearray(b'x') * (64 << 20); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        proc = Path("/proc")
        assert child.pid in descendants(os.getpid(), proc)
        assert 64 << 20 < quick_bytes((child.pid,), proc) < 120 << 20
        assert 64 << 20 < exact_bytes((child.pid,), proc) < 120 << 20
        child.communicate(b"\n")


def _machine(proc: Path, *, overcommit: str = "0") -> Path:
    (proc / "pressure").mkdir()
    (proc / "sys" / "vm").mkdir(parents=True)
    (proc / "meminfo").write_text(
        "MemTotal: 16000 kB\nMemAvailable: 5000 kB\nSwapTotal: 2000 kB\nSwapFree: 1500 kB\n"
        "CommitLimit: 10000 kB\nCommitted_AS: 9000 kB\n"
    )
    (proc / "pressure" / "memory").write_text(
        "some avg10=1.00 avg60=0.50 avg300=0.10 total=9000000\n"
        "full avg10=0.50 avg60=0.20 avg300=0.05 total=2500000\n"
    )
    (proc / "sys" / "vm" / "overcommit_memory").write_text(f"{overcommit}\n")
    (proc / "vmstat").write_text("pgfault 12\noom_kill 3\n")
    return proc


def test_a_linux_tells_what_is_available_swapped_and_waited_for(tmp_path: Path) -> None:
    load = linux_load(_machine(tmp_path))
    assert load.total_bytes == 16000 * _KIB
    assert load.available_bytes == 5000 * _KIB
    assert (load.swap_used_bytes, load.swap_free_bytes) == (500 * _KIB, 1500 * _KIB)
    assert load.stalled_seconds == 2.5
    assert load.commit_free_bytes is None, "Linux gives more than it has unless told not to"
    assert oom_kills(tmp_path) == 3


def test_a_strict_linux_has_a_commit_limit(tmp_path: Path) -> None:
    assert linux_load(_machine(tmp_path, overcommit="2")).commit_free_bytes == 1000 * _KIB


def test_a_kernel_without_pressure_information_is_no_fault(tmp_path: Path) -> None:
    (_machine(tmp_path) / "pressure" / "memory").unlink()
    assert linux_load(tmp_path).stalled_seconds is None
    assert oom_kills(tmp_path / "nowhere") == 0


def test_this_machine_has_memory() -> None:
    load = system_load()
    assert 0 < load.available_bytes <= load.total_bytes


def _groups(root: Path, *, own: str, with_memory: str) -> tuple[Path, Path]:
    mount = root / "cgroup"
    folder = mount / own.lstrip("/")
    folder.mkdir(parents=True)
    (mount / "cgroup.controllers").write_text("cpu memory\n")
    for place in (folder, *folder.parents):
        if place == root:
            break
        has_it = place == mount / with_memory.lstrip("/")
        (place / "cgroup.subtree_control").write_text("cpu memory\n" if has_it else "cpu\n")
    file = root / "own"
    file.write_text(f"0::{own}\n")
    return mount, file


def test_a_group_is_made_beside_our_own_and_takes_the_export_in(tmp_path: Path) -> None:
    mount, own = _groups(tmp_path, own="/user/app.slice/ours.scope", with_memory="/user/app.slice")
    group = make_memory_group("dflash-export-5", 1000, mount=mount, own=own)
    assert group is not None
    folder = mount / "user" / "app.slice" / "dflash-export-5"
    assert int((folder / "memory.max").read_text()) == 1000 + (256 << 20)
    assert group.take_in(42)
    assert (folder / "cgroup.procs").read_text() == "42"
    assert group.oom_kills() == 0
    (folder / "memory.events").write_text("max 9\noom 2\noom_kill 1\n")
    assert group.oom_kills() == 1
    group.kill()
    assert (folder / "cgroup.kill").read_text() == "1"


def test_no_group_is_made_where_memory_cannot_be_limited(tmp_path: Path) -> None:
    mount, own = _groups(tmp_path, own="/user/ours.scope", with_memory="/nowhere")
    assert make_memory_group("one", 1000, mount=mount, own=own) is None
    assert not (mount / "user" / "one").exists()


def test_the_first_version_of_control_groups_is_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("4:memory:/somewhere\n0::/\n")
    assert make_memory_group("one", 1000, mount=tmp_path, own=own) is None
    assert make_memory_group("one", 1000, mount=tmp_path, own=tmp_path / "nothing") is None
