"""What a model folder says about itself, read without loading any weights."""

from __future__ import annotations

import errno
import hashlib
import json
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.model_facts import is_yes, parse_integer, parse_layer_ids
from dflash_desktop.domain.pair import DraftFacts, PairFingerprint

if TYPE_CHECKING:
    from pathlib import Path

MODEL_XML: Final = "openvino_model.xml"
MODEL_BIN: Final = "openvino_model.bin"
_TOKENIZER_FILES: Final = ("openvino_tokenizer.xml", "openvino_detokenizer.xml")
_RT_INFO_TAIL_BYTES: Final = 4 * 1024 * 1024
_RUNTIME_DEFAULT_BLOCK_SIZE: Final = 6
"""openvino-genai takes 5 assistant tokens when it is told nothing; a block holds one more."""


class ModelFolderError(Exception):
    """A folder is not the model it should be; `code` is one of the engine's failure codes."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What the target's config.json says; None where it is silent."""

    context_tokens: int | None


def check_target(folder: Path) -> TargetFacts:
    """Raises `ModelFolderError` (model_missing, model_broken) when files are absent or empty."""
    _require(folder, (MODEL_XML, MODEL_BIN, *_TOKENIZER_FILES), "model")
    config = _config(folder)
    text_config = config.get("text_config")
    if isinstance(text_config, dict):
        config = {**config, **text_config}
    return TargetFacts(
        context_tokens=_positive_int(config.get("max_position_embeddings")),
    )


def check_draft(folder: Path) -> DraftFacts:
    """Raises `ModelFolderError` (draft_broken) unless this is a DFlash draft with its metadata."""
    _require(folder, (MODEL_XML, MODEL_BIN), "draft")
    info = _rt_info_text(folder / MODEL_XML)
    if not is_yes(_entry(info, "dflash_mode")):
        if not _is_whole(folder / MODEL_XML):  # the marker is at the end, so it may be cut off
            raise ModelFolderError("draft_broken", f"{folder / MODEL_XML} is cut off")
        raise ModelFolderError(
            "draft_not_dflash", f"{folder / MODEL_XML} carries no dflash_mode marker"
        )
    layer_ids = parse_layer_ids(_entry(info, "target_layer_ids"))
    if not layer_ids:
        raise ModelFolderError("draft_broken", f"{folder / MODEL_XML} names no target layers")
    mask_token_id = parse_integer(_entry(info, "mask_token_id"))
    if mask_token_id is None:
        raise ModelFolderError("draft_broken", f"{folder / MODEL_XML} names no mask token")
    block = _positive_int(_config(folder).get("block_size"))
    return DraftFacts(
        block_size=block or _RUNTIME_DEFAULT_BLOCK_SIZE,
        target_layer_ids=layer_ids,
        mask_token_id=mask_token_id,
    )


def fingerprint(target_dir: Path, draft_dir: Path | None) -> PairFingerprint:
    """Hash the graphs and the sizes of the weights: cheap, and different for every export."""
    return PairFingerprint(
        target=_folder_hash(target_dir),
        draft=None if draft_dir is None else _folder_hash(draft_dir),
    )


def _folder_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    graph = folder / MODEL_XML
    if not stat.S_ISREG(graph.stat().st_mode):  # a pipe would be waited for, a device never ends
        raise OSError(errno.EINVAL, "no ordinary file", str(graph))
    with graph.open("rb") as file:
        digest.update(hashlib.file_digest(file, "sha256").digest())
    digest.update(str((folder / MODEL_BIN).stat().st_size).encode())
    return digest.hexdigest()[:16]


def _require(folder: Path, names: tuple[str, ...], kind: str) -> None:
    if not folder.is_dir():
        raise ModelFolderError(f"{kind}_missing", f"{folder} is not a folder")
    for name in names:
        path = folder / name
        if not path.is_file():
            raise ModelFolderError(f"{kind}_missing", f"{path} is missing")
        if path.stat().st_size == 0:
            raise ModelFolderError(f"{kind}_broken", f"{path} is empty")


def _config(folder: Path) -> dict[str, Any]:
    """config.json as it is; a folder without one, or with a damaged one, knows nothing."""
    try:
        loaded = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _positive_int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _rt_info_text(xml: Path) -> str:
    """The model's own rt_info block, which OpenVINO writes last; "" when there is none."""
    with xml.open("rb") as file:
        file.seek(max(0, xml.stat().st_size - _RT_INFO_TAIL_BYTES))
        tail = file.read().decode("utf-8", "replace")
    start = tail.rfind("<rt_info>")
    return tail[start:] if start >= 0 else ""


def _is_whole(xml: Path) -> bool:
    with xml.open("rb") as file:
        file.seek(max(0, xml.stat().st_size - _RT_INFO_TAIL_BYTES))
        return file.read().rstrip().endswith(b"</net>")


def _entry(info: str, name: str) -> str:
    match = re.search(rf'<{name} value="([^"]*)"', info)
    return match.group(1) if match else ""
