"""Plans, runs and environments in every state, for the tests and the pictures."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.export_environment import EnvironmentState, EnvironmentStatus
from dflash_desktop.domain.export_plan import (
    ExportAlternative,
    ExportFetch,
    ExportPlan,
    ExportStep,
    ExportVerdict,
    StepKind,
)
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.domain.export_run import (
    ExportedModel,
    ExportMemory,
    ExportResult,
    ExportRun,
    ExportStage,
    ExportState,
    StageState,
)
from dflash_desktop.domain.problems import AppError, Problem, Remedy

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET_REPO = "Qwen/Qwen3-8B"
DRAFT_REPO = "z-lab/Qwen3-8B-DFlash-b16"
REQUEST = ExportRequest(
    "Qwen3-8B int4 with Qwen3-8B-DFlash-b16 int4",
    (
        ExportItem(
            ExportRole.TARGET,
            ExportSource(SourceKind.HUB, repo_id=TARGET_REPO),
            WeightFormat.INT4,
        ),
        ExportItem(
            ExportRole.DRAFT,
            ExportSource(SourceKind.HUB, repo_id=DRAFT_REPO),
            WeightFormat.INT4,
        ),
    ),
)
_CONVERT = ("optimum-cli", "export", "openvino", "--model", TARGET_REPO)
STEPS = (
    ExportStep("environment", StepKind.ENVIRONMENT, "Install the export tools"),
    ExportStep("fetch", StepKind.FETCH, "Fetch the checkpoints"),
    ExportStep(
        "convert-target",
        StepKind.CONVERT,
        "Convert Qwen3-8B to int4",
        (*_CONVERT, "--weight-format", "int4", "--group-size", "128", "Qwen3 8B int4"),
        21_300_000_000,
    ),
    ExportStep(
        "convert-draft",
        StepKind.CONVERT,
        "Convert Qwen3-8B-DFlash-b16 to int4",
        ("optimum-cli", "export", "openvino", "--model", DRAFT_REPO, "draft"),
        3_200_000_000,
    ),
    ExportStep("check", StepKind.CHECK, "Check what was made"),
    ExportStep("measure", StepKind.MEASURE, "Measure the pair with and without its draft"),
    ExportStep("finish", StepKind.FINISH, "Put the models into the library"),
)
PLAN = ExportPlan(
    request=REQUEST,
    environment_id="transformers-5.5",
    steps=STEPS,
    peak_bytes=21_300_000_000,
    peak_formula=(
        "0.6 GB for Python and PyTorch + 2.5 bytes x 8.19 billion parameters of the model, which "
        "is the larger of the two. Measured on exports of 0.1 to 1 billion parameters."
    ),
    disk_bytes=5_400_000_000,
    temporary_bytes=18_900_000_000,
    free_disk_bytes=212_000_000_000,
    available_bytes=26_100_000_000,
    verdict=ExportVerdict.FITS,
    reasons=("It takes about 21.3 GB at its peak, and 26.1 GB can be had.",),
    memory_total_bytes=33_300_000_000,
    alternatives=(
        ExportAlternative(
            "Use another machine", "These lines make the same.", commands=("optimum-cli …",)
        ),
    ),
    fetches=(
        ExportFetch(TARGET_REPO, "a" * 40, 14, 16_400_000_000, 16_400_000_000, "Apache-2.0"),
        ExportFetch(DRAFT_REPO, "b" * 40, 5, 2_100_000_000, 0, "MIT"),
    ),
)
SMALLER = replace(
    REQUEST,
    items=(replace(REQUEST.items[0], weight_format=WeightFormat.INT8),),
)
ALTERNATIVES = (
    ExportAlternative(
        "Somebody has made it already",
        "Qwen3 8B int4 with its DFlash draft can be downloaded: 6.60 GB, and nothing is computed.",
        pair_id="Qwen3-8B-Base-int4+Qwen3-8B-DFlash-int4",
    ),
    ExportAlternative(
        "Make the smaller one",
        "int8 takes less than fp16 at its peak.",
        request=SMALLER,
    ),
    ExportAlternative(
        "Use another machine",
        "On one with 64 GB of memory these commands make the same. Add the folders here then.",
        commands=("pip install optimum-intel[openvino]", "optimum-cli export openvino …"),
    ),
)
TIGHT = replace(
    PLAN,
    verdict=ExportVerdict.TIGHT,
    available_bytes=22_000_000_000,
    reasons=("Only 700 MB stay free at the peak. Close other programs before you start.",),
    warnings=("Swap is in use already: it may take several times as long.",),
    alternatives=ALTERNATIVES,
)
CANNOT = replace(
    PLAN,
    verdict=ExportVerdict.CANNOT,
    memory_total_bytes=16_400_000_000,
    available_bytes=11_200_000_000,
    reasons=("It needs 21.3 GB of memory, and this machine has 16.4 GB in all.",),
    alternatives=ALTERNATIVES,
)


def stages(
    *, at: int, share: float | None = 0.42, failed: bool = False
) -> tuple[ExportStage, ...]:
    """Those before `at` are done."""
    made = []
    for number, step in enumerate(STEPS):
        state = StageState.DONE if number < at else StageState.WAITING
        if number == at:
            state = StageState.FAILED if failed else StageState.RUNNING
        is_now = number == at
        made.append(
            ExportStage(
                step.name,
                step.title,
                state,
                share if is_now else None,
                "Compressing weights: 121 of 288 layers" if is_now else "",
                (12.0, 184.0, 95.0, 20.0, 8.0, 41.0, 2.0)[number] if number <= at else 0.0,
            )
        )
    return tuple(made)


def memory(seconds: int = 150) -> tuple[ExportMemory, ...]:
    """A loading, a plateau, and a peak."""
    samples = []
    for step in range(seconds * 4):
        at = step / 4
        used = 0.6e9 + min(17.5e9, at * 0.21e9) + 1.2e9 * abs(math.sin(at / 9))
        samples.append(
            ExportMemory(
                at_seconds=at,
                tree_bytes=round(used),
                available_bytes=round(26.1e9 - used),
                limit_bytes=24_000_000_000,
                floor_bytes=2_000_000_000,
            )
        )
    return tuple(samples)


LOG = tuple(
    f"INFO:nncf:Statistics of layer {number}: int4 asymmetric, group size 128"
    for number in range(40)
)
RUNNING = ExportRun(
    id="run-1",
    plan=PLAN,
    state=ExportState.RUNNING,
    stages=stages(at=2),
    memory=memory(),
    peak_bytes=19_300_000_000,
    log_lines=LOG,
    log_count=len(LOG),
    log_file=Path("/home/ada/.local/state/dflash-desktop/export-run-1.log"),
    seconds=291.0,
)
WARNED = replace(
    RUNNING,
    notice="Memory becomes scarce: the export was given a lower priority. 2.30 GB are left.",
)
PAUSED = replace(RUNNING, state=ExportState.PAUSED, id="run-2")
STOPPED = Problem(
    code="export_memory",
    headline="The export was stopped: 3.10 GB of memory were missing.",
    advice=(
        "Converting Qwen3-8B took 24.0 GB, the limit, and went on growing. Close other programs, "
        "or make a smaller one. What was fetched is kept."
    ),
    detail="guard: tree 24.0 GB > limit 24.0 GB; available 2.02 GB",
    remedies=(Remedy.RETRY,),
)
FAILED = replace(
    RUNNING,
    id="run-3",
    state=ExportState.FAILED,
    stages=stages(at=2, failed=True),
    problem=STOPPED,
)
RESULT = ExportResult(
    models=(
        ExportedModel("target", "local/Qwen3-8B-int4", Path("/models/Qwen3-8B-int4"), "good"),
        ExportedModel("draft", "local/Qwen3-8B-DFlash-int4", Path("/models/draft"), "warnings"),
    ),
    pair_verdict="working",
    speed_up=2.41,
)
DONE = replace(
    RUNNING, id="run-4", state=ExportState.DONE, stages=stages(at=7), result=RESULT, notice=""
)
EVERY_RUN = (DONE, FAILED, PAUSED, RUNNING)
ENVIRONMENTS = (
    EnvironmentStatus(
        "transformers-5.5",
        "Export tools with transformers 5.5",
        EnvironmentState.READY,
        "most text models, Gemma 4, and all DFlash drafts",
        1_320_000_000,
        1_320_000_000,
    ),
    EnvironmentStatus(
        "transformers-5.2",
        "Export tools with transformers 5.2",
        EnvironmentState.ABSENT,
        "Qwen3.5, with and without pictures",
        0,
        118_000_000,
    ),
    EnvironmentStatus(
        "transformers-4.57",
        "Export tools with transformers 4.57",
        EnvironmentState.DAMAGED,
        "Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3-Next, Gemma 2 and older models",
        96_000_000,
        110_000_000,
        detail="The installation was cut off.",
    ),
    EnvironmentStatus(
        "development",
        "Development builds",
        EnvironmentState.OUTDATED,
        "DFlash 2 and DSpark drafts",
        1_400_000_000,
        1_400_000_000,
        is_development=True,
    ),
)


class FakeExports:
    """Keeps the runs that it was given and notes what was asked of it."""

    def __init__(self, *runs: ExportRun) -> None:
        self.shown = runs
        self.asked: list[tuple[object, ...]] = []
        self.refusal: Problem | None = None
        self._listeners: list[Callable[[], None]] = []

    def runs(self) -> tuple[ExportRun, ...]:
        return self.shown

    def change(self, *runs: ExportRun) -> None:
        self.shown = runs
        for listener in tuple(self._listeners):
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def start(self, plan: ExportPlan) -> ExportRun:
        self._note("start", plan.request)
        run = replace(RUNNING, id="started", plan=plan, stages=stages(at=0, share=None))
        self.change(*self.shown, run)
        return run

    def pause(self, run_id: str) -> None:
        self._note("pause", run_id)

    def resume(self, run_id: str) -> None:
        self._note("resume", run_id)

    def cancel(self, run_id: str) -> None:
        self._note("cancel", run_id)

    def remove(self, run_id: str) -> None:
        self._note("remove", run_id)

    def _note(self, *wish: object) -> None:
        self.asked.append(wish)
        if self.refusal is not None:
            raise AppError(self.refusal)
