"""The record of a model: its manifest, what the last comparison found, when it was last used.

Three files in one folder, each replaced as a whole, so that two processes can write at the same
time and neither reads half a file. Whatever is read may have been written by anybody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Meta

from dflash_desktop.domain.file_names import RECORD_FOLDER, colliding_paths, unsafe_reason
from dflash_desktop.domain.library import FileDifference, ModelFile, ModelManifest, ModelRole
from dflash_desktop.services.atomic_file import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST_NAME: Final = "manifest.json"
CONDITION_NAME: Final = "condition.json"
USED_NAME: Final = "used.json"
RECORD_NAMES: Final = frozenset({MANIFEST_NAME, CONDITION_NAME, USED_NAME})

_MANIFEST_LIMIT_BYTES: Final = 8 << 20
_SMALL_LIMIT_BYTES: Final = 1 << 20
_DIFFERENCE_LIMIT: Final = 1000

_Bytes = Annotated[int, Meta(ge=0, le=1 << 53)]
_Name = Annotated[str, Meta(min_length=1, max_length=255)]
_Time = Annotated[datetime, Meta(tz=True)]


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """What a model is called, and what its folder must hold."""

    id: str
    title: str
    manifest: ModelManifest
    folder: str = ""  # only of a model that lies elsewhere: where it is


@dataclass(frozen=True, slots=True)
class StoredCondition:
    """What the last comparison of every byte found."""

    at: datetime
    differences: tuple[FileDifference, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing differs; files that are there in addition are no fault."""
        return all(difference.kind == "extra" for difference in self.differences)


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _FileForm(_Strict, frozen=True):
    path: Annotated[str, Meta(max_length=1024)]
    size_bytes: _Bytes
    sha256: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")]


class _ManifestForm(_Strict, frozen=True):
    version: Literal[1]
    id: _Name
    title: _Name
    repo_id: Annotated[str, Meta(max_length=255)]
    commit: Annotated[str, Meta(pattern="^([0-9a-f]{40})?$")]
    endpoint: Annotated[str, Meta(max_length=2048)]
    role: ModelRole
    precision: Annotated[str, Meta(max_length=32)]
    installed_at: _Time
    verified_at: _Time | None
    files: Annotated[tuple[_FileForm, ...], Meta(min_length=1, max_length=20_000)]
    folder: Annotated[str, Meta(max_length=32_768)] = ""


class _DifferenceForm(_Strict, frozen=True):
    path: str
    kind: Literal["missing", "size", "bytes", "extra", "unreadable"]


class _ConditionForm(_Strict, frozen=True):
    version: Literal[1]
    at: _Time
    differences: Annotated[tuple[_DifferenceForm, ...], Meta(max_length=_DIFFERENCE_LIMIT)]


class _UsedForm(_Strict, frozen=True):
    version: Literal[1]
    at: _Time


_MANIFESTS: Final = msgspec.json.Decoder(_ManifestForm)
_CONDITIONS: Final = msgspec.json.Decoder(_ConditionForm)
_USES: Final = msgspec.json.Decoder(_UsedForm)


def record_dir(folder: Path) -> Path:
    """Where the record of a model lies that is the program's own."""
    return folder / RECORD_FOLDER


def decode_record(data: bytes) -> ModelRecord:
    """A record from its JSON.

    Raises `msgspec.MsgspecError` for whatever is not quite right: another version, unknown
    fields, names that leave the folder or are there twice, a downloaded file without its hash.
    """
    form = _MANIFESTS.decode(data)
    if fault := _names_fault([file.path for file in form.files]):
        raise msgspec.ValidationError(fault)
    if not form.folder and not all(file.sha256 for file in form.files):
        raise msgspec.ValidationError("a file without its sha256")
    manifest = ModelManifest(
        repo_id=form.repo_id,
        commit=form.commit,
        endpoint=form.endpoint,
        files=tuple(ModelFile(f.path, f.size_bytes, f.sha256) for f in form.files),
        role=form.role,
        precision=form.precision,
        installed_at=form.installed_at,
        verified_at=form.verified_at,
    )
    return ModelRecord(form.id, form.title, manifest, form.folder)


def encode_record(record: ModelRecord) -> bytes:
    """The record as JSON, checked as if somebody else had written it.

    Raises `msgspec.MsgspecError` for a record that could not be read again.
    """
    manifest = replace(record.manifest, endpoint=_without_credentials(record.manifest.endpoint))
    fields = msgspec.to_builtins(manifest)
    named = {"version": 1, "id": record.id, "title": record.title, "folder": record.folder}
    data = msgspec.json.format(msgspec.json.encode({**named, **fields}), indent=1)
    decode_record(data)
    return data


def read_record(folder: Path) -> ModelRecord | None:
    """The record in this record folder, or None when there is none that can be used."""
    try:
        return decode_record(_read(folder / MANIFEST_NAME, _MANIFEST_LIMIT_BYTES))
    except (OSError, ValueError):  # msgspec's own errors are ValueErrors
        return None


def write_record(folder: Path, record: ModelRecord) -> None:
    """Replace the record. Raises `OSError`, or `msgspec.MsgspecError` for what is refused."""
    write_atomically(folder / MANIFEST_NAME, encode_record(record))


def read_condition(folder: Path) -> StoredCondition | None:
    """What the last comparison found; None when there was none, or nobody can read it."""
    try:
        form = _CONDITIONS.decode(_read(folder / CONDITION_NAME, _SMALL_LIMIT_BYTES))
    except (OSError, ValueError):
        return None
    differences = tuple(FileDifference(one.path, one.kind) for one in form.differences)
    return StoredCondition(form.at, differences)


def write_condition(folder: Path, condition: StoredCondition) -> None:
    """Keep what a comparison found, the faults before what is merely extra. Raises `OSError`."""
    ordered = sorted(condition.differences, key=lambda one: one.kind == "extra")
    fields = {
        "version": 1,
        "at": condition.at,
        "differences": ordered[:_DIFFERENCE_LIMIT],
    }
    write_atomically(folder / CONDITION_NAME, msgspec.json.encode(fields))


def read_last_use(folder: Path) -> datetime | None:
    """When the model was last loaded."""
    try:
        return _USES.decode(_read(folder / USED_NAME, _SMALL_LIMIT_BYTES)).at
    except (OSError, ValueError):
        return None


def write_last_use(folder: Path, at: datetime) -> None:
    """Keep when the model was loaded. Raises `OSError`."""
    write_atomically(folder / USED_NAME, msgspec.json.encode({"version": 1, "at": at}))


def utc_now() -> datetime:
    """The time of day for records."""
    return datetime.now(UTC)


def _names_fault(paths: list[str]) -> str:
    for path in paths:
        if reason := unsafe_reason(path):
            return f"the name {path!r} is refused: {reason}"
    collision = colliding_paths(paths)
    return "" if collision is None else f"two names are one file: {collision}"


def _read(path: Path, limit_bytes: int) -> bytes:
    with path.open("rb") as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise ValueError(f"{path.name} is larger than any that we write")
    return data


def _without_credentials(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
