"""What the XML of an OpenVINO model (an IR) says, without its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class IrOutput:
    """One output of a node; a dynamic dimension is -1."""

    port: int
    names: tuple[str, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IrLayer:
    """A node of the outer graph; nodes in the bodies of loops cannot be reached by name."""

    id: int
    name: str
    type: str
    outputs: tuple[IrOutput, ...]
    result_names: tuple[str, ...] = ()  # of a Result only


@dataclass(frozen=True, slots=True)
class Span:
    """Where an element is in the text, in bytes.

    `end` is where its end tag begins; for an element without one, where it ends.
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RtInfoMarks:
    """What an edit of the model's rt_info needs to know about the text."""

    elements: Mapping[tuple[str, ...], tuple[Span, ...]]
    """By path; the empty path is the rt_info block itself. More than one is a repeated element."""
    net_end: int
    """Where `</net>` begins, in bytes."""


@dataclass(frozen=True, slots=True)
class IrGraph:
    """An IR's nodes in the order of execution, its edges, and its rt_info."""

    layers: tuple[IrLayer, ...]
    sources: Mapping[tuple[int, int], tuple[int, int]]
    """(node, input port) to the (node, output port) that feeds it."""
    rt_info: Mapping[tuple[str, ...], str]
    needed_weight_bytes: int
    """How large the .bin must at least be."""
    marks: RtInfoMarks = field(default=RtInfoMarks({}, 0), compare=False)
    largest_constant_bytes: int = 0
    """Of all weights, the largest single one."""

    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Every name of every input, and its shape."""
        return {
            name: output.shape
            for layer in self.layers
            if layer.type == "Parameter"
            for output in layer.outputs
            for name in (layer.name, *output.names)
        }

    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Every name of every output, and its shape as far as the XML tells it."""
        layers = {layer.id: layer for layer in self.layers}
        found: dict[str, tuple[int, ...]] = {}
        for result in self.layers:
            if result.type != "Result":
                continue
            source, port = self.sources.get((result.id, 0), (-1, -1))
            outputs = layers[source].outputs if source in layers else ()
            fed = next((output for output in outputs if output.port == port), None)
            names = (result.name, *result.result_names, *(fed.names if fed else ()))
            found.update(dict.fromkeys(names, fed.shape if fed else ()))
        return found

    def is_stateful(self) -> bool:
        """Whether it keeps its KV cache itself, as exports for text generation do."""
        return any(layer.type == "ReadValue" for layer in self.layers)

    def kv_values_per_token(self) -> int:
        """How many numbers the caches of all layers keep for one token; 0 if it keeps none.

        A cache is a state that grows along its third dimension: K and V of one layer are two.
        The states of linear attention have a fixed size and are not counted.
        """
        shapes = [
            output.shape
            for layer in self.layers
            if layer.type == "ReadValue"
            for output in layer.outputs
        ]
        return sum(
            heads * head_size
            for _, heads, length, head_size in (shape for shape in shapes if len(shape) == 4)
            if length < 0 < heads and head_size > 0
        )

    def runtime_version(self) -> str:
        """The OpenVINO that wrote it, or ""."""
        version = self.rt_info.get(("Runtime_version",))
        return version or self.rt_info.get(("OpenVINO Runtime",), "")
