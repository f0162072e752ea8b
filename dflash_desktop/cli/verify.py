"""`dflash-desktop verify`: does this pair keep the contract, and if not, why and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.pair_contract import Finding, Verdict, Weight, verdict_of
from dflash_desktop.domain.problems import AppError, Problem

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

_EXIT_CODES = {Verdict.GOOD: 0, Verdict.WARNINGS: 1, Verdict.BLOCKED: 2}
_VERDICT_WORDS = {
    Verdict.GOOD: "Nothing speaks against it.",
    Verdict.WARNINGS: "It may work. Measure before you rely on it: dflash-desktop bench",
    Verdict.BLOCKED: "This cannot work.",
}
_WEIGHT_WORDS = {Weight.BLOCK: "Fails", Weight.WARN: "Doubtful", Weight.INFO: "Note"}


def add_arguments(parser: ArgumentParser) -> None:
    """The target, and the draft if there is one."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="the target's folder, or the id of a pair in the library, for instance: starter",
    )
    parser.add_argument(
        "draft", nargs="?", metavar="DRAFT", help="the draft's folder, or the id of a pair"
    )


async def run(args: Namespace, context: CommandContext) -> VerifyResult:
    """Read both folders; raises `AppError` when one is not there at all."""
    import asyncio  # no help text should wait for what only the work needs

    from dflash_desktop.services.model_inspection import check_folders

    target, draft = _chosen_models(args.target, args.draft, context)
    return VerifyResult(await asyncio.to_thread(check_folders, target, draft))


def _chosen_models(
    target: str, draft: str | None, context: CommandContext
) -> tuple[Path, Path | None]:
    """The folders that are meant; the id of a pair alone means the pair. Raises `AppError`."""
    pairs = context.pairs
    target_pair = None if Path(target).is_dir() else pairs.find(target)
    target_dir = target_pair.target_dir if target_pair else _folder(target)
    if draft is None:
        return target_dir, target_pair.draft_dir if target_pair else None
    draft_pair = None if Path(draft).is_dir() else pairs.find(draft)
    return target_dir, (draft_pair.draft_dir if draft_pair else None) or _folder(draft)


def _folder(name: str) -> Path:
    folder = Path(name).resolve()
    if not folder.is_dir():
        raise AppError(
            Problem(
                code="model_not_found",
                headline=f"“{name}” is no folder and no pair of the library.",
                advice="Name the folder that holds openvino_model.xml.",
            )
        )
    return folder


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The findings, the worst first."""

    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """For scripts: 0 good, 1 warnings, 2 blocked."""
        return _EXIT_CODES[verdict_of(self.findings)]

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "verdict": verdict_of(self.findings),
            "findings": [
                {
                    "code": finding.code,
                    "severity": finding.weight,
                    "subject": finding.subject,
                    "expected": finding.expected,
                    "found": finding.found,
                    "where": finding.where,
                    "remedy": finding.remedy,
                }
                for finding in self.findings
            ],
        }

    def as_text(self) -> str:
        """The verdict, then one paragraph for each finding."""
        paragraphs = [_VERDICT_WORDS[verdict_of(self.findings)], *map(_paragraph, self.findings)]
        return "\n\n".join(paragraphs)


def _paragraph(finding: Finding) -> str:
    weight, where = _WEIGHT_WORDS[finding.weight], f"{finding.subject}, {finding.where}"
    lines = [f"{weight}: {where} ({finding.code})", f"  found     {finding.found}"]
    if finding.expected:
        lines.append(f"  expected  {finding.expected}")
    if finding.remedy:
        lines.append(f"  to do     {finding.remedy}")
    return "\n".join(lines)
