"""What it means that asking the drivers for this machine's devices went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.hardware import ProbeOutcome
from dflash_desktop.domain.problems import Problem, Severity

if TYPE_CHECKING:
    from dflash_desktop.domain.hardware import Adapter, HardwareReport

_HEADLINES: Final = {
    ProbeOutcome.CRASHED: "Asking the graphics drivers what they can do ended in a crash.",
    ProbeOutcome.TIMED_OUT: "The graphics drivers did not answer in time.",
    ProbeOutcome.FAILED: "OpenVINO could not say which devices this machine has.",
}
_ADVICE: Final = {
    ProbeOutcome.CRASHED: "Until that is mended, models run on the processor. Update the graphics "
    "driver{drivers}, restart the machine, then look again.",
    ProbeOutcome.TIMED_OUT: "Restart the machine: a driver that hangs stays so until then. If it "
    "happens again, update the graphics driver{drivers}. Until then, models run on the processor.",
    ProbeOutcome.FAILED: "Install the program again into a new environment. If it happens again, "
    "report it with the details. Until then, models run on the processor.",
}
_CODES: Final = {
    ProbeOutcome.CRASHED: "gpu_probe_crashed",
    ProbeOutcome.TIMED_OUT: "gpu_probe_hung",
    ProbeOutcome.FAILED: "gpu_probe_failed",
}


def probe_finding(report: HardwareReport) -> Problem | None:
    """What happened, with the drivers that the system lists; None when all went well."""
    outcome = report.probe.outcome
    if outcome is ProbeOutcome.COMPLETE:
        return None
    drivers = "; ".join(_words(adapter) for adapter in report.adapters if adapter.is_intel)
    return Problem(
        code=_CODES[outcome],
        headline=_HEADLINES[outcome],
        advice=_ADVICE[outcome].format(drivers=f" ({drivers})" if drivers else ""),
        severity=Severity.WARNING,
        detail=report.probe.detail,
    )


def unseen_gpu_finding(report: HardwareReport) -> Problem | None:
    """Intel graphics that the system lists and OpenVINO does not; None if there are none."""
    unseen = [_words(adapter) for adapter in report.adapters if adapter.is_intel]
    if report.best_gpu is not None or not unseen:
        return None
    return Problem(
        code="gpu_not_listed",
        headline=f"OpenVINO does not see the graphics of this machine: {'; '.join(unseen)}.",
        advice="Until it does, models run on the processor. Install Intel's newest graphics "
        "driver, restart the machine, then look again. If it is the newest already, these "
        "graphics may be too old for OpenVINO.",
        severity=Severity.WARNING,
    )


def _words(adapter: Adapter) -> str:
    name = adapter.name or f"{adapter.family.label} graphics, {adapter.pci_id}"
    version = adapter.driver or adapter.kernel_driver
    return f"{name}, driver {version}" if version else name
