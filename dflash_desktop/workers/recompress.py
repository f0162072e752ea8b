"""Weights of a converted model in the form that processors multiply fastest.

A GGUF file's Q4_1 weights come in groups of 32, which a processor without 4-bit instructions has
to unpack group by group for every row that it multiplies. A draft makes the target verify several
rows at once, so it pays for that several times. In int8 with one scale for each output channel
the same weights verify four rows in 17 to 22 ms instead of 27 (measured on two AVX2 cores with
the starter's target, which grows from 92 to 138 MB).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_INT8_MAX: Final = 127


def recompress_to_int8(
    source_xml: Path,
    target_xml: Path,
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Write the model again with int8 weights, symmetric, one scale a channel; returns how many.

    Touches only the constant two-dimensional weights of matrix multiplications: names, inputs,
    outputs and everything else stay. `target_xml` must lie in another folder, since OpenVINO
    keeps the source's weights mapped while it writes.
    """
    import openvino as ov

    core = ov.Core()
    model = core.read_model(source_xml)
    products = [
        node
        for node in model.get_ordered_ops()
        if node.get_type_name() == "MatMul" and _has_constant_matrix(node)
    ]
    for count, node in enumerate(products, start=1):
        weights = _unpacked(core, node.input_value(1))
        packed = _int8_subgraph(weights, name=node.get_friendly_name())
        node.input(1).replace_source_output(packed.output(0))
        on_progress(count, len(products))
    ov.save_model(model, target_xml, compress_to_fp16=False)
    return len(products)


def _has_constant_matrix(node: Any) -> bool:  # noqa: ANN401 - openvino's own stubs are skipped
    """True if the second input is a [output, input] matrix that depends on no model input."""
    weights = node.input_value(1)
    shape = weights.get_partial_shape()
    if shape.is_dynamic or len(shape) != 2 or not node.get_attributes()["transpose_b"]:
        return False
    waiting = [weights.get_node()]
    while waiting:
        source = waiting.pop()
        if source.get_type_name() in {"Parameter", "ReadValue"}:
            return False
        waiting += [port.get_source_output().get_node() for port in source.inputs()]
    return True


def _unpacked(core: Any, output: Any) -> NDArray[np.float32]:  # noqa: ANN401
    """The plain values behind a compressed constant, computed by the runtime itself."""
    import openvino as ov
    from openvino import opset13 as ops

    values = ov.Model([ops.result(ops.convert(output, "f32"))], [])
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    result: NDArray[np.float32] = core.compile_model(values, "CPU", exact)([])[0].copy()
    return result


def _int8_subgraph(weights: NDArray[np.float32], *, name: str) -> Any:  # noqa: ANN401
    """Constant int8 → f16, times a scale for each row, → f32: the form that plugins recognise."""
    import numpy as np
    from openvino import opset13 as ops

    scale = (np.abs(weights).max(axis=1, keepdims=True) / _INT8_MAX).astype(np.float16)
    scale[scale == 0] = 1.0  # of zeros, and of what is zero in f16
    rounded = np.round(weights / scale.astype(np.float32))
    values = np.clip(rounded, -_INT8_MAX, _INT8_MAX).astype(np.int8)
    scaled = ops.multiply(ops.convert(ops.constant(values), "f16"), ops.constant(scale))
    packed = ops.convert(scaled, "f32")
    packed.set_friendly_name(f"{name}/int8_weights")
    return packed
