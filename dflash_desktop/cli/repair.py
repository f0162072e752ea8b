"""`dflash-desktop repair`: mend what metadata alone can mend, without an export; or undo it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.check import CheckResult, check_pair
from dflash_desktop.cli.finding_words import exit_code_of, finding_form, finding_paragraph
from dflash_desktop.cli.model_arguments import (
    add_model_arguments,
    chosen_models,
    own_command,
)
from dflash_desktop.cli.pair_options import add_run_arguments
from dflash_desktop.cli.result import answer_with_grades
from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.pair_contract import Finding, Subject, Weight
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.repair_plan import NotRepaired
from dflash_desktop.services.check_form import check_form

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.repair_plan import Repair

HELP = """Mend what metadata alone can mend in a target and its draft, without an export.

Adds or replaces the entry that tells a draft where the target's layers can be read, and restores a
draft's own entries from config.json. A tokenizer that is missing is made anew of tokenizer.json,
if the export tools are installed (see `export-env`). Weights are never touched, the files from
before stay beside the new ones, and --undo puts them back. What is not certain is not guessed. The
exit code is that of `verify` afterwards. A fault is 2 as well: nothing says that it is good.

examples:
  dflash-desktop repair models/Llama-3.2-3B-int4-ov
  dflash-desktop repair TARGET DRAFT --checkpoint downloads/Qwen3-4B-DFlash --json
  dflash-desktop repair TARGET DRAFT --check
  dflash-desktop repair TARGET --undo
"""

_NO_DRAFT = Problem(
    code="no_draft",
    headline="There is no draft to check afterwards.",
    advice="Nothing was changed. Name the draft after the target, or leave --check out.",
)
_ACCEPTED = (CheckVerdict.WORKING, CheckVerdict.SLOWER)


def add_arguments(parser: ArgumentParser) -> None:
    """The models, `--checkpoint`, `--undo`."""
    add_model_arguments(parser)
    answer_with_grades(parser)
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="holds the config.json of the checkpoint that the draft was exported from (default: "
        "the draft's own config.json)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="run the pair afterwards: is the draft accepted now? (see `check`)",
    )
    add_run_arguments(parser)
    parser.add_argument(
        "--undo", action="store_true", help="put back all files as they were before any repair"
    )


async def run(args: Namespace, context: CommandContext) -> RepairResult:
    """Repair or undo; raises `AppError`."""
    import asyncio  # no help text should wait for what only the work needs

    from dflash_desktop.services.model_inspection import check_folders
    from dflash_desktop.services.pair_repair import PairRepair
    from dflash_desktop.services.repair import ModelRepair, can_undo
    from dflash_desktop.services.tokenizer_rebuild import TokenizerRebuild

    target, draft = chosen_models(args, context)
    if args.check and draft is None:
        raise AppError(_NO_DRAFT)
    repair = PairRepair(
        repair=ModelRepair(added_dir=context.paths.added_models_dir),
        tokenizers=TokenizerRebuild(environments=context.exporters, log_dir=context.paths.log_dir),
    )
    folders = {Subject.TARGET: target, Subject.DRAFT: draft}
    if args.undo:
        before = await asyncio.to_thread(check_folders, target, draft)
        changed = [
            ChangedFile(subject, name, "as before the repair")
            for subject, folder in folders.items()
            if folder
            for name in await repair.undo(folder)
        ]
        after = await asyncio.to_thread(check_folders, target, draft)
        return RepairResult(tuple(changed), (), before, after, undo="", is_undo=True)
    outcome = await repair.repair(target, draft, checkpoint_dir=args.checkpoint)
    named = [str(folder) for folder in folders.values() if folder]
    is_changed = any(folder is not None and can_undo(folder) for folder in folders.values())
    check = None
    if args.check and draft is not None:
        check = await check_pair(target, draft, args, context)
    return RepairResult(
        tuple(_changed_file(one) for one in outcome.changed),
        outcome.not_repaired,
        outcome.findings_before,
        outcome.findings_after,
        undo=own_command("repair", "--undo", *named) if is_changed else "",
        check=check,
    )


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that is not as it was."""

    subject: Subject
    file: str
    words: str


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was written, what was not, and what the contract says before and after."""

    changed: tuple[ChangedFile, ...]
    not_repaired: tuple[NotRepaired, ...]
    findings_before: tuple[Finding, ...]
    findings_after: tuple[Finding, ...]
    undo: str  # the command that takes it back; empty if there is nothing to take back
    check: CheckReport | None = None
    is_undo: bool = False

    @property
    def exit_code(self) -> int:
        """For scripts: 0 good, 1 warnings, 2 blocked, each after the repair."""
        return exit_code_of(self.findings_after)

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "changed": [
                {"subject": one.subject, "file": one.file, "written": one.words}
                for one in self.changed
            ],
            "not_repaired": [
                {
                    "code": one.code,
                    "subject": one.subject,
                    "reason": one.reason,
                    "advice": one.advice,
                }
                for one in self.not_repaired
            ],
            "findings_before": [finding_form(finding) for finding in self.findings_before],
            "findings_after": [finding_form(finding) for finding in self.findings_after],
            "undo": self.undo or None,
            "check": None if self.check is None else check_form(self.check),
        }

    def as_text(self) -> str:
        """What happened, what is left to do, and how to undo it."""
        lines = [f"Written: {one.subject}, {one.file}: {one.words}" for one in self.changed]
        lines += [
            f"Not repaired: {one.subject} ({one.code})\n  {one.reason}\n  {one.advice}"
            for one in self.not_repaired
        ]
        if not lines:
            lines.append(
                "Nothing was repaired here, so there is nothing to take back."
                if self.is_undo
                else "There is nothing here that metadata alone could mend."
            )
        left = [one for one in self.findings_after if one.weight is not Weight.INFO]
        lines += map(finding_paragraph, left)
        if self.check is not None:
            lines.append(CheckResult(self.check).as_text())
        if self.undo:
            is_worth_it = self.check is None or self.check.judgement.verdict in _ACCEPTED
            why = "To take it back" if is_worth_it else "The draft is not accepted. Take it back"
            lines.append(f"{why}: {self.undo}")
        return "\n\n".join(lines)


def _changed_file(repair: Repair) -> ChangedFile:
    return ChangedFile(repair.subject, repair.file, repair.words)
