"""`dflash-desktop record`: everything that decides a pair's speed, in one file; or compare two."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.finding_words import EXIT_CODES
from dflash_desktop.cli.model_arguments import add_models_or_else, chosen_models
from dflash_desktop.cli.progress import ByteProgress
from dflash_desktop.cli.result import answer_with_grades
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.check_words import VERDICT_SENTENCES
from dflash_desktop.domain.pair_contract import Verdict
from dflash_desktop.domain.record_comparison import Explains, RecordDifference, compare_records
from dflash_desktop.domain.reproducibility import PairRecord
from dflash_desktop.domain.units import format_rate, format_speedup

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.reproducibility import RecordedCheck, RecordedMeasurement

HELP = """Write down everything that decides how fast a pair is here, to share and to compare.

One JSON file with hashes of all files, versions, device and driver, what the contract finds, the
last check and what was measured; no folders, names or other private things. --compare says what
differs between two records and whether it can explain a difference in speed. Exit codes: those of
`verify` for a record; for --compare 0 when nothing can explain a difference, else 1. A fault is 2
as well: nothing says that it is good.

examples:
  dflash-desktop record starter --output mine.json
  dflash-desktop record TARGET DRAFT --output mine.json
  dflash-desktop record --compare mine.json theirs.json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """The pair and the file, or two files."""
    answer_with_grades(parser)
    add_models_or_else(parser).add_argument(
        "--compare", nargs=2, type=Path, metavar=("A", "B"), help="two records; no pair is needed"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("dflash-record.json"),
        metavar="FILE",
        help="where to write (default: dflash-record.json in the current folder)",
    )


async def run(args: Namespace, context: CommandContext) -> RecordResult | ComparisonResult:
    """Make a record or compare two; raises `AppError`."""
    import asyncio  # no help text should wait for what only the work needs

    from dflash_desktop.services.diagnostics import private_facts
    from dflash_desktop.services.record_file import read_record, write_record
    from dflash_desktop.services.record_maker import RecordMaker

    if args.compare:
        left, right = [await asyncio.to_thread(read_record, path) for path in args.compare]
        return ComparisonResult(left, right, compare_records(left, right))
    target, draft = chosen_models(args, context)
    maker = RecordMaker(
        library=context.models,
        pairs=context.pairs,
        checks=context.checks,
        measurements=context.measurements,
        probe=context.hardware_probe,
    )
    hashing = ByteProgress("Hashing")
    try:
        record = await maker.make(target, draft, on_progress=hashing.show)
    finally:
        hashing.end()
    file = await asyncio.to_thread(args.output.resolve)
    written = await asyncio.to_thread(write_record, file, record, private_facts())
    return RecordResult(file, written)


@dataclass(frozen=True, slots=True)
class RecordResult:
    """What is in the file."""

    file: Path
    record: PairRecord

    @property
    def exit_code(self) -> int:
        """For scripts: 0 good, 1 warnings, 2 blocked, as of `verify`."""
        return EXIT_CODES[Verdict(self.record.verdict)]

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md; the record itself is in the file."""
        return {
            "file": str(self.file),
            "verdict": self.record.verdict,
            "models": [
                {
                    "subject": model.subject,
                    "name": model.name,
                    "commit": model.commit or None,
                    "files": len(model.files),
                    "hashes_from": model.hashes_from,
                    "repaired": list(model.repaired),
                }
                for model in self.record.models
            ],
            "check": _check_form(self.record.check),
            "measurements": len(self.record.measurements),
            "comparison": None,
        }

    def as_text(self) -> str:
        """A summary."""
        lines = [f"The record is in {self.file}"]
        for model in self.record.models:
            came = "from its manifest" if model.hashes_from == "manifest" else "read now"
            lines.append(f"{model.subject:8}{model.name}: {len(model.files)} hashes, {came}")
            if model.repaired:
                lines.append(f"        repaired here: {', '.join(model.repaired)}")
        lines.append(f"contract  {self.record.verdict}")
        lines.append(f"checked   {_check_words(self.record.check)}")
        count = len(self.record.measurements)
        lines.append(f"measured  {count} stored" if count else _NOT_MEASURED)
        return "\n".join(lines)


def _check_form(check: RecordedCheck | None) -> dict[str, object] | None:
    if check is None:
        return None
    return {"verdict": check.verdict, "checked_at": check.checked_at.isoformat()}


def _check_words(check: RecordedCheck | None) -> str:
    if check is None:
        return "never: `dflash-desktop check` says whether the draft works"
    verdict = VERDICT_SENTENCES[CheckVerdict(check.verdict)]
    return f"{check.checked_at:%Y-%m-%d %H:%M} UTC: {verdict}"


_NOT_MEASURED = "measured  nothing yet: run `dflash-desktop bench` first, then record again"


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """What differs between two records."""

    left: PairRecord
    right: PairRecord
    differences: tuple[RecordDifference, ...]

    @property
    def exit_code(self) -> int:
        """0 when nothing can explain a difference in speed."""
        return int(any(one.explains is not Explains.NO for one in self.differences))

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        comparison = {
            "differences": [
                {
                    "what": one.what,
                    "left": one.left,
                    "right": one.right,
                    "explains": one.explains,
                    "why": one.why,
                }
                for one in self.differences
            ],
            "left": _speed_form(self.left.latest),
            "right": _speed_form(self.right.latest),
        }
        return {
            "file": None,
            "verdict": None,
            "models": [],
            "check": None,
            "measurements": None,
            "comparison": comparison,
        }

    def as_text(self) -> str:
        """The speeds, then each difference, the likeliest causes first."""
        lines = [_speed_line("A", self.left.latest), _speed_line("B", self.right.latest), ""]
        if not self.differences:
            return "\n".join([*lines, "Both records say the same in everything."])
        for one in self.differences:
            lines.append(f"{_EXPLAINS_WORDS[one.explains]}: {one.what} ({one.why})")
            lines += [f"  A  {one.left or '–'}", f"  B  {one.right or '–'}"]
        return "\n".join(lines)


_EXPLAINS_WORDS = {
    Explains.LIKELY: "Likely a cause",
    Explains.POSSIBLE: "Perhaps a cause",
    Explains.NO: "No cause",
}


def _speed_form(measured: RecordedMeasurement | None) -> dict[str, object] | None:
    if measured is None:
        return None
    return {
        "assistant_tokens": measured.chosen_assistant_tokens,
        "speedup": measured.chosen_speedup,
        "baseline_tokens_per_second": measured.baseline_tokens_per_second,
        "measured_at": measured.measured_at.isoformat(),
    }


def _speed_line(name: str, measured: RecordedMeasurement | None) -> str:
    if measured is None:
        return f"{name}  not measured"
    without = format_rate(measured.baseline_tokens_per_second)
    if not measured.chosen_assistant_tokens:
        return f"{name}  {without} without a draft, which does not pay there"
    speedup = format_speedup(measured.chosen_speedup)
    tokens = measured.chosen_assistant_tokens
    return f"{name}  {without} without a draft, {speedup} with it at {tokens} assistant tokens"
