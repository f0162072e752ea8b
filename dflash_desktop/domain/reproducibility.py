"""Everything that decides how fast a pair is somewhere, in one record that can be shared.

It names no folder, no person and no other machine; hashes say which files are meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

RECORD_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """One file of a model, by its path in the model's folder."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """One of the two models; empty where it is not known."""

    subject: str  # "target" or "draft"
    name: str
    kind: str  # a `ModelKind`
    repo_id: str
    commit: str
    precision: str
    exported_with: Mapping[str, str]  # tool or setting, as the graph itself says
    made_from: Mapping[str, str]  # of one that was imported or exported here: its source
    repaired: tuple[str, ...]  # files that a repair here has rewritten
    hashes_from: str  # "manifest": noted when it was installed; "computed": read now
    files: tuple[RecordedFile, ...]


@dataclass(frozen=True, slots=True)
class RecordedDevice:
    """One device that OpenVINO finds."""

    id: str
    name: str
    driver: str
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class RecordedMachine:
    """The machine at the moment of the record."""

    os: str
    cpu: str
    memory_bytes: int | None
    power_source: str
    power_mode: str
    devices: tuple[RecordedDevice, ...]
    chosen_device: str


@dataclass(frozen=True, slots=True)
class RecordedFinding:
    """What the contract found."""

    code: str
    severity: str
    subject: str
    expected: str
    found: str
    where: str


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One prompt at one number of assistant tokens; rates are of decoding alone."""

    prompt_kind: str
    assistant_tokens: int
    baseline_tokens_per_second: float | None
    tokens_per_second: float | None
    tokens_per_step: float | None
    is_identical: bool


@dataclass(frozen=True, slots=True)
class RecordedMeasurement:
    """One stored measurement of exactly these files."""

    measured_at: datetime
    device_name: str
    driver: str
    runtime: str
    kv_cache_precision: str
    power_source: str
    is_fast: bool
    chosen_assistant_tokens: int
    chosen_speedup: float | None
    baseline_tokens_per_second: float | None
    runs: tuple[RecordedRun, ...]


@dataclass(frozen=True, slots=True)
class RecordedCheck:
    """The last measured check of this pair; empty or 0 is what a pair that cannot run has not."""

    checked_at: datetime
    verdict: str  # a `CheckVerdict`
    causes: tuple[str, ...]  # their codes, the likeliest first
    device_name: str
    driver: str
    runtime: str
    kv_cache_precision: str
    assistant_tokens: int
    speedup: float | None
    tokens_per_step: float | None
    text: str  # a `TextVerdict`


@dataclass(frozen=True, slots=True)
class PairRecord:
    """A target, its draft if there is one, the machine, and what was found and measured."""

    record_version: int
    made_at: datetime
    versions: Mapping[str, str]  # of this program, the runtime's parts, Python
    machine: RecordedMachine
    models: tuple[RecordedModel, ...]
    verdict: str
    findings: tuple[RecordedFinding, ...]
    check: RecordedCheck | None  # None: never checked here, or not kept
    measurements: tuple[RecordedMeasurement, ...]
    commands: tuple[str, ...]  # that bring about the same elsewhere

    def model(self, subject: str) -> RecordedModel | None:
        """The target or the draft."""
        return next((model for model in self.models if model.subject == subject), None)

    @property
    def latest(self) -> RecordedMeasurement | None:
        """The newest measurement."""
        return max(self.measurements, key=lambda one: one.measured_at, default=None)
