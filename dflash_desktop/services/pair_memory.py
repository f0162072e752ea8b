"""What a pair on this disk takes of the memory, from its own files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflash_desktop.domain.memory_budget import MemoryBudget, budget_of
from dflash_desktop.domain.model_facts import MTP_GRAPH
from dflash_desktop.domain.pair_sizes import PairSizes, folder_sizes
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.model_inspection import inspect_draft, inspect_model

if TYPE_CHECKING:
    from pathlib import Path


def pair_sizes(target_dir: Path, draft_dir: Path | None) -> PairSizes | None:
    """Read the two folders; None if the target is none that can be read.

    Takes about a second for a large graph: not for the window's thread.
    """
    try:
        target = inspect_model(target_dir)
        draft = inspect_draft(target_dir, draft_dir)
        if draft is None and draft_dir is not None:
            draft = inspect_model(target_dir, graph_file=MTP_GRAPH)
    except AppError:
        return None
    return folder_sizes(target, draft)


async def pair_budget(
    target_dir: Path,
    draft_dir: Path | None,
    *,
    context_tokens: int,
    runs_on_cpu: bool,
    keeps_both: bool = False,
) -> MemoryBudget | None:
    """The parts of what an installed pair takes; None if its folders tell nothing."""
    sizes = await asyncio.to_thread(pair_sizes, target_dir, draft_dir)
    if sizes is None:
        return None
    return budget_of(
        sizes, context_tokens=context_tokens, runs_on_cpu=runs_on_cpu, keeps_both=keeps_both
    )
