"""The starter draft's checkpoint, made again from its int8 export, which comes with the program.

Its weights lie on the grid of that export: packed as int8 once more they are the same, so that an
exporter that does its work reaches exactly what the shipped draft reaches.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from dflash_desktop.paths import resources_dir
from tests.exporting.checkpoints import Stored, write_safetensors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy import float32
    from numpy.typing import NDArray
    from openvino import Node

_WEIGHT: Final = "._openvino_orig_weight"


def write_starter_checkpoint(folder: Path) -> Path:
    """config.json and 63 MB of 32-bit weights; a second."""
    import openvino

    draft = resources_dir() / "starter" / "draft"
    folder.mkdir(parents=True)
    config = json.loads((draft / "config.json").read_text("utf-8"))
    config |= {"dtype": "float32", "torch_dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    tensors: dict[str, Stored] = {}
    for node in openvino.Core().read_model(draft / "openvino_model.xml").get_ops():
        name = node.get_friendly_name()
        if name.endswith(f"{_WEIGHT}/fq_weights_1"):
            stem = name.removesuffix(f"{_WEIGHT}/fq_weights_1").removeprefix("self.")
            tensors[f"{stem}.weight"] = _stored(_unpacked(node))
        elif "norm/aten::mul/Multiply_1" in name and node.get_type_name() == "Multiply":
            stem = name.split("/")[0].removeprefix("__module.")
            tensors[f"{stem}.weight"] = _stored(_constant(node, 0).reshape(-1))
    write_safetensors(folder / "model.safetensors", tensors)
    return folder


def _unpacked(node: Node) -> NDArray[float32]:
    """(weight - zero point) x scale, as the graph itself computes it."""
    difference = node.input_value(0).get_node()
    weight, zero = _constant(difference, 0), _constant(difference, 1)
    return (weight - zero) * _constant(node, 1)


def _constant(node: Node, side: int) -> NDArray[float32]:
    """The numbers of the operand; of a norm they are on one side or the other."""
    for operand in (side, 1 - side):
        source = node.input_value(operand).get_node()
        while source.get_type_name() == "Convert":
            source = source.input_value(0).get_node()
        if source.get_type_name() == "Constant":
            values: NDArray[float32] = source.data.astype("float32")
            return values
    raise AssertionError(f"{node.get_friendly_name()} multiplies no constant")


def _stored(values: NDArray[float32]) -> Stored:
    return Stored("F32", tuple(values.shape), values.tobytes())
