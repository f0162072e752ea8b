"""Which of the drafts that are here may fit a target, by their files alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dflash_desktop.domain.pair_contract import Verdict, check_contract, verdict_of
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.model_inspection import inspect_model, installed_runtime

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_log = logging.getLogger(__name__)


def fitting_drafts(target_dir: Path, draft_dirs: Iterable[Path]) -> tuple[Path, ...]:
    """Those that the contract does not refuse, the ones without a doubt first.

    Reads no weights; blocking, up to a second for each. Raises `AppError` when the target's
    folder cannot be looked into; a draft's that cannot be is left out.
    """
    target, runtime = inspect_model(target_dir), installed_runtime()
    found: list[tuple[bool, Path]] = []
    for folder in dict.fromkeys(draft_dirs):
        try:
            verdict = verdict_of(check_contract(target, inspect_model(folder), runtime=runtime))
        except AppError as error:
            _log.info("this draft is left out: %s", error)
            continue
        if verdict is not Verdict.BLOCKED:
            found.append((verdict is not Verdict.GOOD, folder))
    return tuple(folder for _, folder in sorted(found, key=lambda one: one[0]))
