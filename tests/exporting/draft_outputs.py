"""What a draft answers to one made-up block, to compare exports of one checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from numpy import float32
    from numpy.typing import NDArray

_BLOCK = 8
_CONTEXT = 32


def draft_output(folder: Path) -> NDArray[float32]:
    """Its last hidden states, for the same numbers every time."""
    import numpy as np
    import openvino

    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    model = openvino.Core().compile_model(folder / "openvino_model.xml", "CPU", exact)
    widths = {port.any_name: port.partial_shape for port in model.inputs}
    numbers = np.random.default_rng(1)

    def made_up(name: str, count: int) -> NDArray[float32]:
        width = widths[name][2].get_length()
        return numbers.normal(0, 1, (1, count, width)).astype(np.float32)

    count = _CONTEXT + _BLOCK
    inputs = {
        "inputs_embeds": made_up("inputs_embeds", _BLOCK),
        "hidden_states": made_up("hidden_states", _CONTEXT),
        "position_ids": np.arange(count, dtype=np.int64)[None],
        "attention_mask": np.ones((1, count), dtype=np.int64),
        "beam_idx": np.zeros(1, dtype=np.int32),
    }
    answer: NDArray[float32] = model.create_infer_request().infer(inputs)["last_hidden_state"]
    return answer.copy()


def difference(found: NDArray[float32], exact: NDArray[float32]) -> tuple[float, float]:
    """The relative error, and the cosine."""
    import numpy as np

    error = float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    product = float(np.vdot(found, exact))
    return error, product / float(np.linalg.norm(found) * np.linalg.norm(exact))
