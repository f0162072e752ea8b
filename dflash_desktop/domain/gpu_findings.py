"""What stands between this machine and its Intel graphics, or is good to know about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.gpu_family import GpuFamily
from dflash_desktop.domain.linux_findings import linux_findings
from dflash_desktop.domain.probe_findings import probe_finding, unseen_gpu_finding
from dflash_desktop.domain.problems import Problem, Severity
from dflash_desktop.domain.recommend_words import version_key
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.hardware import Gpu, HardwareReport

_SMALL_ALLOCATION_BYTES: Final = 2_000_000_000
"""The largest single tensor of the models in the catalogue, a table of words, comes close."""
_SAVING_MODES: Final = frozenset(
    {"power-saver", "low-power", "quiet", "cool", "power", "best power efficiency"}
)
_USUAL_SHARE_OF_WINDOWS: Final = 0.6
"""Windows lends built-in graphics about half of the memory unless the person raises it."""


@dataclass(frozen=True, slots=True)
class KnownDriver:
    """A driver that others had trouble with; `driver` is the end of its version."""

    driver: str
    system: str  # "windows" or "linux"
    effect: str
    advice: str
    source: str


def findings(
    report: HardwareReport, known_drivers: tuple[KnownDriver, ...]
) -> tuple[Problem, ...]:
    """Everything worth telling, the worst first; none of it keeps the program from running."""
    found = [*linux_findings(report)]
    unseen = unseen_gpu_finding(report)
    fault = probe_finding(report)
    if fault is not None:
        found.append(fault)
    elif unseen is not None and not found:  # else it was said why
        found.append(unseen)
    elif report.linux is None and report.best_gpu is None:
        found.append(_no_gpu())
    found += _findings_of_gpus(report, known_drivers)
    if report.npus:
        found.append(_npu_not_offered(report.npus[0]))
    if report.power.source == "battery":
        found.append(_ON_BATTERY)
    if report.power.mode.lower() in _SAVING_MODES:
        found.append(_saves_power(report.power.mode))
    return worst_first(found)


def worst_first(found: Iterable[Problem]) -> tuple[Problem, ...]:
    """In the order in which a person should read them."""
    order = (Severity.ERROR, Severity.WARNING, Severity.INFO)
    return tuple(sorted(found, key=lambda problem: order.index(problem.severity)))


def version_findings(devices: DeviceReport) -> tuple[Problem, ...]:
    """Whether the three OpenVINO packages are of one release (case 98)."""
    told = {
        "OpenVINO": devices.openvino_version,
        "OpenVINO GenAI": devices.genai_version,
        "OpenVINO Tokenizers": devices.tokenizers_version,
    }
    releases = {name: version_key(text)[:3] for name, text in told.items() if version_key(text)}
    if len(set(releases.values())) <= 1:
        return ()
    words = ", ".join(f"{name} {'.'.join(map(str, key))}" for name, key in releases.items())
    return (
        Problem(
            code="mixed_openvino_versions",
            headline=f"The OpenVINO packages are of different releases: {words}.",
            advice="Models may fail to load. Install the program into a new environment.",
            severity=Severity.ERROR,
        ),
    )


def _findings_of_gpus(
    report: HardwareReport, known_drivers: tuple[KnownDriver, ...]
) -> Iterator[Problem]:
    for gpu in report.gpus:
        if not gpu.is_intel:
            yield _other_maker(gpu)
            continue
        for known in known_drivers:
            if _is_driver(gpu.driver, known.driver) and known.system in _system(report):
                yield _known_bad(gpu, known)
        yield from _memory_findings(report, gpu)


def _memory_findings(report: HardwareReport, gpu: Gpu) -> Iterator[Problem]:
    if not gpu.shares_system_memory and not gpu.is_usable_card:
        yield _memory_unknown(gpu)
    if gpu.is_virtual:
        yield _virtual_slice(gpu)
    elif gpu.virtual_functions:
        yield _is_shared_out(gpu)
    if gpu.max_allocation_bytes and gpu.max_allocation_bytes < _SMALL_ALLOCATION_BYTES:
        yield _small_allocation(gpu, gpu.max_allocation_bytes, is_wsl=report.is_wsl)
    if gpu.has_resizable_bar is False:
        yield _no_resizable_bar(gpu)
    if _is_held_back_by_windows(report, gpu):
        yield _shared_memory_limit(gpu)


def _is_driver(version: str, ending: str) -> bool:
    return version == ending or version.endswith(f".{ending}")


def _system(report: HardwareReport) -> str:
    return report.os.lower()


def _is_held_back_by_windows(report: HardwareReport, gpu: Gpu) -> bool:
    total, offered = report.memory.total_bytes, gpu.offered_bytes
    return (
        "windows" in _system(report)
        and gpu.shares_system_memory
        and gpu.family is not GpuFamily.OTHER_INTEL
        and total is not None
        and offered is not None
        and offered < total * _USUAL_SHARE_OF_WINDOWS
    )


def _no_gpu() -> Problem:
    return Problem(
        code="no_intel_gpu",
        headline="No Intel graphics were found: models run on the processor.",
        advice="That works, and is slower. If this machine has Intel graphics, install or update "
        "their driver, then start the program again.",
        severity=Severity.WARNING,
    )


def _other_maker(gpu: Gpu) -> Problem:
    return Problem(
        code="gpu_not_intel",
        headline=f"{gpu.name} is not used.",
        advice="OpenVINO computes on Intel graphics and on processors only. Nothing is wrong.",
        severity=Severity.INFO,
    )


def _npu_not_offered(name: str) -> Problem:
    return Problem(
        code="npu_not_offered",
        headline=f"The AI processor ({name}) is not used.",
        advice="DFlash drafts do not run on it, and the graphics are faster. Nothing is wrong.",
        severity=Severity.INFO,
    )


def _known_bad(gpu: Gpu, known: KnownDriver) -> Problem:
    return Problem(
        code="known_bad_driver",
        headline=f"Others had trouble with driver {gpu.driver} of {gpu.name}. {known.effect}",
        advice=f"{known.advice} If it works for you, there is nothing to do.",
        severity=Severity.WARNING,
        detail=known.source,
    )


def _memory_unknown(gpu: Gpu) -> Problem:
    if gpu.offered_bytes is None:
        headline = f"{gpu.name} does not tell how much memory it has."
    else:
        headline = f"{gpu.name} offers only {format_bytes(gpu.offered_bytes)} of its memory."
    return Problem(
        code="gpu_memory_unknown",
        headline=headline,
        advice='Update its driver, and switch on "Resizable BAR" in the firmware settings. '
        "Until then the advice is made for the processor.",
        severity=Severity.WARNING,
    )


def _virtual_slice(gpu: Gpu) -> Problem:
    is_limited = gpu.memory_limit_bytes is not None
    limit = format_bytes(gpu.memory_limit_bytes or 0)
    return Problem(
        code="gpu_virtual_slice",
        headline=f"{gpu.name} is a part of a card that several machines share.",
        advice=f"The advice counts on the {limit} that this machine was given."
        if is_limited
        else "It may report the memory of the whole card. Count on what you were given.",
        severity=Severity.INFO if is_limited else Severity.WARNING,
    )


def _is_shared_out(gpu: Gpu) -> Problem:
    slices = f"{gpu.virtual_functions} part" + ("s" if gpu.virtual_functions > 1 else "")
    return Problem(
        code="gpu_shared_out",
        headline=f"{slices} of {gpu.name} can be given to virtual machines.",
        advice="What they take is missing here, and the driver may not tell.",
        severity=Severity.INFO,
    )


def _saves_power(mode: str) -> Problem:
    return Problem(
        code="power_saving",
        headline=f"The machine is set to save power ({mode}).",
        advice="Models answer faster in a balanced or fast power mode.",
        severity=Severity.INFO,
    )


def _small_allocation(gpu: Gpu, limit_bytes: int, *, is_wsl: bool) -> Problem:
    where = " Under WSL this is usual; Windows or Linux itself allow more." if is_wsl else ""
    return Problem(
        code="small_allocation_limit",
        headline=f"{gpu.name} gives at most {format_bytes(limit_bytes)} at once.",
        advice=f"Large models may fail to load although there is room.{where}",
        severity=Severity.WARNING,
    )


def _no_resizable_bar(gpu: Gpu) -> Problem:
    return Problem(
        code="resizable_bar_off",
        headline=f"Resizable BAR is off, which makes {gpu.name} slow.",
        advice='Switch on "Resizable BAR" (or "Re-Size BAR") and "Above 4G decoding" in the '
        "machine's firmware settings.",
        severity=Severity.WARNING,
    )


def _shared_memory_limit(gpu: Gpu) -> Problem:
    return Problem(
        code="shared_memory_limit",
        headline=f"Windows lends {gpu.name} {format_bytes(gpu.offered_bytes or 0)} of the memory.",
        advice='To run larger models, raise "Shared GPU Memory Override" in Intel Graphics '
        "Software, then restart the machine.",
        severity=Severity.INFO,
    )


_ON_BATTERY: Final = Problem(
    code="on_battery",
    headline="The machine runs on its battery.",
    advice="Models answer more slowly than on mains power.",
    severity=Severity.INFO,
)
