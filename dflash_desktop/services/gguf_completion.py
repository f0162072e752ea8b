"""What GenAI's conversion of a GGUF file leaves out, written into the model's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.ir_reader import IrError
from dflash_desktop.domain.locators import LocatorError
from dflash_desktop.domain.pair_contract import Finding, Weight, check_contract
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.rt_info_edit import RtInfoEditError
from dflash_desktop.services import gguf_problems as problems
from dflash_desktop.services.atomic_file import write_json
from dflash_desktop.services.model_inspection import inspect_model, installed_runtime
from dflash_desktop.services.rt_info_file import annotate_layers
from dflash_desktop.workers.model_folder import MODEL_XML

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dflash_desktop.domain.gguf_import import GgufFile
    from dflash_desktop.domain.gguf_model import GgufModel

SOURCE_NAME: Final = "gguf_source.json"
"""Says in the model's folder what it was made from."""


def complete_model(
    folder: Path, source: GgufFile, made_from: Mapping[str, str], *, as_int8: bool
) -> tuple[Finding, ...]:
    """Add what GenAI's conversion leaves out, and hold the model against the contract.

    `made_from` are the hashes of the source's parts, by name.
    Blocking. Raises `AppError` and `OSError`.
    """
    model = source.model
    try:
        annotate_layers(
            folder / MODEL_XML, hidden_size=model.hidden_size, layer_count=model.layer_count
        )
    except (IrError, LocatorError, RtInfoEditError) as error:
        raise AppError(problems.unusable(str(error))) from error
    precision = "int8" if as_int8 else model.precision
    write_json(folder / "config.json", _config(model))
    write_json(folder / "openvino_config.json", {"dtype": precision})
    write_json(folder / SOURCE_NAME, _source_facts(source, made_from))
    findings = check_contract(inspect_model(folder), None, runtime=installed_runtime())
    blocking = [finding for finding in findings if finding.weight is Weight.BLOCK]
    if blocking:
        words = "; ".join(f"{one.code}: {one.found}" for one in blocking)
        raise AppError(problems.unusable(words))
    return findings


def _config(model: GgufModel) -> dict[str, object]:
    config: dict[str, object] = {
        "architectures": [model.class_name],
        "model_type": model.architecture,
        "hidden_size": model.hidden_size,
        "num_hidden_layers": model.layer_count,
        "vocab_size": model.vocabulary,
        "max_position_embeddings": model.context_tokens,
    }
    if model.eos_token_id is not None:
        config["eos_token_id"] = model.eos_token_id
    if model.pad_token_id is not None:
        config["pad_token_id"] = model.pad_token_id
    return config


def _source_facts(source: GgufFile, made_from: Mapping[str, str]) -> dict[str, object]:
    """No path: the file may lie in a folder with a person's name."""
    return {
        "version": 1,
        "files": ", ".join(f"{name} {sha256}" for name, sha256 in sorted(made_from.items())),
        "size_bytes": source.size_bytes,
        "name": source.model.name,
        "weight_types": ", ".join(source.model.weight_types),
        "runtime": installed_runtime(),
    }
