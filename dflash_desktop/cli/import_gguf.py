"""`dflash-desktop import`: make a model of the library from a GGUF file."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.finding_words import finding_form, finding_paragraph
from dflash_desktop.cli.progress import StepProgress
from dflash_desktop.cli.result import answer_with_grades
from dflash_desktop.domain.gguf_import import ImportedModel, ImportWeights
from dflash_desktop.domain.pair_contract import Weight
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext

HELP = """Make a model of the library from a GGUF file, with the marks that a draft needs.

Llama, Qwen2 and Qwen3 models are converted, from files with F16, Q4_0, Q4_1, Q4_K, Q6_K or Q8_0
weights. The file is checked before anything native reads it, converted in a process of its own,
and only read. The exit code is 0, or 1 when the runtime leaves something out that may matter.
A fault is 2 as well: nothing says that it is good.

examples:
  dflash-desktop import Qwen3-4B-Q4_K_M.gguf
  dflash-desktop import model-00001-of-00002.gguf --name my-model --weights keep
"""


def add_arguments(parser: ArgumentParser) -> None:
    """The file, `--name`, `--weights`."""
    answer_with_grades(parser)
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the .gguf file, or its first part"
    )
    parser.add_argument(
        "--name", default="", help="what the library calls it (default: the name in the file)"
    )
    parser.add_argument(
        "--weights",
        type=ImportWeights,
        choices=list(ImportWeights),
        default=ImportWeights.AUTO,
        metavar="|".join(ImportWeights),
        help="int8: fastest for a draft on a processor, larger than 4 bits; keep: as in the file, "
        "best for graphics; auto: int8 where the processor computes and has the memory for it",
    )


async def run(args: Namespace, context: CommandContext) -> ImportResult:
    """Import it, with progress on standard error; raises `AppError`."""
    from dflash_desktop.services.gguf_import import GgufImport  # no help text should wait

    importing = GgufImport(paths=context.paths, launcher=context.launcher, library=context.models)
    printer, imported = StepProgress(), None
    steps = importing.run(args.file, name=args.name, weights=args.weights)
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, ImportedModel):
                imported = step
            else:
                printer.show(step)
    assert imported is not None  # noqa: S101 - what an import ends with
    return ImportResult(imported)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The new model."""

    imported: ImportedModel

    @property
    def exit_code(self) -> int:
        """0 when nothing of the file is lost, else 1."""
        is_doubtful = any(one.weight is Weight.WARN for one in self.imported.findings)
        return int(is_doubtful or bool(self.imported.notes))

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        model = self.imported.model
        return {
            "id": model.id,
            "path": str(model.path),
            "size_bytes": model.manifest.size_bytes,
            "precision": model.manifest.precision,
            "weights": self.imported.weights,
            "notes": list(self.imported.notes),
            "findings": [finding_form(finding) for finding in self.imported.findings],
        }

    def as_text(self) -> str:
        """Where it is, and what is lost."""
        model = self.imported.model
        size = format_bytes(model.manifest.size_bytes)
        lines = [f"“{model.id}” is in the library now ({size}, {model.manifest.precision})."]
        lines += [f"Note: {note}" for note in self.imported.notes]
        lines += [
            finding_paragraph(finding)
            for finding in self.imported.findings
            if finding.weight is Weight.WARN
        ]
        lines.append(f"Folder  {model.path}")
        return "\n".join(lines)
