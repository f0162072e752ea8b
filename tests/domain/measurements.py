"""Made-up measurements for the tests of what follows from them."""

from __future__ import annotations

from datetime import UTC, datetime

from dflash_desktop.domain.benchmark import (
    BenchPrompt,
    BenchReport,
    BenchRun,
    ChosenSetting,
    ContextPoint,
    FirstDifference,
    PromptKind,
    PromptResult,
    RoundRates,
)
from dflash_desktop.domain.generation import GenerationStats, KvCachePrecision
from dflash_desktop.domain.pair import MeasurementKey, PairFingerprint

KEY = MeasurementKey(
    fingerprint=PairFingerprint("target", "draft"),
    device_name="Made-up CPU",
    driver="1.0",
    runtime="fake 1.0",
    kv_cache_precision=KvCachePrecision.F32,
)


def bench_run(
    assistant_tokens: int,
    rate: float | None,
    *,
    baseline: float | None = 50.0,
    tokens: int = 101,
    rounds: tuple[tuple[float, float], ...] = (),
    first_token_seconds: float = 0.1,
    difference: FirstDifference | None = None,
) -> BenchRun:
    return BenchRun(
        assistant_tokens=assistant_tokens,
        baseline_tokens_per_second=baseline,
        tokens_per_second=rate,
        tokens_per_step=2.0,
        identical=difference is None,
        first_difference=difference,
        baseline_first_token_seconds=0.1,
        first_token_seconds=first_token_seconds,
        tokens=tokens,
        rounds=tuple(RoundRates(*pair) for pair in rounds),
    )


def result(*runs: BenchRun, kind: PromptKind = PromptKind.PROSE) -> PromptResult:
    return PromptResult(BenchPrompt(kind, f"A question about {kind}"), runs)


def report(
    *results: PromptResult,
    key: MeasurementKey = KEY,
    chosen: ChosenSetting | None = None,
    long_context: tuple[ContextPoint, ...] = (),
    power_source: str = "mains",
    measured_at: datetime = datetime(2026, 5, 3, 12, 0, tzinfo=UTC),
) -> BenchReport:
    return BenchReport(
        key=key,
        pair_title="Made-up pair",
        measured_at=measured_at,
        is_fast=False,
        power_source=power_source,
        prompts=results or (result(bench_run(3, 60.0)),),
        chosen=chosen or ChosenSetting(3, 1.2, "because"),
        long_context=long_context,
    )


def answer_stats(
    rate: float, *, tokens: int = 101, prompt_tokens: int = 0, assistant_tokens: int = 3
) -> GenerationStats:
    return GenerationStats(
        prompt_tokens=prompt_tokens,
        tokens=tokens,
        steps=max(1, tokens // 2),
        first_step_tokens=1,
        first_token_seconds=0.1,
        decode_seconds=(tokens - 1) / rate,
        assistant_tokens=assistant_tokens,
    )
