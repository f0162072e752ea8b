"""The messages to and from the guard of exports: one child is started, watched and ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec


class _Message(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


# --- commands: window → guard ----------------------------------------------------------------


class GuardStep(_Message, frozen=True, tag="guard_step"):
    """Run one step of an export. → `StepSaid`…, `StepMemory`…, then `StepEnded` or `Failed`.

    `limit_bytes` None takes most of the machine's memory; what is not safe is moved to what is.
    """

    job: int
    argv: tuple[str, ...]
    env: dict[str, str]
    work_dir: Path
    log_file: Path
    limit_bytes: int | None = None


class HoldStep(_Message, frozen=True, tag="hold_step"):
    """Let all processes of the step stand still, or go on."""

    job: int
    is_held: bool


class EndStep(_Message, frozen=True, tag="end_step"):
    """End all processes of the step at once. It still answers with `StepEnded`."""

    job: int


# --- events: guard → window ------------------------------------------------------------------


class StepSaid(_Message, frozen=True, tag="step_said"):
    """What the step printed; `open_line` has no end yet and will read otherwise."""

    job: int
    lines: tuple[str, ...] = ()
    open_line: str = ""
    reports: tuple[dict[str, Any], ...] = ()


class StepMemory(_Message, frozen=True, tag="step_memory"):
    """One look at the memory; `verdict` and `reason` are those of `domain.export_guard`."""

    job: int
    at_seconds: float
    tree_bytes: int
    available_bytes: int
    limit_bytes: int
    floor_bytes: int
    verdict: int
    reason: str


class StepEnded(_Message, frozen=True, tag="step_ended"):
    """Every process of the step is gone. A negative code is a signal's number.

    `stopped_by` is the guard's reason when it was the guard; `tree_bytes` and `available_bytes`
    are what it saw then. `oom_kills` is how often the kernel killed for memory meanwhile.
    """

    job: int
    code: int
    stopped_by: str = ""
    is_ended_on_request: bool = False
    peak_bytes: int = 0
    tree_bytes: int = 0
    available_bytes: int = 0
    limit_bytes: int = 0
    floor_bytes: int = 0
    oom_kills: int = 0
