"""Look at a checkpoint on this disk: its small files, and the heads of its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from dflash_desktop.domain.checkpoint import Checkpoint
from dflash_desktop.domain.checkpoint_files import has_tokenizer, is_weights
from dflash_desktop.domain.export_faults import knows, own_problem
from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_draft import ARCHITECTURE, refuse_newer_kinds
from dflash_desktop.domain.model_facts import TEXT_GRAPH, VISION_GRAPH
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.safetensors_header import (
    SafetensorsError,
    StoredTensor,
    read_safetensors_header,
)
from dflash_desktop.services.gguf_file import read_header
from dflash_desktop.services.gguf_problems import refused
from dflash_desktop.services.model_files import (
    CONFIG_LIMIT_BYTES,
    file_sizes,
    json_object,
    read_limited,
    text_of,
    texts_of,
)
from dflash_desktop.workers.checkpoint_code import own_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from dflash_desktop.domain.gguf_header import GgufHeader

CONFIG: Final = "config.json"
INDEX: Final = "model.safetensors.index.json"
_INDEX_LIMIT_BYTES: Final = 32 << 20
"""With 91,000 tensors, of a mixture of experts, it has 9 MB."""
_PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt")
_EXPERTS: Final = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_WIDTHS: Final = ("hidden_size", "intermediate_size", "moe_intermediate_size")


class _Index(msgspec.Struct):
    weight_map: dict[str, str]


def inspect_checkpoint(folder: Path) -> Checkpoint:
    """What can be known of it without loading anything. Blocking, well under a second.

    Raises `AppError` for a folder that is no checkpoint, cannot be read, or holds a file with
    weights that is cut off.
    """
    try:
        sizes = file_sizes(folder)
        code = own_code(folder)
        config = json_object(folder / CONFIG) if CONFIG in sizes else None
        if config is None and not {TEXT_GRAPH, VISION_GRAPH} & sizes.keys():
            raise AppError(_without_config(folder, folder.name))
        files = _weight_files(sizes)
        stored = [t for name in files for t in _stored(folder / name, sizes[name])]
    except OSError as error:
        raise AppError(_unreadable(folder.name, error)) from error
    return checkpoint_of(folder.name, config or {}, sizes, code=code, stored=stored)


def small_files(folder: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """config.json, and the names of the tensors as the index lists them; blocking.

    Raises `AppError` where there is no config.json, and `OSError`.
    """
    config = json_object(folder / CONFIG) if (folder / CONFIG).is_file() else None
    if config is None:
        raise AppError(_without_config(folder, folder.name.rpartition("--")[2]))
    return config, _indexed_names(folder / INDEX) if (folder / INDEX).is_file() else ()


def inspect_gguf_draft(path: Path) -> Checkpoint:
    """The same of a draft in a GGUF file. Blocking. Raises `AppError`."""
    try:
        return _gguf_checkpoint(path, read_header(path), path.stat().st_size)
    except GgufError as error:
        problem = own_problem(error.code, str(error)) if knows(error.code) else None
        raise AppError(problem or refused(path, error)) from error
    except OSError as error:
        raise AppError(_unreadable(path.name, error)) from error


def checkpoint_of(
    name: str,
    config: Mapping[str, Any],
    sizes: Mapping[str, int],
    *,
    code: tuple[str, ...] = (),
    stored: Iterable[StoredTensor] = (),
) -> Checkpoint:
    """From config.json and the sizes of all files; `stored` is empty where only these are known.

    The number of parameters then follows from the sizes, and the rest from the configuration.
    """
    tensors = tuple(stored)
    text = {**config, **_object(config.get("text_config"))}
    draft = {**_object(config.get("dflash_config")), **config}
    files = _weight_files(sizes)
    weights_bytes = sum(sizes[file] for file in files)
    counted = sum(tensor.value_count for tensor in tensors)
    hidden = _count(text.get("hidden_size"))
    vocabulary = _count(text.get("vocab_size"))
    largest = max((t.value_count for t in tensors), default=hidden * vocabulary)
    return Checkpoint(
        name=name,
        model_type=text_of(config.get("model_type")),
        architectures=texts_of(config.get("architectures")),
        has_vision_part=isinstance(config.get("vision_config"), dict),
        hidden_size=hidden,
        layer_count=_count(text.get("num_hidden_layers")),
        expert_count=max(_count(text.get(name)) for name in _EXPERTS),
        row_widths=_row_widths(text, tensors),
        target_layer_ids=_counts(draft.get("target_layer_ids")),
        own_code=code,
        packed_by=_packed_by(config),
        tensor_names=tuple(tensor.name for tensor in tensors),
        parameters=counted or round(weights_bytes / _stored_bytes(text)),
        largest_tensor_values=largest,
        weights_bytes=weights_bytes,
        weight_files=files,
        largest_file_bytes=max((sizes[file] for file in files), default=0),
        has_tokenizer=has_tokenizer(sizes),
        is_openvino=bool({TEXT_GRAPH, VISION_GRAPH} & sizes.keys()),
        is_exact=bool(tensors),
    )


def _gguf_checkpoint(path: Path, header: GgufHeader, size_bytes: int) -> Checkpoint:
    values = {key: entry.value for key, entry in header.metadata.items()}
    architecture = values.get("general.architecture")
    if architecture != ARCHITECTURE:
        words = f"it is built as {str(architecture)[:40]!r}, and a draft as {ARCHITECTURE!r}"
        raise GgufError("gguf_architecture", words)
    refuse_newer_kinds(header.tensors)
    tensors = header.tensors.values()
    hidden = _count(values.get(f"{ARCHITECTURE}.embedding_length"))
    return Checkpoint(
        name=path.stem,
        model_type="qwen3",
        architectures=("DFlashDraftModel",),
        hidden_size=hidden,
        layer_count=_count(values.get(f"{ARCHITECTURE}.block_count")),
        row_widths=tuple(sorted({t.shape[0] for t in tensors if len(t.shape) > 1})),
        parameters=sum(tensor.value_count for tensor in tensors),
        largest_tensor_values=max((t.value_count for t in tensors), default=0),
        weights_bytes=size_bytes,
        weight_files=(path.name,),
        largest_file_bytes=size_bytes,
        is_gguf=True,
    )


def _row_widths(text: Mapping[str, Any], tensors: tuple[StoredTensor, ...]) -> tuple[int, ...]:
    """Of the matrices that are packed in groups; a token embedding's rows are hidden states."""
    if tensors:
        return tuple(sorted({t.shape[-1] for t in tensors if len(t.shape) == 2}))
    heads, head = _count(text.get("num_attention_heads")), _count(text.get("head_dim"))
    told = {_count(text.get(name)) for name in _WIDTHS} | {heads * head}
    return tuple(sorted(width for width in told if width))


def _stored_bytes(text: Mapping[str, Any]) -> float:
    """How wide a number is where only config.json tells."""
    named = text_of(text.get("dtype")) or text_of(text.get("torch_dtype"))
    return 4.0 if named == "float32" else 2.0


def _packed_by(config: Mapping[str, Any]) -> str:
    packing = _object(config.get("quantization_config"))
    return text_of(packing.get("quant_method")) or ("unknown" if packing else "")


def _weight_files(sizes: Iterable[str]) -> tuple[str, ...]:
    """Those that the exporter reads: safetensors where there are any, else pickles."""
    names = sorted(sizes)
    tensors = [name for name in names if is_weights(name)]
    pickles = [
        n for n in names if n.endswith(_PICKLES) and n.startswith(("pytorch_model", "model"))
    ]
    return tuple(tensors or pickles)


def _stored(path: Path, size_bytes: int) -> tuple[StoredTensor, ...]:
    if path.suffix != ".safetensors":
        return ()
    try:
        with path.open("rb") as file:
            return read_safetensors_header(file.read, file_bytes=size_bytes)
    except SafetensorsError as error:
        problem = Problem(
            code="export_checkpoint_damaged",
            headline=f"“{path.name}” is damaged or was not downloaded to its end.",
            advice="Download the checkpoint again.",
            detail=str(error),
        )
        raise AppError(problem) from error


def _indexed_names(path: Path) -> tuple[str, ...]:
    """None of an index that is damaged or larger than any. Raises `OSError`."""
    try:
        # Of its type only: what a stranger's file holds besides takes no memory.
        index = msgspec.json.decode(read_limited(path, _INDEX_LIMIT_BYTES), type=_Index)
    except (msgspec.MsgspecError, RecursionError):
        return ()
    return tuple(index.weight_map)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 40
    return int(str(value)) if is_count else 0


def _counts(value: object) -> tuple[int, ...]:
    items = value if isinstance(value, list) else []
    return tuple(one for one in items if isinstance(one, int) and not isinstance(one, bool))


def _without_config(folder: Path, name: str) -> Problem:
    """It has none, or one that says nothing."""
    try:
        size_bytes = (folder / CONFIG).stat().st_size
    except OSError:
        return _no_checkpoint(name)
    is_larger = size_bytes > CONFIG_LIMIT_BYTES
    return Problem(
        code="export_config_damaged",
        headline=f"The config.json of “{name}” "
        + ("is larger than that of any model." if is_larger else "is damaged."),
        advice="Download the checkpoint again, or choose another one.",
        detail=f"{CONFIG} has {size_bytes:,} bytes"
        + ("" if is_larger else ", and they are no JSON object"),
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def _no_checkpoint(name: str) -> Problem:
    return Problem(
        code="export_no_checkpoint",
        headline=f"“{name}” is no checkpoint.",
        advice="A checkpoint has a config.json beside its weights. Choose the folder that holds "
        "it, or give the name of a repository on the hub.",
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def _unreadable(name: str, error: OSError) -> Problem:
    return Problem(
        code="export_unreadable",
        headline=f"“{name}” cannot be read.",
        advice="Check that it is there and that you may open it.",
        detail=str(error),
        remedies=(Remedy.CHOOSE_MODEL,),
    )
