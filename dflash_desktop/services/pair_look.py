"""Everything that the files of a pair say: what the contract finds, what a repair would write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.pair_contract import ContractResult, check_rules
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.repair_plan import RepairPlan, plan_repair
from dflash_desktop.services.model_inspection import (
    inspect_draft,
    inspect_model,
    installed_runtime,
)
from dflash_desktop.services.repair import can_undo

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class PairLook:
    """`can_undo` says whether a repair of one of the two can be taken back."""

    contract: ContractResult
    plan: RepairPlan
    can_undo: bool


def can_repair(target_dir: Path, draft_dir: Path | None) -> bool:
    """Whether a repair has anything to write, if need be with export tools yet to be installed.

    Blocking like `look_at_pair`.
    """
    try:
        return bool(look_at_pair(target_dir, draft_dir, has_export_tools=True).plan.repairs)
    except AppError:
        return False


def look_at_pair(
    target_dir: Path, draft_dir: Path | None, *, has_export_tools: bool = False
) -> PairLook:
    """Read both folders once. Blocking: a second, more on a slow disk.

    `has_export_tools`: a repair can make tokenizers anew.
    Raises `AppError` when a folder cannot be looked into.
    """
    target = inspect_model(target_dir)
    draft = inspect_draft(target_dir, draft_dir)
    contract = check_rules(target, draft, runtime=installed_runtime())
    return PairLook(
        contract,
        plan_repair(target, draft, contract.findings, has_export_tools=has_export_tools),
        can_undo(target_dir) or (draft_dir is not None and can_undo(draft_dir)),
    )
