"""A pair of two hub repositories as a person enters it, checked before it is kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dflash_desktop.domain.catalogue import DraftKind, ModelKind, Precision
from dflash_desktop.domain.problems import AppError, Problem

_HUB: Final = re.compile(r"^(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/", re.IGNORECASE)
_PART: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
_LONGEST_TEXT: Final = 120
_MOST_PARAMETERS: Final = 10_000_000_000_000
_MOST_BYTES: Final = 10_000_000_000_000


@dataclass(frozen=True, slots=True)
class OwnPairEntry:
    """What the form holds; None and empty texts are what the person does not know."""

    target_repository: str  # "owner/name"
    draft_repository: str = ""  # empty: the target answers alone
    title: str = ""
    kind: ModelKind = ModelKind.TEXT
    draft_kind: DraftKind = DraftKind.DFLASH
    precision: Precision | None = None
    is_prebuilt: bool = True  # in OpenVINO form, so that nothing needs to be exported
    parameters: int | None = None
    target_bytes: int | None = None
    draft_bytes: int | None = None
    licence: str = ""
    content_label: str = ""


def repository_name(text: str) -> str | None:
    """ "owner/name" from what a person typed or pasted; None if it is no such name."""
    plain = _HUB.sub("", text.strip()).split("?")[0].split("#")[0].strip("/")
    parts = plain.split("/")
    is_address = plain != text.strip().strip("/")
    if len(parts) < 2 or (len(parts) > 2 and not is_address):
        return None
    owner, name = parts[0], parts[1]
    whole = all(_PART.fullmatch(part) and ".." not in part for part in (owner, name))
    return f"{owner}/{name}" if whole else None


def checked_entry(entry: OwnPairEntry) -> OwnPairEntry:
    """The entry with its texts in order.

    Raises `AppError` (code "own_pair_wrong") that says which field is not what it should be.
    """
    target = repository_name(entry.target_repository)
    if target is None:
        raise _wrong(f"“{entry.target_repository}” is no repository.", _NAME_ADVICE)
    draft = ""
    if entry.draft_repository.strip():
        named = repository_name(entry.draft_repository)
        if named is None:
            raise _wrong(f"“{entry.draft_repository}” is no repository.", _NAME_ADVICE)
        draft = named
    if draft.casefold() == target.casefold():
        raise _wrong(
            "The target and the draft are the same repository.",
            "A draft is a small model of its own. Name its repository, or none.",
        )
    _check_number(entry.parameters, _MOST_PARAMETERS, "The number of parameters")
    _check_number(entry.target_bytes, _MOST_BYTES, "The target's size")
    _check_number(entry.draft_bytes, _MOST_BYTES, "The draft's size")
    if entry.parameters is None and entry.target_bytes is None:
        raise _wrong(
            "Whether it fits cannot be told without its size.",
            "Enter the target's size, or its number of parameters: 8 for a model called 8B.",
        )
    return OwnPairEntry(
        target_repository=target,
        draft_repository=draft,
        title=_tidy(entry.title) or target.split("/")[1],
        kind=entry.kind,
        draft_kind=entry.draft_kind,
        precision=entry.precision,
        is_prebuilt=entry.is_prebuilt,
        parameters=entry.parameters,
        target_bytes=entry.target_bytes,
        draft_bytes=entry.draft_bytes if draft else None,
        licence=_tidy(entry.licence),
        content_label=_tidy(entry.content_label),
    )


_NAME_ADVICE: Final = "A repository is called owner/name, as in the address of its page."


def _tidy(text: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[:_LONGEST_TEXT]


def _check_number(value: int | None, most: int, what: str) -> None:
    if value is not None and not 0 < value <= most:
        raise _wrong(f"{what} cannot be right.", "Correct it, or leave it empty.")


def _wrong(headline: str, advice: str) -> AppError:
    return AppError(Problem(code="own_pair_wrong", headline=headline, advice=advice))
