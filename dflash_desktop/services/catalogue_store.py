"""The catalogue of pairs and the list of known drivers, read strictly from their files."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from dflash_desktop.domain.catalogue import (
    Catalogue,
    CataloguePair,
    DraftModel,
    OthersMeasurement,
    Requires,
    TargetModel,
)
from dflash_desktop.domain.gpu_findings import KnownDriver
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.paths import resources_dir

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_Entry = dict[str, object]
_T = TypeVar("_T", TargetModel, DraftModel, OthersMeasurement, Requires)

_NOT_FACTS = {"id", "title", "family", "sources"}
"""Names that the catalogue itself gives: they need no source."""


class _Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target: str
    draft: str | None
    requires: _Entry
    measured: tuple[_Entry, ...] = ()
    note: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    about: str
    sources: dict[str, str]
    targets: tuple[_Entry, ...]
    drafts: tuple[_Entry, ...]
    pairs: tuple[_Pair, ...]


class _Drivers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    about: str
    drivers: tuple[_Entry, ...]


def load_catalogue(*, own_file: Path | None = None) -> Catalogue:
    """The pairs that came with the program, and those of `own_file` if there is one.

    Raises `AppError` (code "own_pairs_invalid") for a file of the person's that cannot be used,
    and `FileNotFoundError` or `msgspec.MsgspecError` when the installation is damaged.
    """
    catalogue = decode_catalogue((resources_dir() / "catalogue.json").read_bytes())
    if own_file is None:
        return catalogue
    try:
        own = decode_catalogue(own_file.read_bytes())
        pairs = _unique((*catalogue.pairs, *own.pairs))
    except FileNotFoundError:
        return catalogue
    except (OSError, msgspec.MsgspecError) as error:
        raise AppError(
            Problem(
                code="own_pairs_invalid",
                headline=f"Your own pairs could not be read: {error}.",
                advice=f"Correct or remove {own_file}, then try again.",
            )
        ) from error
    return Catalogue(pairs, {**own.sources, **catalogue.sources})


def load_catalogue_with_own(own_file: Path) -> tuple[Catalogue, Problem | None]:
    """As `load_catalogue`, for where a damaged file of the person's must not be in the way.

    Its problem is returned beside the program's own pairs.
    """
    try:
        return load_catalogue(own_file=own_file), None
    except AppError as error:
        return load_catalogue(), error.problem


def decode_catalogue(data: bytes) -> Catalogue:
    """A catalogue from its JSON. Raises `msgspec.MsgspecError` for whatever is not quite right:

    unknown or misspelt fields, wrong types, models that are not there, facts without a source.
    """
    file = msgspec.json.decode(data, type=_File)
    targets = {target.id: target for target in _models(file.targets, TargetModel)}
    drafts = {draft.id: draft for draft in _models(file.drafts, DraftModel)}
    if len(targets) < len(file.targets) or len(drafts) < len(file.drafts):
        raise msgspec.ValidationError("two models have the same id")
    for target in targets.values():
        _check_sources(target, file.sources)
    for draft in drafts.values():
        _check_sources(draft, file.sources)
    pairs = []
    for pair in file.pairs:
        if pair.target not in targets or (pair.draft is not None and pair.draft not in drafts):
            raise msgspec.ValidationError(f"no such model: {pair.target} with {pair.draft}")
        requires = _convert(pair.requires, Requires)
        measured = tuple(_convert(entry, OthersMeasurement) for entry in pair.measured)
        for source in (requires.source, *(one.source for one in measured)):
            if source not in file.sources:
                raise msgspec.ValidationError(f"no such source: {source}")
        partner = None if pair.draft is None else drafts[pair.draft]
        pairs.append(CataloguePair(targets[pair.target], partner, requires, measured, pair.note))
    return Catalogue(_unique(tuple(pairs)), file.sources)


def load_known_drivers() -> tuple[KnownDriver, ...]:
    """The drivers that others had trouble with.

    Raises `FileNotFoundError` or `msgspec.MsgspecError` when the installation is damaged.
    """
    data = (resources_dir() / "known_drivers.json").read_bytes()
    file = msgspec.json.decode(data, type=_Drivers)
    return tuple(msgspec.convert(entry, KnownDriver) for entry in file.drivers)


def _models(entries: tuple[_Entry, ...], model_type: type[_T]) -> Iterable[_T]:
    return (_convert(entry, model_type) for entry in entries)


def _convert(entry: _Entry, value_type: type[_T]) -> _T:
    unknown = entry.keys() - {field.name for field in fields(value_type)}
    if unknown:  # msgspec ignores those of a dataclass
        raise msgspec.ValidationError(f"unknown field: {min(unknown)}")
    return msgspec.convert(entry, value_type)


def _check_sources(model: TargetModel | DraftModel, sources: dict[str, str]) -> None:
    facts = {field.name: getattr(model, field.name) for field in fields(model)}
    told = {
        name
        for name, value in facts.items()
        if name not in _NOT_FACTS and value is not None and value is not False
    }
    for name in sorted(told - _defaults_of_kind(model)):
        if model.sources.get(name) not in sources:
            raise msgspec.ValidationError(f"{model.id}: {name} has no source")
    for name in sorted(model.sources.keys() - facts.keys()):
        raise msgspec.ValidationError(f"{model.id}: a source for {name}, which is no fact")


def _defaults_of_kind(model: TargetModel | DraftModel) -> set[str]:
    """A target that nobody calls anything else takes text and gives text."""
    return {"kind"} if isinstance(model, TargetModel) and model.kind.value == "text" else set()


def _unique(pairs: tuple[CataloguePair, ...]) -> tuple[CataloguePair, ...]:
    seen = set()
    for pair in pairs:
        if pair.id in seen:
            raise msgspec.ValidationError(f"the pair {pair.id} is there twice")
        seen.add(pair.id)
    return pairs
