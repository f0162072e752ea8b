"""`dflash-desktop self-test`: is this installation whole, and does it work here?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.self_check import SelfCheck, all_passed
from dflash_desktop.domain.starter import StarterState

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext

HELP = """Look whether this installation is whole and works here; nothing is changed.

Libraries, plugins and versions of the engine, the window's own parts, resources, folders that can
be written, processes that start, and an answer of the starter model if that is installed. What
fails says what to do. The exit code is 0 when all is well and 1 when something failed.

examples:
  dflash-desktop self-test
  dflash-desktop self-test --quick --json
"""

_TOKENS = 8


def add_arguments(parser: ArgumentParser) -> None:
    """`--quick` and `--no-window`."""
    parser.add_argument(
        "--quick", action="store_true", help="do not ask the starter model a question"
    )
    parser.add_argument(
        "--no-window", action="store_true", help="leave out what only the window needs"
    )


async def run(args: Namespace, context: CommandContext) -> SelfTestResult:
    """Look at everything; a fault is a result, never an error."""
    from dflash_desktop.services.self_test import run_self_test

    checks = await run_self_test(
        paths=context.paths, launcher=context.launcher, with_window=not args.no_window
    )
    if not args.quick:
        checks = (*checks, await _starter_answers(context))
    return SelfTestResult(checks)


@dataclass(frozen=True, slots=True)
class SelfTestResult:
    """What was looked at, in the order in which one thing needs the other."""

    checks: tuple[SelfCheck, ...]

    @property
    def exit_code(self) -> int:
        """0 when all is well."""
        return 0 if all_passed(self.checks) else 1

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "passed": all_passed(self.checks),
            "checks": [
                {"code": check.code, "passed": check.passed, "detail": check.detail}
                for check in self.checks
            ],
        }

    def as_text(self) -> str:
        """A line for each check, what failed last."""
        ordered = sorted(self.checks, key=lambda check: not check.passed)
        width = max(len(check.code) for check in ordered)
        lines = [
            f"{'ok    ' if check.passed else 'FAILED'}  {check.code:<{width}}  {check.detail}"
            for check in ordered
        ]
        failed = sum(not check.passed for check in ordered)
        last = f"{failed} of {len(ordered)} failed." if failed else "All is well."
        return "\n".join((*lines, "", last))


async def _starter_answers(context: CommandContext) -> SelfCheck:
    """Load it on the processor with its draft, and ask it something."""
    from contextlib import aclosing

    from dflash_desktop.cli.pair_options import pair_loading
    from dflash_desktop.domain.generation import SamplingParams
    from dflash_desktop.services.bench_prompts import load_bench_prompts
    from dflash_desktop.services.timed_answers import question
    from dflash_desktop.workers.protocol import Finished

    code = "starter"
    status = context.starter.status()
    if status.state in (StarterState.MISSING, StarterState.INSTALLING):
        return SelfCheck(code, True, "Not installed, so not asked.")
    try:
        await pair_loading(context).load(context.starter.pair(), device="CPU")
        messages = question(load_bench_prompts().warm_up)
        params = SamplingParams(max_new_tokens=_TOKENS)
        tokens = 0
        events = context.engine.generate(messages, params, assistant_tokens=2)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Finished):
                    tokens = event.stats.tokens
    except AppError as error:
        problem = error.problem
        return SelfCheck(code, False, f"{problem.headline} {problem.advice}")
    if not tokens:
        return SelfCheck(code, False, "It answered nothing. Run: dflash-desktop starter install")
    return SelfCheck(code, True, f"It answers: {tokens} tokens.")
