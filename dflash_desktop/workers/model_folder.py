"""What a model folder says about itself, read without loading any weights."""

from __future__ import annotations

import errno
import hashlib
import json
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.model_facts import (
    MTP_GRAPH,
    TEXT_GRAPH,
    VISION_GRAPH,
    is_yes,
    parse_integer,
    parse_layer_ids,
)
from dflash_desktop.domain.pair import DraftFacts, PairFingerprint

if TYPE_CHECKING:
    from pathlib import Path

MODEL_XML: Final = TEXT_GRAPH
MODEL_BIN: Final = "openvino_model.bin"
_VISION_PARTS: Final = (
    VISION_GRAPH,
    "openvino_text_embeddings_model.xml",
    "openvino_vision_embeddings_model.xml",
)
"""What every model that sees pictures has; some have more, which the runtime asks for itself."""
_TOKENIZER_FILES: Final = ("openvino_tokenizer.xml", "openvino_detokenizer.xml")
_RT_INFO_TAIL_BYTES: Final = 4 * 1024 * 1024
_RUNTIME_DEFAULT_BLOCK_SIZE: Final = 6
"""openvino-genai takes 5 assistant tokens when it is told nothing; a block holds one more."""

_OWN_HEAD_BLOCK_SIZE: Final = 8
"""An MTP head proposes token after token, as long as it is asked to: 7 were seen to run."""

_LINEAR_STATE: Final = b"cache_params.past.ssm"
"""How the state of a linear-attention layer is called in a graph."""

_READ_BYTES: Final = 1 << 20


class ModelFolderError(Exception):
    """A folder is not the model it should be; `code` is one of the engine's failure codes."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What the target's files say; `context_tokens` is None where config.json is silent."""

    context_tokens: int | None
    sees_pictures: bool = False
    is_hybrid: bool = False  # some layers have linear attention, whose state has a pool of its own


def sees_pictures(folder: Path) -> bool:
    """Whether the folder holds a model for text and pictures, at a glance."""
    return (folder / VISION_GRAPH).is_file() and not (folder / MODEL_XML).is_file()


def has_own_head(folder: Path) -> bool:
    """Whether the target brings an MTP head, which can be its draft, at a glance."""
    return (folder / MTP_GRAPH).is_file()


def check_target(folder: Path) -> TargetFacts:
    """Raises `ModelFolderError` (model_missing, model_broken) when files are absent or empty."""
    has_vision = sees_pictures(folder)
    graphs = _VISION_PARTS if has_vision else (MODEL_XML,)
    _require(folder, (*_with_weights(graphs), *_TOKENIZER_FILES), "model")
    config = _config(folder)
    text_config = config.get("text_config")
    if isinstance(text_config, dict):
        config = {**config, **text_config}
    return TargetFacts(
        context_tokens=_positive_int(config.get("max_position_embeddings")),
        sees_pictures=has_vision,
        is_hybrid=_holds(folder / graphs[0], _LINEAR_STATE),
    )


def check_own_head(folder: Path) -> DraftFacts:
    """The target's own MTP head as a draft. Raises `ModelFolderError` when it is not whole."""
    _require(folder, _with_weights((MTP_GRAPH,)), "draft")
    return DraftFacts(_OWN_HEAD_BLOCK_SIZE, target_layer_ids=(), mask_token_id=None)


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
    target_graphs = _VISION_PARTS if sees_pictures(target_dir) else (MODEL_XML,)
    own_head = draft_dir == target_dir and has_own_head(target_dir)
    draft_graphs = (MTP_GRAPH,) if own_head else (MODEL_XML,)
    return PairFingerprint(
        target=_folder_hash(target_dir, target_graphs),
        draft=None if draft_dir is None else _folder_hash(draft_dir, draft_graphs),
    )


def weight_bytes(folder: Path) -> int:
    """The size of the weights that a loaded target holds. Raises `OSError`."""
    graphs = _VISION_PARTS if sees_pictures(folder) else (MODEL_XML,)
    return sum((folder / name).stat().st_size for name in _with_weights(graphs)[1::2])


def _with_weights(graphs: tuple[str, ...]) -> tuple[str, ...]:
    """Each graph and, after it, its weights."""
    return tuple(file for name in graphs for file in (name, name.removesuffix(".xml") + ".bin"))


def _folder_hash(folder: Path, graphs: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in graphs:
        graph = folder / name
        if not stat.S_ISREG(graph.stat().st_mode):  # a pipe would be waited for for ever
            raise OSError(errno.EINVAL, "no ordinary file", str(graph))
        with graph.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
        digest.update(str((folder / _with_weights((name,))[1]).stat().st_size).encode())
    return digest.hexdigest()[:16]


def _holds(file: Path, text: bytes) -> bool:
    """Whether these bytes stand anywhere in the file, which is read in pieces."""
    kept = b""
    with file.open("rb") as graph:
        while piece := graph.read(_READ_BYTES):
            if text in kept + piece:
                return True
            kept = piece[-len(text) :]
    return False


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
