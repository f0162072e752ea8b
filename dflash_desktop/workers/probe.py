"""The probe process: asks every driver for its devices, and a crash takes nothing along."""

from __future__ import annotations

from dflash_desktop.workers import protocol
from dflash_desktop.workers.runtime import WorkerRuntime


class ProbeJobs:
    """Lists the devices; whoever started this process ends it after the answer."""

    def __init__(self, runtime: WorkerRuntime) -> None:
        self._runtime = runtime

    def run(self, command: protocol.Command) -> None:
        """Do one job. What OpenVINO throws becomes `Failed`, as in every worker."""
        if isinstance(command, protocol.ListDevices):
            from dflash_desktop.workers.device_list import list_devices

            self._runtime.send(protocol.Devices(command.job, list_devices()))


def main() -> None:
    """Entry point of the probe process."""
    runtime = WorkerRuntime.claim("probe")
    runtime.serve(ProbeJobs(runtime).run)


if __name__ == "__main__":
    main()
