"""A check in the form that `check --json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.check_words import TEXT_SENTENCES
from dflash_desktop.services.bench_form import difference_form

if TYPE_CHECKING:
    from dflash_desktop.domain.check_report import CheckReport
    from dflash_desktop.domain.precision_question import PrecisionComparison


def check_form(check: CheckReport) -> dict[str, object]:
    """The fields that docs/json.md describes, apart from `json_version`."""
    return {
        "verdict": check.judgement.verdict,
        "causes": [
            {"code": cause.code, "cause": cause.words, "remedy": cause.remedy}
            for cause in check.judgement.causes
        ],
        "measurements": _measurements(check),
    }


def precision_form(comparison: PrecisionComparison | None) -> dict[str, object] | None:
    """The fields of `precisions` in docs/json.md."""
    if comparison is None:
        return None
    return {
        "answer": comparison.answer,
        "statement": comparison.statement,
        "checks": [
            {
                "draft": one.name,
                "precision": one.precision or None,
                "verdict": one.verdict,
                "tokens_per_step": one.tokens_per_step,
                "speedup": one.speedup,
            }
            for one in comparison.checks
        ],
    }


def _measurements(check: CheckReport) -> dict[str, object] | None:
    report, numbers = check.report, check.numbers
    if report is None or numbers is None:
        return None
    return {
        "device": report.key.device_name,
        "driver": report.key.driver,
        "runtime": report.key.runtime,
        "measured_at": report.measured_at.isoformat(),
        "assistant_tokens": numbers.assistant_tokens,
        "baseline_tokens_per_second": report.baseline_tokens_per_second,
        "speedup": numbers.speedup,
        "tokens_per_step": numbers.tokens_per_step,
        "step_cost": numbers.step_cost,
        "accepted_by_position": [round(rate, 4) for rate in numbers.acceptance.rates],
        "acceptance": numbers.signature,
        "by_context": [
            {
                "context_tokens": one.context_tokens,
                "tokens_per_step": one.acceptance.tokens_per_step,
            }
            for one in numbers.by_context
        ],
        "speedup_by_kind": {str(kind.kind): kind.speedup for kind in numbers.by_kind},
        "text": {
            "verdict": numbers.text,
            "statement": TEXT_SENTENCES[numbers.text],
            "kv_cache_precision": str(report.kv_cache_precision),
            "first_difference": difference_form(numbers.difference),
        },
    }
