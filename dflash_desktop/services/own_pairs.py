"""The person's own catalogue file: hub pairs that were entered in the window, or by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.own_pair import OwnPairEntry, checked_entry
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.catalogue_store import decode_catalogue, load_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.catalogue import CataloguePair

_File = dict[str, object]
_Entry = dict[str, object]

_SOURCE: Final = "own"
_REQUIRED_RUNTIME: Final = "2026.4.1"
"""The first OpenVINO GenAI that runs DFlash drafts; other kinds say what they need themselves."""
_REQUIRED_RUNTIME_OF_NEW_KINDS: Final = "2026.5"


class OwnPairs:
    """Reads and writes `file` as a whole; what a person wrote there by hand is kept."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pairs(self) -> tuple[CataloguePair, ...]:
        """The own pairs. Raises `AppError` (code "own_pairs_invalid")."""
        try:
            return decode_catalogue(self._file.read_bytes()).pairs
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.MsgspecError) as error:
            raise self._invalid(error) from error

    def add(self, entry: OwnPairEntry) -> CataloguePair:
        """Keep a pair, or correct the one of the same repositories.

        Raises `AppError`: "own_pair_wrong" for an entry that is not right, "own_pair_known" for
        one that comes with the program, "own_pairs_invalid" for a file that cannot be read, and
        those of writing.
        """
        entry = checked_entry(entry)
        target, draft = _target(entry), _draft(entry)
        raw = self._raw()
        _put(raw, "targets", target)
        if draft is not None:
            _put(raw, "drafts", draft)
        pair: _Entry = {
            "target": target["id"],
            "draft": None if draft is None else draft["id"],
            "requires": {"runtime": _required_runtime(entry), "source": _SOURCE},
        }
        entries = _entries(raw, "pairs")
        raw["pairs"] = [
            *(p for p in entries if (p["target"], p["draft"]) != (pair["target"], pair["draft"])),
            pair,
        ]
        data = msgspec.json.format(msgspec.json.encode(raw), indent=2)
        made = self._checked(data, entry)
        self._write(data)
        return made

    def remove(self, pair_id: str) -> None:
        """Forget a pair; models that were downloaded stay. Raises `AppError` as `add` does."""
        raw = self._raw()
        kept = [
            pair
            for pair, known in zip(_entries(raw, "pairs"), self.pairs(), strict=True)
            if known.id != pair_id
        ]
        raw["pairs"] = kept
        for name in ("target", "draft"):
            used = {pair[name] for pair in kept}
            raw[f"{name}s"] = [m for m in _entries(raw, f"{name}s") if m["id"] in used]
        self._write(msgspec.json.format(msgspec.json.encode(raw), indent=2))

    def _raw(self) -> _File:
        """The file as it is, known to be whole; a new one if there is none."""
        try:
            data = self._file.read_bytes()
            decode_catalogue(data)
            return msgspec.json.decode(data, type=_File)
        except FileNotFoundError:
            return {
                "version": 1,
                "about": "Pairs that were added in DFlash Desktop.",
                "sources": {},
                "targets": [],
                "drafts": [],
                "pairs": [],
            }
        except (OSError, msgspec.MsgspecError) as error:
            raise self._invalid(error) from error

    def _checked(self, data: bytes, entry: OwnPairEntry) -> CataloguePair:
        wanted = (entry.target_repository, entry.draft_repository)
        for known in load_catalogue().pairs:
            draft = "" if known.draft is None else known.draft.repository
            if (known.target.repository, draft) == wanted:
                raise AppError(
                    Problem(
                        code="own_pair_known",
                        headline=f"This pair is in the program's list already: {known.title}.",
                        advice="Choose it in the setup.",
                    )
                )
        return decode_catalogue(data).pairs[-1]

    def _write(self, data: bytes) -> None:
        try:
            write_atomically(self._file, data)
        except OSError as error:
            problem = write_problem(error, what="Your pair", kept="Nothing else was changed.")
            raise AppError(problem) from error

    def _invalid(self, error: Exception) -> AppError:
        return AppError(
            Problem(
                code="own_pairs_invalid",
                headline=f"Your own pairs could not be read: {error}.",
                advice=f"Correct or remove {self._file}, then try again. It was not changed.",
            )
        )


def _target(entry: OwnPairEntry) -> _Entry:
    facts: _Entry = {
        "repository": entry.target_repository,
        "kind": entry.kind.value,
        "precision": entry.precision and entry.precision.value,
        "is_prebuilt": entry.is_prebuilt,
        "content_label": entry.content_label,
        "licence": entry.licence,
        "parameters": entry.parameters,
        "weights_bytes": entry.target_bytes,
    }
    slug = _slug(entry.target_repository)
    return {"id": slug, "title": entry.title, "family": slug, **_with_sources(facts)}


def _draft(entry: OwnPairEntry) -> _Entry | None:
    if not entry.draft_repository:
        return None
    facts: _Entry = {
        "repository": entry.draft_repository,
        "kind": entry.draft_kind.value,
        "is_prebuilt": entry.is_prebuilt,
        "weights_bytes": entry.draft_bytes,
    }
    title = entry.draft_repository.split("/")[1]
    return {"id": _slug(entry.draft_repository), "title": title, **_with_sources(facts)}


def _with_sources(facts: _Entry) -> _Entry:
    """What is known, with the person as the source of each."""
    told = {name: value for name, value in facts.items() if value not in (None, "", False)}
    return {**told, "sources": dict.fromkeys(told, _SOURCE)}


def _required_runtime(entry: OwnPairEntry) -> str:
    is_new_kind = bool(entry.draft_repository) and entry.draft_kind.value != "dflash"
    return _REQUIRED_RUNTIME_OF_NEW_KINDS if is_new_kind else _REQUIRED_RUNTIME


def _slug(repository: str) -> str:
    return repository.replace("/", "--")


def _entries(raw: _File, name: str) -> list[_Entry]:
    return msgspec.convert(raw[name], list[_Entry])


def _put(raw: _File, name: str, entry: _Entry) -> None:
    """Add an entry, or put it in the place of the one with the same id."""
    others = [known for known in _entries(raw, name) if known["id"] != entry["id"]]
    raw[name] = [*others, entry]
    sources = msgspec.convert(raw["sources"], dict[str, str])
    today = datetime.now(UTC).date().isoformat()
    raw["sources"] = {_SOURCE: f"entered in the window on {today}", **sources}
