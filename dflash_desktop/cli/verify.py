"""`dflash-desktop verify`: does this pair keep the contract, and if not, why and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.finding_words import exit_code_of, finding_form, finding_paragraph
from dflash_desktop.cli.model_arguments import (
    add_model_arguments,
    chosen_models,
    own_command,
)
from dflash_desktop.cli.result import answer_with_grades
from dflash_desktop.domain.check_words import contract_sentence
from dflash_desktop.domain.memory_budget import budget_of
from dflash_desktop.domain.pair_contract import Finding, Verdict, check_contract, verdict_of
from dflash_desktop.domain.pair_sizes import PairSizes, folder_sizes
from dflash_desktop.domain.recommend import DEFAULT_CONTEXT_TOKENS
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext

HELP = """Check a target and its draft without loading them: what fails, what is doubtful, and why.

Reads graphs, config.json and tokenizers, never weights. The exit code is 0 when all is good,
1 with warnings, and 2 when the pair cannot work. A fault is 2 as well: nothing says that
it is good.

examples:
  dflash-desktop verify starter
  dflash-desktop verify models/Qwen3-4B models/Qwen3-4B-DFlash --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """The target, and the draft if there is one."""
    add_model_arguments(parser)
    answer_with_grades(parser)


async def run(args: Namespace, context: CommandContext) -> VerifyResult:
    """Read both folders; raises `AppError` when one is not there at all."""
    import asyncio  # no help text should wait for what only the work needs

    return await asyncio.to_thread(verified, *chosen_models(args, context))


def verified(target_dir: Path, draft_dir: Path | None) -> VerifyResult:
    """What the folders keep of the contract, and what they need of the memory."""
    from dflash_desktop.services.model_inspection import (
        inspect_draft,
        inspect_model,
        installed_runtime,
    )

    target = inspect_model(target_dir)
    draft = inspect_draft(target_dir, draft_dir)
    findings = check_contract(target, draft, runtime=installed_runtime())
    folders = (target_dir,) if draft is None or draft_dir is None else (target_dir, draft_dir)
    return VerifyResult(findings, folders, folder_sizes(target, draft))


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The findings, the worst first; `sizes` is None for what is no model."""

    findings: tuple[Finding, ...]
    folders: tuple[Path, ...]  # the target's, then the draft's if there is one
    sizes: PairSizes | None = None

    @property
    def exit_code(self) -> int:
        """For scripts: 0 good, 1 warnings, 2 blocked."""
        return exit_code_of(self.findings)

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "verdict": verdict_of(self.findings),
            "findings": [finding_form(finding) for finding in self.findings],
            "memory": None
            if self.sizes is None
            else {
                "context_tokens": DEFAULT_CONTEXT_TOKENS,
                "cpu_bytes": _needed_bytes(self.sizes, runs_on_cpu=True),
                "graphics_bytes": _needed_bytes(self.sizes, runs_on_cpu=False),
            },
        }

    def as_text(self) -> str:
        """The verdict, then one paragraph for each finding."""
        paragraphs = map(finding_paragraph, self.findings)
        verdict = verdict_of(self.findings)
        memory = []
        if self.sizes is not None and verdict is not Verdict.BLOCKED:
            on_cpu, on_graphics = (
                format_bytes(_needed_bytes(self.sizes, runs_on_cpu=cpu)) for cpu in (True, False)
            )
            memory.append(
                f"It needs about {on_cpu} of memory on the processor, or {on_graphics} on "
                f"graphics, at {DEFAULT_CONTEXT_TOKENS:,} tokens of context."
            )
        commands: list[str] = []
        names = map(str, self.folders)
        if any(finding.is_repairable for finding in self.findings):
            commands.append(f"Repair: {own_command('repair', *names)}")
        elif self._asks_for_check(verdict):
            commands.append(f"Check: {own_command('check', *names)}")
        return "\n\n".join((contract_sentence(self.findings), *memory, *paragraphs, *commands))

    def _asks_for_check(self, verdict: Verdict) -> bool:
        """Whether a finding, be it only a note, sends to a check, of which the command is told."""
        says_so = any("Check whether it pays" in finding.remedy for finding in self.findings)
        is_pair = len(self.folders) > 1
        return is_pair and (verdict is Verdict.WARNINGS or (verdict is Verdict.GOOD and says_so))


def _needed_bytes(sizes: PairSizes, *, runs_on_cpu: bool) -> int:
    budget = budget_of(sizes, context_tokens=DEFAULT_CONTEXT_TOKENS, runs_on_cpu=runs_on_cpu)
    return budget.needed_bytes
