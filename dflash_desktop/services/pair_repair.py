"""The repair of a pair, with a tokenizer that the export tools make anew where one is wanted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflash_desktop.domain.pair_contract import check_contract
from dflash_desktop.domain.repair_plan import needs_tokenizer
from dflash_desktop.services.blocking_steps import to_its_end
from dflash_desktop.services.model_inspection import inspect_model, installed_runtime
from dflash_desktop.services.pair_look import look_at_pair

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.services.pair_look import PairLook
    from dflash_desktop.services.repair import ModelRepair, RepairOutcome
    from dflash_desktop.services.tokenizer_rebuild import TokenizerRebuild


class PairRepair:
    """`tokenizers` is None where no export tools can be."""

    def __init__(self, *, repair: ModelRepair, tokenizers: TokenizerRebuild | None = None) -> None:
        self._repair = repair
        self._tokenizers = tokenizers

    def look(self, target_dir: Path, draft_dir: Path | None) -> PairLook:
        """What the files say, and what `repair` would write. Blocking; raises `AppError`."""
        return look_at_pair(target_dir, draft_dir, has_export_tools=self._has_export_tools())

    async def repair(
        self, target_dir: Path, draft_dir: Path | None, *, checkpoint_dir: Path | None = None
    ) -> RepairOutcome:
        """Write what is missing, all of it or nothing. Raises `AppError`.

        Making a tokenizer takes some seconds and can be cancelled; what is then written is not
        left half done.
        """
        tokenizers = self._tokenizers
        if tokenizers is not None and await asyncio.to_thread(self._wants_tokenizer, target_dir):
            async with tokenizers.made(target_dir) as made:
                return await self._write(target_dir, draft_dir, checkpoint_dir, made)
        return await self._write(target_dir, draft_dir, checkpoint_dir, None)

    async def undo(self, folder: Path) -> tuple[str, ...]:
        """Put all files back as they were; returns their names. Raises `AppError`."""
        return await to_its_end(asyncio.to_thread(self._repair.undo, folder))

    async def _write(
        self,
        target_dir: Path,
        draft_dir: Path | None,
        checkpoint_dir: Path | None,
        tokenizer_dir: Path | None,
    ) -> RepairOutcome:
        return await to_its_end(
            asyncio.to_thread(
                self._repair.repair,
                target_dir,
                draft_dir,
                checkpoint_dir=checkpoint_dir,
                tokenizer_dir=tokenizer_dir,
            )
        )

    def _has_export_tools(self) -> bool:
        return self._tokenizers is not None and self._tokenizers.python() is not None

    def _wants_tokenizer(self, target_dir: Path) -> bool:
        if not self._has_export_tools():
            return False
        target = inspect_model(target_dir)
        findings = check_contract(target, None, runtime=installed_runtime())
        return needs_tokenizer(target, findings)
