"""Where each decoder layer's hidden state is in an OpenVINO graph, as the runtime is told it.

A DFlash draft reads hidden states out of its target. The runtime finds them by the entry
`hidden_states_decoder_layers` of the model's rt_info: JSON that names, for each layer, the node
that produces its hidden state. Exporters write it for some architectures only, and models that
GenAI converts from GGUF lack it; `layer_outputs` finds the places in the graph itself.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ANNOTATION: Final = "hidden_states_decoder_layers"


class LocatorError(Exception):
    """The layers' hidden states cannot be told from other values; the text says why."""


@dataclass(frozen=True, slots=True)
class Locator:
    """One output of one node: where a layer's hidden state leaves it."""

    producer: str
    output_index: int = 0


def annotation_value(locators: Sequence[Locator]) -> str:
    """The entry's text as the runtime reads it, for all layers from the first to the last."""
    layers = {
        str(layer): {"producer": locator.producer, "output_index": locator.output_index}
        for layer, locator in enumerate(locators)
    }
    return json.dumps({"layers": layers})


def parse_locators(text: str) -> dict[int, Locator] | None:
    """The annotation by layer, as the runtime reads it; None for what it calls malformed.

    An entry that it could not read is left out, since it is not read before it is needed.
    """
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return None
    layers = loaded.get("layers") if isinstance(loaded, dict) else None
    if not isinstance(layers, dict):
        return None
    found: dict[int, Locator] = {}
    for key, entry in layers.items():
        if not re.fullmatch(r"0|[1-9][0-9]{0,5}", key) or not isinstance(entry, dict):
            continue
        producer, index = entry.get("producer"), entry.get("output_index")
        if not isinstance(producer, str) or not isinstance(index, int):
            continue
        if index >= 0 and not isinstance(index, bool):
            found[int(key)] = Locator(producer, index)
    return found
