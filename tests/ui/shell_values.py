"""Values that several tests of the window's frame and pages share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from dflash_desktop.domain.benchmark import (
    BenchPrompt,
    BenchReport,
    BenchRun,
    ChosenSetting,
    ContextPoint,
    FirstDifference,
    PromptKind,
    PromptResult,
)
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair import (
    DraftFacts,
    LoadedPair,
    PairFingerprint,
    PairFolders,
    measurement_key,
)
from dflash_desktop.domain.problems import Problem, Remedy

MEASURED_AT = datetime(2026, 11, 2, 12, 30, tzinfo=UTC)
PAIR = PairFolders("mine", "My pair", Path("/models/target"), Path("/models/draft"))
LOADED = LoadedPair(
    title="My pair",
    target_dir=PAIR.target_dir,
    draft_dir=PAIR.draft_dir,
    draft=DraftFacts(8, (2, 8, 14, 20, 26), 16),
    device="GPU.0",
    device_name="Intel(R) Arc(TM) 140V GPU (16GB)",
    driver="32.0.101.8000",
    runtime="openvino-genai 2026.4.1",
    kv_cache_precision=KvCachePrecision.F16,
    context_tokens=8192,
    keeps_both=True,
    fingerprint=PairFingerprint("a", "b"),
    load_seconds=3.21,
)
TIE = FirstDifference(37, " bright and", " clear", 0.0004, 0.01)
NOT_A_TIE = FirstDifference(4, " one", " two", 2.5, 0.01)
PROBLEM = Problem("code", "It broke.", "Try again.", remedies=(Remedy.RETRY, Remedy.USE_CPU))


def bench_run(
    assistant_tokens: int, speedup: float, difference: FirstDifference | None = None
) -> BenchRun:
    return BenchRun(
        assistant_tokens=assistant_tokens,
        baseline_tokens_per_second=50.0,
        tokens_per_second=50.0 * speedup,
        tokens_per_step=2.5,
        identical=difference is None,
        first_difference=difference,
        baseline_first_token_seconds=0.1,
        first_token_seconds=0.1,
        tokens=128,
    )


def bench_report(*, chosen_tokens: int = 3, speedup: float | None = 1.25) -> BenchReport:
    code = (bench_run(2, 1.1), bench_run(3, 1.3, TIE))
    prose = (bench_run(2, 1.0), bench_run(3, 1.2, NOT_A_TIE))
    return BenchReport(
        key=measurement_key(LOADED),
        pair_title=LOADED.title,
        measured_at=MEASURED_AT,
        is_fast=True,
        power_source="battery",
        prompts=(
            PromptResult(BenchPrompt(PromptKind.CODE, "Write a loop."), code),
            PromptResult(BenchPrompt(PromptKind.PROSE, "Write a letter."), prose),
        ),
        chosen=ChosenSetting(chosen_tokens, speedup, "The reason."),
        long_context=(ContextPoint(2048, 40.0, 44.0),),
    )
