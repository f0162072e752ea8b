"""`dflash-desktop verify`: does this pair keep the contract, and if not, why and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.cli.finding_words import exit_code_of, finding_form, finding_paragraph
from dflash_desktop.cli.model_arguments import add_model_arguments, chosen_models
from dflash_desktop.domain.pair_contract import Finding, Verdict, verdict_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext

HELP = """Check a target and its draft without loading them: what fails, what is doubtful, and why.

Reads graphs, config.json and tokenizers, never weights. The exit code is 0 when all is good,
1 with warnings, and 2 when the pair cannot work.

examples:
  dflash-desktop verify starter
  dflash-desktop verify models/Qwen3-4B models/Qwen3-4B-DFlash --json
"""

_VERDICT_WORDS = {
    Verdict.GOOD: "Nothing speaks against it.",
    Verdict.WARNINGS: "It may work. Measure before you rely on it: dflash-desktop bench",
    Verdict.BLOCKED: "This cannot work.",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The target, and the draft if there is one."""
    add_model_arguments(parser)


async def run(args: Namespace, context: CommandContext) -> VerifyResult:
    """Read both folders; raises `AppError` when one is not there at all."""
    import asyncio  # no help text should wait for what only the work needs

    from dflash_desktop.services.model_inspection import check_folders

    target, draft = chosen_models(args, context)
    return VerifyResult(await asyncio.to_thread(check_folders, target, draft))


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The findings, the worst first."""

    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """For scripts: 0 good, 1 warnings, 2 blocked."""
        return exit_code_of(self.findings)

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "verdict": verdict_of(self.findings),
            "findings": [finding_form(finding) for finding in self.findings],
        }

    def as_text(self) -> str:
        """The verdict, then one paragraph for each finding."""
        paragraphs = map(finding_paragraph, self.findings)
        return "\n\n".join((_VERDICT_WORDS[verdict_of(self.findings)], *paragraphs))
