"""An export as it is known before it starts: what runs, what it takes, whether it can work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dflash_desktop.domain.export_request import ExportRequest


class ExportVerdict(StrEnum):
    """Whether this machine can do it now."""

    FITS = "fits"
    TIGHT = "tight"
    CANNOT = "cannot"


class StepKind(StrEnum):
    """What a step does; they come in this order, the middle ones once for each model."""

    ENVIRONMENT = "environment"  # make the export environment
    FETCH = "fetch"
    CONVERT = "convert"
    CHECK = "check"  # the contract, and what else shows a bad export
    MEASURE = "measure"  # the pair, run with and without the draft
    FINISH = "finish"  # into the library, or the folder that was chosen


@dataclass(frozen=True, slots=True)
class ExportStep:
    """One stage; `name` is stable and unique in its plan ("convert-draft").

    `command` is what a person could run on another machine to get the same, and is shown;
    empty where the program does the step by itself.
    """

    name: str
    kind: StepKind
    title: str
    command: tuple[str, ...] = ()
    peak_bytes: int = 0  # of memory


@dataclass(frozen=True, slots=True)
class ExportAlternative:
    """A way out when it is tight or cannot work; the first is the best."""

    title: str
    advice: str
    request: ExportRequest | None = None  # the smaller export, where that is the way out
    pair_id: str = ""  # of the catalogue, where somebody has made it already
    commands: tuple[str, ...] = ()  # for another machine


@dataclass(frozen=True, slots=True)
class ExportFetch:
    """What comes from the hub before the export; sizes in bytes."""

    repo_id: str
    commit: str  # 40 hexadecimal digits
    file_count: int
    size_bytes: int
    missing_bytes: int  # of it, what is not on this disk yet
    licence: str = ""


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """Everything that is said before the start; sizes in bytes."""

    request: ExportRequest
    environment_id: str
    steps: tuple[ExportStep, ...]
    peak_bytes: int  # of memory, of the largest step
    peak_formula: str  # how that was found, for people
    disk_bytes: int  # of what stays: the models, and the tools where they are not here yet
    temporary_bytes: int  # of what is there meanwhile, downloads included
    free_disk_bytes: int
    available_bytes: int  # of memory, now, without harming other programs
    verdict: ExportVerdict
    reasons: tuple[str, ...] = ()  # why the verdict, in sentences
    warnings: tuple[str, ...] = ()
    alternatives: tuple[ExportAlternative, ...] = ()
    output_dir: Path | None = None  # None: the library
    memory_total_bytes: int = 0  # of this machine; 0: not known
    fetches: tuple[ExportFetch, ...] = ()

    @property
    def brings_tools(self) -> bool:
        """Whether the export tools are installed by it."""
        return any(step.kind is StepKind.ENVIRONMENT for step in self.steps)
