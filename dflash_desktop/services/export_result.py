"""Whether an exported model is what it should be: an exit code of 0 does not say it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.checkpoint import no_tokenizer
from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.ir_reader import IrError
from dflash_desktop.domain.locators import LocatorError
from dflash_desktop.domain.model_facts import ModelKind
from dflash_desktop.domain.pair_contract import (
    Finding,
    Verdict,
    Weight,
    check_contract,
    check_draft,
    verdict_of,
)
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.rt_info_edit import RtInfoEditError
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.model_inspection import inspect_model, installed_runtime
from dflash_desktop.services.rt_info_file import annotate_layers

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.model_facts import ModelFacts

_PICTURES: Final = "preprocessor_config.json"
_WHOLE_TOKENIZER: Final = 0.5
"""Models leave room for more tokens than there are, but never half of it."""
_PROCESSOR: Final = "processor_config.json"
_JSON_LIMIT_BYTES: Final = 8 << 20
_PICTURES_MENDED: Final = (
    "The exporter wrote another processor's settings for the pictures; those of the checkpoint "
    "were put in place."
)
_WRONG_IF_NEW: Final = frozenset({"draft_stateless"})
"""What may be as its author meant it in a model from elsewhere, and never in one made here."""


@dataclass(frozen=True, slots=True)
class ExportCheck:
    """What was found, and what was mended; nothing in it blocks."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst finding, in one word."""
        return verdict_of(self.findings)


def check_exported(folder: Path, role: ExportRole, *, source: Path | None = None) -> ExportCheck:
    """Hold one exported model against what it must be, and mend what the exporter left out.

    - A target that does not say where its layers are would run, with every draft ignored: the
      exporter prints "Skipping hidden-state RT-info annotation" and ends with 0. It is annotated
      here, by the graph.
    - A vision target's preprocessor_config.json may be another processor's. `source` is the
      checkpoint, which has the right one.
    - All else that the contract finds blocking is an error: no tokenizer, wrong ports, a draft
      without its marker or its cache.

    Blocking, seconds for a large graph. Raises `AppError` ("export_not_right").
    """
    notes: list[str] = []
    if role is ExportRole.DRAFT:
        findings = check_draft(inspect_model(folder), runtime=installed_runtime())
        return _judged(findings, notes)
    facts = inspect_model(folder)
    if facts.graph is not None and not facts.is_annotated():
        notes.append(_annotated(folder, facts))
        facts = inspect_model(folder)
    _require_whole_tokenizer(facts)
    if facts.kind() is ModelKind.VISION:
        notes += _with_right_pictures(folder, source)
    return _judged(check_contract(facts, None, runtime=installed_runtime()), notes)


def check_pair(target: Path, draft: Path) -> ExportCheck:
    """Hold both against each other. Blocking; raises `AppError` as `check_exported` does."""
    facts = inspect_model(target), inspect_model(draft)
    return _judged(check_contract(*facts, runtime=installed_runtime()), [])


def _judged(findings: tuple[Finding, ...], notes: list[str]) -> ExportCheck:
    blocking = [f for f in findings if f.weight is Weight.BLOCK or f.code in _WRONG_IF_NEW]
    if blocking:
        raise AppError(_not_right(blocking))
    return ExportCheck(findings, tuple(notes))


def _require_whole_tokenizer(facts: ModelFacts) -> None:
    """A tokenizer that was made up knows a few characters where the model knows all its tokens."""
    known = None if facts.tokenizer is None else facts.tokenizer.vocabulary
    if known is not None and known < _WHOLE_TOKENIZER * (facts.vocabulary() or 0):
        raise AppError(no_tokenizer(facts.name))


def _annotated(folder: Path, facts: ModelFacts) -> str:
    hidden, layers = facts.config.hidden_size, facts.config.layer_count
    if hidden is None or layers is None:
        raise AppError(_no_places("config.json does not say how many layers there are"))
    try:
        annotate_layers(folder / facts.graph_file, hidden_size=hidden, layer_count=layers)
    except (IrError, LocatorError, RtInfoEditError) as error:
        raise AppError(_no_places(str(error))) from error
    return (
        "The exporter did not say where the layers' outputs are, which a draft needs. "
        f"The program found all {layers} in the graph and wrote them in."
    )


def _with_right_pictures(folder: Path, source: Path | None) -> tuple[str, ...]:
    """See that the file about pictures is about pictures. Raises `AppError`.

    Without torchvision the exporter writes the settings of another processor there (Gemma 4: the
    one for sound), and the runtime then takes defaults that cost four times the tokens.
    """
    if _is_for_pictures(_object_in(folder / _PICTURES)):
        return ()
    for candidate in (folder, source):
        if candidate is None:
            continue
        nested = _object_in(candidate / _PROCESSOR).get("image_processor")
        for fields in (_object_in(candidate / _PICTURES), nested):
            if isinstance(fields, dict) and _is_for_pictures(fields):
                write_atomically(folder / _PICTURES, json.dumps(fields, indent=2).encode())
                return (_PICTURES_MENDED,)
    problem = Problem(
        code="export_pictures",
        headline="The model does not say how its pictures are prepared.",
        advice="The exporter wrote no right preprocessor_config.json, and the checkpoint has "
        "none. Download the checkpoint again, with all of its small files.",
        detail=_PICTURES,
    )
    raise AppError(problem)


def _is_for_pictures(fields: dict[str, Any]) -> bool:
    if "feature_extractor_type" in fields:
        return False
    return "image_processor_type" in fields or "patch_size" in fields or "size" in fields


def _object_in(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            loaded = json.loads(file.read(_JSON_LIMIT_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _not_right(blocking: list[Finding]) -> Problem:
    worst = blocking[0]
    return Problem(
        code="export_not_right",
        headline="The export ended, but the model is not right, so it was not kept.",
        advice=f"Expected: {worst.expected}. Found: {worst.found}. Its log may say why; other "
        "export tools, or a newer checkpoint, may do better.",
        detail="\n".join(f"{one.code}: {one.found} ({one.where})" for one in blocking),
        remedies=(Remedy.OPEN_LOG,),
    )


def _no_places(reason: str) -> Problem:
    return Problem(
        code="export_no_places",
        headline="The exported model does not say where a draft reads, so it was not kept.",
        advice="The exporter left it out, and the program could not tell it from the graph. A "
        "draft would be ignored without a word. Choose another model, or a newer exporter.",
        detail=reason,
        remedies=(Remedy.OPEN_LOG,),
    )
