"""A real draft in other precisions: its weights unpacked, written as exporters write them."""

from __future__ import annotations

import gc
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import openvino as ov

_LAST = "Convert"


def write_unpacked(draft: Path, folder: Path, *, precision: str) -> Path:
    """The int8 draft with whole weights: "fp16" as exporters halve them, or "f32"."""
    import openvino as ov  # tests that need none of this run without it

    core = ov.Core()
    model = core.read_model(draft / "openvino_model.xml")
    for constant in model.get_ordered_ops():
        if constant.get_type_name() == "Constant" and constant.get_element_type() == ov.Type.u8:
            _unpack(core, constant)
    model.validate_nodes_and_infer_types()
    folder.mkdir()
    for name in ("config.json", "openvino_config.json"):
        shutil.copyfile(draft / name, folder / name)
    ov.save_model(model, folder / "openvino_model.xml", compress_to_fp16=precision == "fp16")
    del model
    gc.collect()  # the file of the original's weights is mapped until then
    return folder


def _unpack(core: ov.Core, constant: ov.Node) -> None:
    """Put the product of packed numbers, zero points and scales where it is made."""
    import openvino as ov
    from openvino import opset13

    node = constant
    while not (node.get_type_name() == _LAST and node.get_element_type() == ov.Type.f32):
        (only,) = node.output(0).get_target_inputs()
        node = only.get_node()
        if node.get_type_name() == "Subtract" and only.get_index() == 1:
            return  # a zero point: it goes with its weights
    computed = core.compile_model(ov.Model([node.output(0)], []), "CPU")
    values = next(iter(computed([]).values()))
    whole = opset13.constant(values, ov.Type.f32)
    whole.set_friendly_name(constant.get_friendly_name())
    for place in node.output(0).get_target_inputs():
        place.replace_source_output(whole.output(0))
