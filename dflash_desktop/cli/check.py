"""`dflash-desktop check`: run a pair with and without its draft, and say whether it works."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflash_desktop.cli.model_arguments import add_model_arguments, chosen_models, model_folder
from dflash_desktop.cli.pair_options import (
    EXACT,
    add_run_arguments,
    chosen_precision,
    pair_loading,
)
from dflash_desktop.cli.result import answer_with_grades
from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_summary import summary_of
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.check_words import TEXT_SENTENCES, VERDICT_SENTENCES
from dflash_desktop.domain.library import ModelRole
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.precision_question import PrecisionComparison, compare_precisions
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.units import format_speedup, significant
from dflash_desktop.services.check_form import check_form, precision_form

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from dflash_desktop.cli.context import CommandContext

HELP = """Run a target with and without its draft, and say whether the pair works, and if not, why.

Answers five built-in questions both ways, under a minute for small pairs. The exit code is 0 when
the draft works, 1 when it is useless or slower, and 2 when it cannot run or changes the text. A
fault is 2 as well: nothing says that it is good.

examples:
  dflash-desktop check starter
  dflash-desktop check models/Qwen3-4B models/Qwen3-4B-DFlash --json
  dflash-desktop check TARGET DRAFT-int4 --precisions DRAFT-fp16
"""

_NO_PRECISIONS = "The library has this draft in no other precision: name one after --precisions."
_EXIT_CODES = {
    CheckVerdict.WORKING: 0,
    CheckVerdict.USELESS: 1,
    CheckVerdict.SLOWER: 1,
    CheckVerdict.WRONG_TEXT: 2,
    CheckVerdict.NOT_ATTACHED: 2,
}


def add_arguments(parser: ArgumentParser) -> None:
    """The models, and where they run."""
    add_model_arguments(parser)
    answer_with_grades(parser)
    add_run_arguments(parser)
    parser.add_argument(
        "--precisions",
        nargs="*",
        metavar="DRAFT",
        help="is it the precision or the draft? Check these drafts too, or without a name those "
        "of the library that are the same draft in other precisions",
    )
    parser.add_argument(
        "--long",
        action="store_true",
        help="also behind long prompts: does acceptance fall beyond what the draft looks back?",
    )


async def run(args: Namespace, context: CommandContext) -> CheckResult:
    """Check and judge; progress goes to standard error. Raises `AppError`."""
    target, draft = chosen_models(args, context)
    check = await check_pair(target, draft, args, context, is_long=args.long)
    if args.precisions is None or draft is None:
        return CheckResult(check)
    compared = await _compare(check, target, draft, args, context)
    return CheckResult(check, compared, lacks_precisions=compared is None)


async def _compare(
    check: CheckReport, target: Path, draft: Path, args: Namespace, context: CommandContext
) -> PrecisionComparison | None:
    """The same check with the same draft in other precisions; None if there is none."""
    import asyncio  # no help text should wait for what only the work needs

    from dflash_desktop.services.draft_precisions import other_precisions, precision_check

    if args.precisions:
        others = tuple(model_folder(name, context) for name in args.precisions)
    else:
        installed = [m.path for m in context.models.models() if m.manifest.role is ModelRole.DRAFT]
        others = await asyncio.to_thread(other_precisions, draft, installed)
    checks = [await asyncio.to_thread(precision_check, draft, check)]
    for other in others:
        print(f"      Checking {other.name}", file=sys.stderr, flush=True)
        report = await check_pair(target, other, args, context, is_long=args.long)
        checks.append(await asyncio.to_thread(precision_check, other, report))
    return compare_precisions(checks) if len(checks) > 1 else None


async def check_pair(
    target: Path,
    draft: Path | None,
    args: Namespace,
    context: CommandContext,
    *,
    is_long: bool = False,
) -> CheckReport:
    """One check with progress on standard error. Raises `AppError`."""
    # No help text should wait for what only the work needs.
    from dflash_desktop.services.benchmark import BenchProgress
    from dflash_desktop.services.pair_check import PairCheck

    folders = PairFolders(str(target), target.name, target, draft)
    check = PairCheck(engine=context.engine, loading=pair_loading(context))
    steps = check.run(
        folders,
        device=args.device,
        kv_cache_precision=chosen_precision(args),
        exact=args.kv_cache == EXACT,
        long_context=is_long,
    )
    shown, report = "", None
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, CheckReport):
                report = step
            elif isinstance(step, BenchProgress) and step.sentence != shown:
                shown = step.sentence
                print(f"{step.done / step.total:4.0%}  {shown}", file=sys.stderr, flush=True)
    if report is None:
        raise RuntimeError("a check ended without a report")
    await _keep(report, folders, context)
    return report


async def _keep(report: CheckReport, folders: PairFolders, context: CommandContext) -> None:
    """Into the history that the window and `record` show; without it the answer still counts."""
    import asyncio  # no help text should wait for what only the work needs

    def add() -> None:
        pair_id = context.pairs.ids_of(folders.target_dir, folders.draft_dir)[0]
        context.checks.add(summary_of(report, pair_id=pair_id, checked_at=datetime.now(UTC)))

    try:
        await asyncio.to_thread(add)
    except AppError as error:
        print(error.problem.headline, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A verdict with its causes and the numbers behind it."""

    check: CheckReport
    precisions: PrecisionComparison | None = None
    lacks_precisions: bool = False  # asked for, and there are none

    @property
    def exit_code(self) -> int:
        """For scripts: 0 works, 1 useless or slower, 2 cannot run or changes the text."""
        return _EXIT_CODES[self.check.judgement.verdict]

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {**check_form(self.check), "precisions": precision_form(self.precisions)}

    def as_text(self) -> str:
        """The verdict, the numbers, then the causes."""
        lines = [VERDICT_SENTENCES[self.check.judgement.verdict]]
        numbers = self.check.numbers
        if self.check.report is not None:
            lines += ["", f"  device           {self.check.report.key.device_name}"]
        if numbers is not None:
            accepted = ", ".join(f"{rate:.0%}" for rate in numbers.acceptance.rates)
            brought = numbers.tokens_per_step
            lines += [
                (
                    f"  speed-up         {format_speedup(numbers.speedup)} with "
                    f"{numbers.assistant_tokens} assistant tokens"
                ),
                f"  tokens per step  {'–' if brought is None else significant(brought)}",
                f"  accepted         {accepted or '–'} by position",
                f"  text             {TEXT_SENTENCES[numbers.text]}",
            ]
        if self.precisions is not None:
            lines += ["", self.precisions.statement]
        if self.lacks_precisions:
            lines += ["", _NO_PRECISIONS]
        for number, cause in enumerate(self.check.judgement.causes, start=1):
            lines += ["", f"{number}. {cause.words} ({cause.code})", f"   {cause.remedy}"]
        return "\n".join(lines)
