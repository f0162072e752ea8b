"""Finds the same draft in other precisions, and puts their checks together."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from dflash_desktop.domain.precision_question import PrecisionCheck
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.model_description import describe_model
from dflash_desktop.services.model_inspection import inspect_model

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dflash_desktop.domain.check_report import CheckReport
    from dflash_desktop.domain.model_facts import ModelFacts


def other_precisions(draft_dir: Path, candidates: Iterable[Path]) -> tuple[Path, ...]:
    """Those of the folders that hold this very draft with other weights, as far as files tell.

    Blocking: reads the graph of each candidate. Raises `AppError` when one cannot be looked into.
    """
    draft = inspect_model(draft_dir)
    return tuple(
        folder for folder in candidates if _is_other_precision(folder, draft, draft_dir=draft_dir)
    )


def readable_precisions(draft_dir: Path, candidates: Iterable[Path]) -> tuple[Path, ...]:
    """As `other_precisions`, without those that cannot be looked into. Blocking; never raises."""
    try:
        draft = inspect_model(draft_dir)
    except AppError:
        return ()
    found: list[Path] = []
    for folder in candidates:
        with contextlib.suppress(AppError):
            if _is_other_precision(folder, draft, draft_dir=draft_dir):
                found.append(folder)
    return tuple(found)


def precision_check(draft_dir: Path, check: CheckReport) -> PrecisionCheck:
    """One check as the comparison wants it. Blocking."""
    numbers = check.numbers
    return PrecisionCheck(
        name=draft_dir.name,
        precision=describe_model(draft_dir)[1],
        verdict=check.judgement.verdict,
        tokens_per_step=None if numbers is None else numbers.acceptance.tokens_per_step,
        speedup=None if numbers is None else numbers.speedup,
    )


def _is_other_precision(folder: Path, draft: ModelFacts, *, draft_dir: Path) -> bool:
    return folder.resolve() != draft_dir.resolve() and _is_same(draft, inspect_model(folder))


def _is_same(one: ModelFacts, other: ModelFacts) -> bool:
    if one.kind() is not other.kind() or not other.kind().is_dflash_family:
        return False
    if one.file_sizes.get(one.weights_file) == other.file_sizes.get(other.weights_file):
        return False  # the same precision: another draft, or a copy
    return _shape(one) == _shape(other)


def _shape(draft: ModelFacts) -> tuple[object, ...]:
    config = draft.config
    return (
        draft.rt_info("dflash", "mask_token_id"),
        draft.rt_info("dflash", "target_layer_ids"),
        config.hidden_size,
        config.layer_count,
        config.vocabulary,
        config.block_size,
    )
