"""A measurement in the form that `bench --json` prints and the window exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.benchmark import tried_assistant_tokens
from dflash_desktop.domain.draft_choice import setting_worth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.benchmark import (
        BenchReport,
        BenchRun,
        ChosenSetting,
        ContextPoint,
        FirstDifference,
        PromptResult,
    )
    from dflash_desktop.domain.draft_rivals import WaysCompared


def bench_form(report: BenchReport) -> dict[str, object]:
    """The fields that docs/json.md describes, apart from `json_version`."""
    return {
        "pair": report.pair_title,
        "device": report.key.device_name,
        "driver": report.key.driver,
        "runtime": report.key.runtime,
        "kv_cache_precision": str(report.kv_cache_precision),
        "prompts": [_prompt_form(r) for r in (*report.prompts, *report.pictures)],
        "settings": _settings_form(report.prompts),
        "long_context": [_point_form(point) for point in report.long_context],
        "chosen": _chosen_form(report.chosen),
        "settings_with_pictures": _settings_form(report.pictures),
        "chosen_with_pictures": None
        if report.chosen_with_pictures is None
        else _chosen_form(report.chosen_with_pictures),
        "is_fast": report.is_fast,
        "power_source": report.power_source,
        "measured_at": report.measured_at.isoformat(),
    }


def rivals_form(compared: WaysCompared | None) -> dict[str, object] | None:
    """How the ways to draft for one target compare; None if only one was measured."""
    if compared is None:
        return None
    return {
        "statement": compared.statement,
        "used": compared.fastest.pair_title,
        "ways": [
            {
                "pair": report.pair_title,
                "assistant_tokens": report.chosen.assistant_tokens,
                "speedup": report.chosen.speedup,
                "reason": report.chosen.reason,
                "baseline_tokens_per_second": report.baseline_tokens_per_second,
            }
            for report in compared.reports
        ],
    }


def _prompt_form(result: PromptResult) -> dict[str, object]:
    return {
        "kind": str(result.prompt.kind),
        "prompt": result.prompt.text,
        "runs": [_run_form(run) for run in result.runs],
    }


def _chosen_form(chosen: ChosenSetting) -> dict[str, object]:
    return {
        "assistant_tokens": chosen.assistant_tokens,
        "speedup": chosen.speedup,
        "reason": chosen.reason,
    }


def _run_form(run: BenchRun) -> dict[str, object]:
    return {
        "assistant_tokens": run.assistant_tokens,
        "baseline_tokens_per_second": run.baseline_tokens_per_second,
        "tokens_per_second": run.tokens_per_second,
        "speedup": run.speedup,
        "tokens_per_step": run.tokens_per_step,
        "identical": run.identical,
        "first_difference": difference_form(run.first_difference),
        "tokens": run.tokens,
        "baseline_first_token_seconds": run.baseline_first_token_seconds,
        "first_token_seconds": run.first_token_seconds,
    }


def difference_form(difference: FirstDifference | None) -> dict[str, object] | None:
    """Where two texts part; None if they do not."""
    if difference is None:
        return None
    return {
        "token_index": difference.token_index,
        "without_draft": difference.without_draft,
        "with_draft": difference.with_draft,
        "gap_nats": difference.gap_nats,
        "noise_nats": difference.noise_nats,
        "is_numeric_tie": difference.is_numeric_tie,
    }


def _settings_form(results: Sequence[PromptResult]) -> list[dict[str, object]]:
    return [_setting_form(results, setting) for setting in tried_assistant_tokens(results)]


def _setting_form(results: Sequence[PromptResult], assistant_tokens: int) -> dict[str, object]:
    worth = setting_worth(results, assistant_tokens)
    return {
        "assistant_tokens": assistant_tokens,
        "speedup": worth.speedup if worth else None,
        "slowest_round_speedup": worth.slowest_round if worth else None,
        "whole_answer_speedup": worth.answer_speedup if worth else None,
        "tokens_per_step": worth.tokens_per_step if worth else None,
    }


def _point_form(point: ContextPoint) -> dict[str, object]:
    return {
        "context_tokens": point.context_tokens,
        "baseline_tokens_per_second": point.baseline_tokens_per_second,
        "tokens_per_second": point.tokens_per_second,
        "speedup": point.speedup,
    }
