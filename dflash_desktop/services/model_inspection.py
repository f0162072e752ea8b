"""Read what a model folder says about itself; weights are never opened, only their sizes seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.ir_reader import CHUNK_BYTES, IrError, read_ir_graph
from dflash_desktop.domain.model_facts import (
    TEXT_GRAPH,
    VISION_GRAPH,
    ConfigFacts,
    ModelFacts,
    TokenizerFacts,
    parse_integer,
)
from dflash_desktop.domain.pair_contract import Finding, check_contract
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.model_files import file_sizes, json_object, texts_of
from dflash_desktop.workers.model_folder import has_own_head
from dflash_desktop.workers.package_version import package_version

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflash_desktop.domain.ir_graph import IrGraph

_TEMPLATE_LIMIT_BYTES: Final = 8 << 20
_CARD_LIMIT_BYTES: Final = 64 << 10
_DETOKENIZER: Final = "openvino_detokenizer.xml"
_TOKENIZER: Final = "openvino_tokenizer.xml"
_TEMPLATE_FILE: Final = "chat_template.jinja"
_TEMPLATE_ENTRY: Final = "chat_template"
_LAYER_LIMIT: Final = 10_000


def check_folders(target_dir: Path, draft_dir: Path | None) -> tuple[Finding, ...]:
    """All that the contract finds in these folders, for the installed runtime.

    Takes a second or less, more on a slow disk: not for the window's thread. Raises `AppError`
    when a folder cannot be looked into.
    """
    draft = inspect_draft(target_dir, draft_dir)
    return check_contract(inspect_model(target_dir), draft, runtime=installed_runtime())


def inspect_draft(target_dir: Path, draft_dir: Path | None) -> ModelFacts | None:
    """The facts of a draft in a folder of its own; None for none and for the target's own head.

    Raises `AppError` as `inspect_model`.
    """
    is_own_head = draft_dir == target_dir and has_own_head(target_dir)
    return None if draft_dir is None or is_own_head else inspect_model(draft_dir)


def installed_runtime() -> str | None:
    """The version of OpenVINO GenAI that the engine will use, asked without loading it."""
    return package_version("openvino-genai") or None


def inspect_model(folder: Path, *, graph_file: str = "") -> ModelFacts:
    """The folder's facts; what is missing or damaged is a fact, too.

    `graph_file` is another graph than the model's main one that is to be looked at.
    Raises `AppError` ("folder_unreadable") when the folder cannot be looked into.
    """
    try:
        sizes = file_sizes(folder)
    except OSError as error:
        raise AppError(_unreadable(folder, error)) from error
    if not graph_file:
        is_vision = VISION_GRAPH in sizes and TEXT_GRAPH not in sizes
        graph_file = VISION_GRAPH if is_vision else TEXT_GRAPH
    graph, fault = _graph(folder / graph_file) if graph_file in sizes else (None, "")
    model = ModelFacts(
        name=folder.name or str(folder),
        file_sizes=sizes,
        graph_file=graph_file,
        graph=graph,
        graph_fault=fault,
        config=read_config(folder / "config.json") if "config.json" in sizes else ConfigFacts(),
        base_models=_base_models(folder / "README.md") if "README.md" in sizes else (),
    )
    return _with_tokenizer(model, folder)


def inspect_tokenizer_again(model: ModelFacts, folder: Path) -> ModelFacts:
    """The same facts with the tokenizer that is in the folder now. Raises `OSError`."""
    return _with_tokenizer(replace(model, file_sizes=file_sizes(folder)), folder)


def _with_tokenizer(model: ModelFacts, folder: Path) -> ModelFacts:
    sizes = model.file_sizes
    return replace(
        model,
        tokenizer=_tokenizer(folder / _DETOKENIZER) if _DETOKENIZER in sizes else None,
        has_other_template=_has_other_template(folder)
        if {_TOKENIZER, _TEMPLATE_FILE} <= sizes.keys()
        else False,
    )


def _graph(path: Path) -> tuple[IrGraph | None, str]:
    try:
        return read_ir_graph(read_chunks(path)), ""
    except IrError as error:
        return None, str(error)
    except OSError as error:
        return None, error.strerror or repr(error)


def read_chunks(path: Path, *, start: int = 0) -> Iterator[bytes]:
    """The file from a byte on, in pieces as `read_ir_graph` wants them."""
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def read_config(path: Path) -> ConfigFacts:
    """What a config.json says; one that cannot be read says nothing."""
    try:
        loaded = json_object(path)
    except OSError:
        loaded = None
    if loaded is None:
        return ConfigFacts()
    text_config = loaded.get("text_config")
    config = {**loaded, **text_config} if isinstance(text_config, dict) else loaded
    dflash = config.get("dflash_config")
    draft = {**dflash, **config} if isinstance(dflash, dict) else config
    return ConfigFacts(
        is_readable=True,
        architectures=texts_of(loaded.get("architectures")),
        hidden_size=_count(config.get("hidden_size")),
        layer_count=_layers(config.get("num_hidden_layers")),
        vocabulary=_count(config.get("vocab_size")),
        layer_types=texts_of(config.get("layer_types")),
        block_size=_count(draft.get("block_size")),
        mask_token_id=next(iter(_ids(draft.get("mask_token_id"))), None),
        target_layer_ids=_ids(draft.get("target_layer_ids")),
        target_layer_count=_layers(draft.get("num_target_layers")),
        window_tokens=_window(config),
        pad_token_ids=_ids(config.get("pad_token_id")),
        eos_token_ids=_ids(config.get("eos_token_id")),
        has_own_code="auto_map" in loaded,
    )


def _window(config: dict[str, Any]) -> int | None:
    types = texts_of(config.get("layer_types"))
    is_limited = config.get("use_sliding_window") is True or "sliding_attention" in types
    return _count(config.get("sliding_window")) if is_limited else None


def _has_other_template(folder: Path) -> bool:
    """Whether chat_template.jinja is another one than the tokenizer's, which alone is used."""
    graph, _ = _graph(folder / _TOKENIZER)
    used = None if graph is None else graph.rt_info.get((_TEMPLATE_ENTRY,))
    try:
        with (folder / _TEMPLATE_FILE).open("rb") as file:
            beside = file.read(_TEMPLATE_LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    return used is not None and used.split() != beside.split()


def _tokenizer(path: Path) -> TokenizerFacts | None:
    graph, _ = _graph(path)
    if graph is None:
        return None
    layers = {layer.id: layer for layer in graph.layers}
    vocabulary = None
    for decoder in graph.layers:
        source, _ = graph.sources.get((decoder.id, 1), (-1, -1))
        if decoder.type == "VocabDecoder" and source in layers:
            shapes = [output.shape for output in layers[source].outputs]
            vocabulary = _count(shapes[0][0]) if shapes and len(shapes[0]) == 1 else None
    return TokenizerFacts(
        vocabulary=vocabulary,
        pad_token_id=parse_integer(graph.rt_info.get(("pad_token_id",), "")),
        eos_token_id=parse_integer(graph.rt_info.get(("eos_token_id",), "")),
    )


def _base_models(card: Path) -> tuple[str, ...]:
    """`base_model` in the head of a model card: one name, or a list of them."""
    try:
        with card.open("rb") as file:
            lines = file.read(_CARD_LIMIT_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    if not lines or lines[0].strip() != "---":
        return ()
    names: list[str] = []
    is_inside = False
    for line in lines[1:]:
        key, colon, value = line.partition(":")
        if line.strip() == "---":
            break
        if is_inside and line.lstrip().startswith("- "):
            names.append(line.lstrip()[2:])
        else:
            is_inside = bool(colon) and key == "base_model"
            names += [value] if is_inside and value.strip() else []
    return tuple(plain for name in names if (plain := name.strip().strip("\"'[]")))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _layers(value: object) -> int | None:
    """Rules go through all layers: a number that no model has would keep them busy for ever."""
    count = _count(value)
    return count if count is not None and count <= _LAYER_LIMIT else None


def _ids(value: object) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(one for one in values if isinstance(one, int) and not isinstance(one, bool))


def _unreadable(folder: Path, error: OSError) -> Problem:
    return Problem(
        code="folder_unreadable",
        headline=f"“{folder.name}” cannot be read.",
        advice="Check that the folder is there and that you may open it.",
        detail=str(error),
        remedies=(Remedy.CHOOSE_MODEL,),
    )
