"""What a folder is, found once when it comes into the library and kept in its manifest."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.library import ModelManifest, ModelRole
from dflash_desktop.domain.model_facts import ModelKind
from dflash_desktop.services.model_manifest import utc_now

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.library import ModelFile
    from dflash_desktop.domain.model_facts import ModelFacts

_PIPELINE_INDEX: Final = "model_index.json"  # of a model that makes pictures
_EXPORT_CONFIG: Final = "openvino_config.json"
_LIMIT_BYTES: Final = 1 << 20
_DRAFTS: Final = frozenset(
    {ModelKind.DFLASH, ModelKind.DFLASH2, ModelKind.DSPARK, ModelKind.EAGLE3, ModelKind.MTP}
)
_PRECISION: Final = re.compile(
    r"(?<![a-z0-9])(int4|int8|fp16|bf16|f16|fp32|f32|mxfp4|nf4)", re.IGNORECASE
)
_SPELLINGS: Final = {"f16": "fp16", "f32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def describe_model(folder: Path, *, name: str = "") -> tuple[ModelRole, str]:
    """What the model in this folder is good for, and its precision or "". Blocking, a second.

    `name` is what the model is called where it came from, if that is more than the folder's name.
    Raises `AppError` ("folder_unreadable") when the folder cannot be looked into.
    """
    # Listing models must not wait for what only a new one needs.
    from dflash_desktop.services.model_inspection import inspect_model

    facts = inspect_model(folder)
    return _role(facts), _precision(folder, facts, name or folder.name)


def arrived_manifest(
    folder: Path,
    *,
    repo_id: str,
    commit: str,
    endpoint: str,
    files: tuple[ModelFile, ...],
    name: str,
) -> ModelManifest:
    """The manifest of a folder whose files were all verified just now. As `describe_model`."""
    role, precision = describe_model(folder, name=name)
    now = utc_now()
    return ModelManifest(
        repo_id=repo_id,
        commit=commit,
        endpoint=endpoint,
        files=files,
        role=role,
        precision=precision,
        installed_at=now,
        verified_at=now,
    )


def _role(facts: ModelFacts) -> ModelRole:
    if _PIPELINE_INDEX in facts.file_sizes:
        return ModelRole.IMAGE
    if facts.graph is None:
        return ModelRole.OTHER
    if facts.kind() in _DRAFTS or facts.is_built_like_dflash():
        return ModelRole.DRAFT
    return ModelRole.TARGET if "logits" in facts.graph.outputs() else ModelRole.OTHER


def _precision(folder: Path, facts: ModelFacts, name: str) -> str:
    """By what the exporter wrote, then by what the graph says, then by the name."""
    exported = _exported_precision(folder / _EXPORT_CONFIG)
    if exported:
        return exported
    said = facts.rt_info("nncf", "weight_compression", "mode") or ""
    found = _PRECISION.search(said) or _PRECISION.search(name)
    if found is None:
        return ""
    spelt = found.group(1).lower()
    return _SPELLINGS.get(spelt, spelt)


def _exported_precision(file: Path) -> str:
    """What optimum-intel noted: the bits of a quantization, else the type of the weights."""
    try:
        with file.open("rb") as stream:
            loaded = json.loads(stream.read(_LIMIT_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    if not isinstance(loaded, dict):
        return ""
    quantization = loaded.get("quantization_config")
    bits = quantization.get("bits") if isinstance(quantization, dict) else None
    if bits in (4, 8):
        return f"int{bits}"
    dtype = loaded.get("dtype")
    found = _PRECISION.fullmatch(dtype) if isinstance(dtype, str) else None
    return "" if found is None else _SPELLINGS.get(found.group(1).lower(), found.group(1).lower())
