"""What the models page says about a GGUF file: before it is imported, meanwhile, and after."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_words import WEIGHT_WORDS
from dflash_desktop.domain.gguf_import import ImportStage, ImportWeights
from dflash_desktop.domain.pair_contract import Weight
from dflash_desktop.domain.problems import Problem, Severity
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.gguf_import import GgufFile, ImportedModel, ImportProgress

WEIGHTS_WORDS: Final = {
    ImportWeights.AUTO: "What suits this machine",
    ImportWeights.INT8: "int8, fastest with a draft on a processor",
    ImportWeights.KEEP: "As in the file, best for graphics",
}
_ARCHITECTURE_WORDS: Final = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3"}
_STEPS: Final = 6
"""Looking, converting, hashing the file, marking layers, hashing the model, moving it in."""
_PART: Final = re.compile(r"-[0-9]{5}-of-[0-9]{5}\.gguf$", re.IGNORECASE)
SEVERAL: Final = Problem(
    code="several_dropped",
    headline="Only one model can be taken at a time.",
    advice="Drop one GGUF file, all parts of a split one, or one folder.",
    severity=Severity.WARNING,
)


class ImportSteps:
    """Counts the steps of one import, whose stages need very different times."""

    def __init__(self) -> None:
        self._number = 0
        self._stage: ImportStage | None = None

    def words(self, progress: ImportProgress) -> tuple[str, str, float]:
        """Sentence, numbers, and the share of the steps that are done, 0 to 1."""
        if progress.stage is not self._stage:
            self._stage = progress.stage
            self._number = min(self._number + 1, _STEPS)
        numbers, done = f"Step {self._number} of {_STEPS}", 0.0
        if progress.done_bytes is not None and progress.total_bytes:
            amount = f"{format_bytes(progress.done_bytes)} of {format_bytes(progress.total_bytes)}"
            numbers, done = f"{numbers} · {amount}", progress.done_bytes / progress.total_bytes
        return progress.sentence, numbers, (self._number - 1 + done) / _STEPS


def file_facts(file: GgufFile) -> tuple[tuple[str, str], ...]:
    """Name and value of what the check found."""
    model, size = file.model, format_bytes(file.size_bytes)
    kind = _ARCHITECTURE_WORDS.get(model.architecture, model.architecture)
    parts = f" in {len(file.parts)} files" if len(file.parts) > 1 else ""
    return (
        ("Kind", f"{kind}, {model.layer_count} layers"),
        ("Weights", " and ".join(model.weight_types[:2])),
        ("Size", size + parts),
        ("File", str(file.parts[0])),
    )


def note_lines(notes: tuple[str, ...]) -> str:
    """What is lost, a paragraph each."""
    return "\n".join(f"Note: {note}" for note in notes)


def free_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """The name, or with the first number that makes it another one than those that are here."""
    name, number = " ".join(wanted.split()), 2
    while is_taken(name):
        name, number = f"{' '.join(wanted.split())} {number}", number + 1
    return name


def done_words(imported: ImportedModel) -> tuple[str, str]:
    """That it is there, and what may be worse than in the file."""
    lines = [note_lines(imported.notes)] if imported.notes else []
    lines += [
        f"{WEIGHT_WORDS[finding.weight]}: {finding.found}. {finding.remedy}".rstrip()
        for finding in imported.findings
        if finding.weight is Weight.WARN
    ]
    return f"“{imported.model.title}” is in the library now.", "\n".join(lines)


def only_one(paths: tuple[str, ...]) -> str | None:
    """The path among these that stands for all: one alone, or the first part of a split file."""
    if len(paths) == 1:
        return paths[0]
    is_split = all(_PART.search(path) for path in paths)
    return min(paths) if is_split and len({_PART.sub("", path) for path in paths}) == 1 else None


def draft_words(name: str) -> tuple[str, str]:
    """That a draft may fit, and the words on the button that finds out."""
    return (
        f"{name} may fit it. A check shows whether it makes it faster.",
        "Check with this draft",
    )
