"""What the guard asks of Windows, with its libraries played by fakes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import pytest

from dflash_desktop.domain.export_guard import GuardVerdict, MemorySample, decide, guard_limits
from dflash_desktop.workers.windows_job import ExtendedLimits, KillOnCloseJob
from dflash_desktop.workers.windows_memory import PerformanceInformation, windows_load

_GIB = 1 << 30
_PAGE = 4096


@dataclass
class _Kernel:
    """kernel32 as far as job objects go."""

    refuses: str = ""
    calls: list[tuple[str, object]] = field(default_factory=list)
    limits: ExtendedLimits | None = None

    def CreateJobObjectW(self, security: object, name: object) -> int:  # noqa: N802
        return 7

    def SetInformationJobObject(  # noqa: N802
        self, handle: int, kind: int, limits: object, size: int
    ) -> bool:
        assert (handle, kind, size) == (7, 9, ctypes.sizeof(ExtendedLimits))
        self.limits = limits._obj  # type: ignore[attr-defined]  # what byref refers to
        return self.refuses != "set"

    def AssignProcessToJobObject(self, handle: int, process: int) -> bool:  # noqa: N802
        self.calls.append(("assign", process))
        return self.refuses != "assign"

    def TerminateJobObject(self, handle: int, code: int) -> None:  # noqa: N802
        self.calls.append(("terminate", handle))

    def CloseHandle(self, handle: int) -> None:  # noqa: N802
        self.calls.append(("close", handle))


def test_the_structure_has_the_size_that_windows_expects() -> None:
    # 144 bytes in a 64-bit process: winnt.h, JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
    assert ctypes.sizeof(ExtendedLimits) == 144
    assert ctypes.sizeof(PerformanceInformation) == 104


def test_a_job_ends_with_us_and_bounds_the_memory_of_all_in_it() -> None:
    kernel = _Kernel()
    job = KillOnCloseJob(42, job_memory_bytes=5 * _GIB, library=kernel)
    assert kernel.limits is not None
    assert kernel.limits.BasicLimitInformation.LimitFlags == 0x2000 | 0x200
    assert kernel.limits.JobMemoryLimit == 5 * _GIB
    job.terminate()
    job.close()
    job.close()
    assert kernel.calls == [("assign", 42), ("terminate", 7), ("close", 7)]


def test_a_job_may_bound_each_process_or_none() -> None:
    kernel = _Kernel()
    KillOnCloseJob(1, process_memory_bytes=_GIB, library=kernel)
    assert kernel.limits is not None
    assert kernel.limits.BasicLimitInformation.LimitFlags == 0x2000 | 0x100
    assert kernel.limits.ProcessMemoryLimit == _GIB
    KillOnCloseJob(1, library=kernel)
    assert kernel.limits.BasicLimitInformation.LimitFlags == 0x2000


@pytest.mark.parametrize("refuses", ["set", "assign"])
def test_a_job_that_windows_refuses_is_closed_and_told(refuses: str) -> None:
    kernel = _Kernel(refuses=refuses)
    with pytest.raises(OSError, match="refused"):
        KillOnCloseJob(42, library=kernel)
    assert kernel.calls[-1] == ("close", 7)


@dataclass
class _Psapi:
    """psapi with a machine of 16 GiB and the paging file given."""

    paging_file_bytes: int
    committed_bytes: int
    works: bool = True

    def GetPerformanceInfo(self, reference: object, size: int) -> bool:  # noqa: N802
        info = reference._obj  # type: ignore[attr-defined]  # what byref refers to
        assert size == info.cb == ctypes.sizeof(PerformanceInformation)
        info.PageSize = _PAGE
        info.PhysicalTotal = 16 * _GIB // _PAGE
        info.PhysicalAvailable = 6 * _GIB // _PAGE
        info.CommitLimit = (16 * _GIB + self.paging_file_bytes) // _PAGE
        info.CommitTotal = self.committed_bytes // _PAGE
        return self.works


def test_the_commit_limit_is_what_ram_and_paging_file_make_together() -> None:
    load = windows_load(_Psapi(paging_file_bytes=4 * _GIB, committed_bytes=15 * _GIB))
    assert load.total_bytes == 16 * _GIB
    assert load.available_bytes == 6 * _GIB
    assert load.commit_free_bytes == 5 * _GIB
    assert load.swap_used_bytes == 5 * _GIB
    assert load.swap_free_bytes == 4 * _GIB


def test_free_memory_alone_does_not_save_an_export_on_a_small_paging_file() -> None:
    # Case 36: six gigabytes are free, and Windows may promise one more.
    load = windows_load(_Psapi(paging_file_bytes=0, committed_bytes=15 * _GIB))
    sample = MemorySample(
        1.0, _GIB, load.available_bytes, load.swap_used_bytes, load.commit_free_bytes
    )
    decision = decide([sample], guard_limits(load.total_bytes))
    assert decision.verdict is GuardVerdict.STOP
    assert decision.reason == "commit"


def test_a_windows_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(OSError, match="does not tell"):
        windows_load(_Psapi(0, 0, works=False))
