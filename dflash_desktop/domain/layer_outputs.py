"""Finds in a graph where each decoder layer's hidden state leaves it.

Two ways of naming are known: that of GenAI's GGUF reader, and the scopes of traced PyTorch code,
as optimum-intel exports it. The rule for scopes gave exactly optimum-intel's own annotation on
every architecture that it annotates (qwen3, qwen3_moe, qwen3_5, gemma4), and drafts are accepted
by it on others (llama, qwen2_5_vl). Wherever more than one value could be meant, nothing is
guessed: a wrong place is silent, and costs all that a draft gains.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.locators import Locator, LocatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dflash_desktop.domain.ir_graph import IrGraph, IrLayer

_GGUF_PRODUCER: Final = re.compile(r"model\.layers\.self_attn\.add1\.layer(0|[1-9][0-9]{0,4})")
_SCOPE: Final = re.compile(r"(__module(?:\.[^./]+)*?\.layers)\.(0|[1-9][0-9]{0,4})(?=[./])")
_HEAD_STEPS: Final = 16
"""Between the head and the logits stand a cast or a soft cap, some nodes at most."""
_SHOWN: Final = 5

_Value = tuple[int, int]
"""One output of one node: the node's id and its position among the node's outputs."""


def find_layer_outputs(
    graph: IrGraph, *, hidden_size: int | None = None, layer_count: int | None = None
) -> tuple[Locator, ...]:
    """The locators of all layers, first to last.

    `hidden_size` and `layer_count` are what config.json says, where it says it. Raises
    `LocatorError` unless each layer has exactly one value that can be meant.
    """
    found = _by_gguf_names(graph) or _ByScopes(graph).find()
    if layer_count is not None and len(found) != layer_count:
        raise LocatorError(f"the model has {layer_count} layers, the graph {len(found)}")
    _check(graph, found, hidden_size)
    return found


def _by_gguf_names(graph: IrGraph) -> tuple[Locator, ...]:
    """Empty for a graph that is not named that way."""
    matches = [m for node in graph.layers if (m := _GGUF_PRODUCER.fullmatch(node.name))]
    names = {int(match[1]): match[0] for match in matches}
    if missing := sorted(set(range(max(names, default=-1) + 1)) - names.keys()):
        raise LocatorError(f"no producer of a hidden state for the layers {_listed(missing)}")
    return tuple(Locator(names[layer]) for layer in sorted(names))


def _check(graph: IrGraph, found: Sequence[Locator], hidden_size: int | None) -> None:
    """Each is one node's, and all are hidden states of one width."""
    counts = Counter(node.name for node in graph.layers)
    nodes = {node.name: node for node in graph.layers}
    width = hidden_size
    for locator in found:
        if counts[locator.producer] > 1:
            raise LocatorError(f"{counts[locator.producer]} nodes are called {locator.producer}")
        outputs = nodes[locator.producer].outputs
        shape = outputs[locator.output_index].shape if outputs else ()
        width = width or shape[-1] if shape else width
        if len(shape) != 3 or shape[2] <= 0 or shape[2] != width:
            raise LocatorError(f"{locator.producer} gives {list(shape)}, not [?, ?, {width}]")


class _ByScopes:
    """The one hidden-width value that leaves each layer's scope."""

    def __init__(self, graph: IrGraph) -> None:
        self._graph = graph
        self._nodes = {node.id: node for node in graph.layers}
        self._positions = {
            (node.id, output.port): (node.id, position)
            for node in graph.layers
            for position, output in enumerate(node.outputs)
        }
        self._stack, self._scopes = _stack(graph.layers)

    def find(self) -> tuple[Locator, ...]:
        count = len(set(self._scopes.values()))
        last = self._last_hidden_state()
        width = self._shape(last)[2]
        readers = self._readers(width)
        found = [self._leaving(layer, readers) for layer in range(count - 1)]
        return tuple(Locator(self._nodes[node].name, output) for node, output in (*found, last))

    def _readers(self, width: int) -> dict[int, dict[_Value, set[int | None]]]:
        """By layer: its values of hidden width, with the layers that read them."""
        readers: dict[int, dict[_Value, set[int | None]]] = defaultdict(dict)
        for (reader, _), source in self._graph.sources.items():
            value = self._positions.get(source)
            layer = None if value is None else self._scopes.get(value[0])
            if value is None or layer is None or self._nodes[value[0]].type == "Const":
                continue
            shape = self._shape(value)
            if len(shape) == 3 and shape[2] == width:
                readers[layer].setdefault(value, set()).add(self._scopes.get(reader))
        return readers

    def _leaving(self, layer: int, readers: dict[int, dict[_Value, set[int | None]]]) -> _Value:
        """First what goes straight into the next layer: a vision model's own additions may stand
        between two layers (Qwen3-VL), but without need the wider rule is ambiguous (gemma4, MoE).
        """
        rules: tuple[Callable[[int | None], bool], ...] = (
            lambda reader: reader == layer + 1,
            lambda reader: reader != layer,
        )
        found: list[_Value] = []
        for counts in rules:
            found = [value for value, scopes in readers[layer].items() if any(map(counts, scopes))]
            if found:
                break
        if len(found) != 1:
            names = sorted(self._nodes[node].name for node, _ in found)
            which = f": {', '.join(names[:_SHOWN])}" if names else ""
            raise LocatorError(f"layer {layer} has {len(names)} values that leave it{which}")
        return found[0]

    def _last_hidden_state(self) -> _Value:
        """What the head reads: walked back from the logits to the first matrix product."""
        node = self._logits()
        for _ in range(_HEAD_STEPS):
            source = self._graph.sources.get((node.id, 0), (-1, -1))
            if node.type == "MatMul":
                value = self._positions.get(source)
                if value is None or len(self._shape(value)) != 3 or self._shape(value)[2] <= 0:
                    break
                return value
            if source[0] not in self._nodes:
                break
            node = self._nodes[source[0]]
        raise LocatorError("no matrix product leads to the output logits")

    def _logits(self) -> IrLayer:
        for node in self._graph.layers:
            source, port = self._graph.sources.get((node.id, 0), (-1, -1))
            if node.type != "Result" or source not in self._nodes:
                continue
            fed = {name for o in self._nodes[source].outputs if o.port == port for name in o.names}
            if "logits" in {node.name, *node.result_names, *fed}:
                return self._nodes[source]
        raise LocatorError("the graph has no output logits")

    def _shape(self, value: _Value) -> tuple[int, ...]:
        return self._nodes[value[0]].outputs[value[1]].shape


def _stack(nodes: Iterable[IrLayer]) -> tuple[str, dict[int, int]]:
    """The one stack of layers, by its name, and the layer that each of its nodes belongs to."""
    stacks: dict[str, dict[int, int]] = defaultdict(dict)
    for node in nodes:
        if match := _SCOPE.match(node.name):
            stacks[match[1]][node.id] = int(match[2])
    whole = {
        name: layers
        for name, layers in stacks.items()
        if (numbers := set(layers.values())) == set(range(len(numbers)))
    }
    if not whole:
        raise LocatorError("no nodes are named by decoder layers")
    if len(whole) > 1:
        raise LocatorError(f"{len(whole)} stacks of layers: {', '.join(sorted(whole)[:_SHOWN])}")
    return next(iter(whole.items()))


def _listed(layers: Sequence[int]) -> str:
    shown = ", ".join(map(str, layers[:_SHOWN]))
    return f"{shown} and {len(layers) - _SHOWN} more" if len(layers) > _SHOWN else shown
