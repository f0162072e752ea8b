"""Rules that hold for a target and for a draft alike: whole files, known kind, right versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.model_facts import MTP_GRAPH, ModelKind, parse_version
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.model_facts import ModelFacts

GET_AGAIN: Final = "Download or export this model again."


def files_complete(model: ModelFacts, subject: Subject) -> Iterator[Finding]:
    """A graph needs its weights beside it."""
    missing = [f for f in (model.graph_file, model.weights_file) if f not in model.file_sizes]
    if missing:
        yield Finding(
            f"{subject}_files_missing",
            Weight.BLOCK,
            subject,
            expected=f"{model.graph_file} and {model.weights_file}",
            found=f"no {' and no '.join(missing)}",
            where=model.name,
            remedy="Choose the folder that holds the OpenVINO model, or export it again.",
        )


def graph_readable(model: ModelFacts, subject: Subject) -> Iterator[Finding]:
    """The XML is one that OpenVINO wrote."""
    if model.graph_fault:
        yield Finding(
            f"{subject}_graph_broken",
            Weight.BLOCK,
            subject,
            expected="an OpenVINO model",
            found=model.graph_fault,
            where=model.graph_file,
            remedy=GET_AGAIN,
        )


def weights_cover_graph(model: ModelFacts, subject: Subject) -> Iterator[Finding]:
    """The .bin reaches as far as the graph reads."""
    size = model.file_sizes.get(model.weights_file)
    if model.graph is None or size is None or size >= model.graph.needed_weight_bytes:
        return
    needed = model.graph.needed_weight_bytes
    yield Finding(
        f"{subject}_weights_short",
        Weight.BLOCK,
        subject,
        expected=f"at least {needed} bytes ({format_bytes(needed)})",
        found=f"{size} bytes",
        where=model.weights_file,
        remedy=f"The file is cut off or belongs to another graph. {GET_AGAIN}",
    )


def config_readable(model: ModelFacts, subject: Subject) -> Iterator[Finding]:
    """config.json tells what the graph does not; without it, several rules cannot be checked."""
    if model.config.is_readable:
        return
    is_there = "config.json" in model.file_sizes
    yield Finding(
        f"{subject}_config_broken" if is_there else f"{subject}_config_missing",
        Weight.WARN,
        subject,
        expected="a config.json",
        found="one that cannot be read" if is_there else "none",
        where="config.json",
        remedy="Copy config.json from the model that was exported, so that all can be checked.",
    )


def runtime_new_enough(
    model: ModelFacts, subject: Subject, runtime: str | None
) -> Iterator[Finding]:
    """A model that a newer OpenVINO wrote may use operations that this one does not know."""
    written_by = "" if model.graph is None else model.graph.runtime_version()
    theirs, ours = parse_version(written_by), parse_version(runtime or "")
    if theirs is None or ours is None or theirs <= ours:
        return
    yield Finding(
        f"{subject}_runtime_newer",
        Weight.WARN,
        subject,
        expected=f"OpenVINO {'.'.join(map(str, ours))} or older",
        found=f"written by OpenVINO {'.'.join(map(str, theirs))}",
        where=model.graph_file,
        remedy="If it does not load, update DFlash Desktop, or export it with this version.",
    )


def own_code_unused(model: ModelFacts, subject: Subject) -> Iterator[Finding]:
    """An export leaves behind where its maker kept the code; it is never followed."""
    if model.config.has_own_code:
        yield Finding(
            f"{subject}_own_code",
            Weight.INFO,
            subject,
            expected="no auto_map",
            found="an auto_map, which this program never follows",
            where="config.json",
        )


def kind_named(model: ModelFacts, subject: Subject) -> Iterator[Finding]:
    """What the folder holds, for the record."""
    if model.graph is None:
        return
    kind = model.kind()
    words = [kind.label]
    if kind.is_dflash_family:
        words.append("with a Markov head" if model.has_markov_head() else "without a Markov head")
    elif kind in {ModelKind.TEXT, ModelKind.VISION} and subject is Subject.TARGET:
        words.append("annotated for drafts" if model.is_annotated() else "not annotated")
        words += ["with an MTP head"] if MTP_GRAPH in model.file_sizes else []
    yield Finding(
        f"{subject}_kind",
        Weight.INFO,
        subject,
        expected="",
        found=", ".join(words),
        where=model.graph_file,
    )
