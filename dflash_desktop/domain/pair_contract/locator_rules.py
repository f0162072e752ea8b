"""Rules for the target's entry `hidden_states_decoder_layers`: where its layers can be read.

The runtime looks up only the layers that the draft asks for, so a fault elsewhere warns.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.layer_outputs import find_layer_outputs
from dflash_desktop.domain.locators import (
    ANNOTATION,
    Locator,
    LocatorError,
    parse_locators,
)
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dflash_desktop.domain.ir_graph import IrGraph, IrLayer
    from dflash_desktop.domain.model_facts import ModelFacts

_EXPORT_AGAIN: Final = "Export the target again with a current exporter."
_REPAIR: Final = "Repair it: the entry is written anew, and that can be undone."
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class _Fault:
    code: str
    layer: int
    found: str


def locators_hold(target: ModelFacts, requested: tuple[int, ...] | None) -> Iterator[Finding]:
    """Each layer's entry names one output of one node, of the right width.

    `requested` are the draft's layers inside the target; None without a draft.
    """
    text = target.rt_info(ANNOTATION)
    if target.graph is None or text is None:
        return
    locators = parse_locators(text)
    if locators is None:
        blocks = requested is not None
        yield _finding(target, "locators_invalid", "text that is no list of layers", blocks=blocks)
        return
    count = target.config.layer_count or max(locators, default=-1) + 1
    layers = set(range(count)) | set(requested or ())
    faults = _faults(target.graph, locators, layers, target.config.hidden_size)
    for code in dict.fromkeys(fault.code for fault in faults):
        of_code = [fault for fault in faults if fault.code == code]
        needed = [fault for fault in of_code if fault.layer in (requested or ())]
        shown = (needed or of_code)[:_SHOWN]
        found = "; ".join(f"layer {fault.layer}: {fault.found}" for fault in shown)
        more = len(needed or of_code) - len(shown)
        found += f"; {more} more" if more else ""
        yield _finding(target, code, found, blocks=bool(needed))
    if not faults:
        yield from _locators_agree(target, locators, requested)


def locators_present(target: ModelFacts, requested: tuple[int, ...] | None) -> Iterator[Finding]:
    """Without the entry the runtime guesses by pattern: right for plain layers, else wrong.

    It guesses silently and wrongly in the full-attention layers of hybrid models, and refuses
    when it finds nothing.
    """
    if target.graph is None or target.is_annotated():
        return
    is_hybrid = len(set(target.config.layer_types)) > 1
    lost = _unguessable(target.graph, requested or ())
    if lost:
        yield Finding(
            "locators_unguessable",
            Weight.BLOCK,
            Subject.TARGET,
            expected=f"the entry {ANNOTATION}, or layers of a known pattern",
            found=f"neither for the layers {', '.join(map(str, lost[:_SHOWN]))}",
            where=target.graph_file,
            remedy=_remedy(target),
        )
    elif requested is not None or is_hybrid:
        yield Finding(
            "locators_missing",
            Weight.WARN,
            Subject.TARGET,
            expected=f"the entry {ANNOTATION}",
            found="none, and layers of several kinds, which the runtime guesses wrongly"
            if is_hybrid
            else "none; the runtime guesses the layers by their pattern",
            where=target.graph_file,
            remedy=_remedy(target),
        )


def _faults(
    graph: IrGraph, locators: Mapping[int, Locator], layers: set[int], width: int | None
) -> list[_Fault]:
    nodes = {node.name: node for node in graph.layers}
    counts = Counter(node.name for node in graph.layers)
    uses = Counter(locators.values())
    faults: list[_Fault] = []
    for layer in sorted(layers):
        locator = locators.get(layer)
        if locator is None:
            faults.append(_Fault("locators_incomplete", layer, "no entry"))
        elif counts[locator.producer] == 0:
            faults.append(_Fault("locator_producer_missing", layer, locator.producer))
        elif counts[locator.producer] > 1:
            times = f"{counts[locator.producer]} nodes are called {locator.producer}"
            faults.append(_Fault("locator_producer_ambiguous", layer, times))
        elif uses[locator] > 1:
            faults.append(_Fault("locators_repeated", layer, locator.producer))
        else:
            faults += _shape_faults(layer, locator, nodes[locator.producer], width)
    return faults


def _shape_faults(
    layer: int, locator: Locator, node: IrLayer, width: int | None
) -> Iterator[_Fault]:
    if locator.output_index >= len(node.outputs):
        found = f"{node.name} has no output {locator.output_index}"
        yield _Fault("locator_output_missing", layer, found)
        return
    shape = node.outputs[locator.output_index].shape
    if len(shape) != 3 or shape[2] < 0 or (width is not None and shape[2] != width):
        yield _Fault("locator_width_wrong", layer, f"{node.name} gives {list(shape)}")


def _finding(target: ModelFacts, code: str, found: str, *, blocks: bool) -> Finding:
    return Finding(
        code,
        Weight.BLOCK if blocks else Weight.WARN,
        Subject.TARGET,
        expected=f"{ANNOTATION}: for each layer one output of one node, as wide as a hidden state",
        found=found,
        where="rt_info",
        remedy=_remedy(target),
    )


def _locators_agree(
    target: ModelFacts, locators: Mapping[int, Locator], requested: tuple[int, ...] | None
) -> Iterator[Finding]:
    """A whole entry may still name other places than the layers' outputs.

    Nothing refuses that, and the draft is fed with what it was not trained on. The last layer is
    left out: whether it counts before or after the final norm is the exporter's choice.
    """
    ours = layer_outputs(target) or ()
    other = {
        layer: locators[layer].producer
        for layer, locator in enumerate(ours[:-1])
        if layer in locators and locators[layer] != locator and layer in (requested or locators)
    }
    if other:
        named = [f"layer {layer}: {producer}" for layer, producer in other.items()]
        yield Finding(
            "locators_differ",
            Weight.WARN,
            Subject.TARGET,
            expected=f"layer {min(other)}: {ours[min(other)].producer}, which leaves that layer",
            found="; ".join(named[:_SHOWN]),
            where="rt_info",
            remedy=_REPAIR,
        )


def layer_outputs(target: ModelFacts) -> tuple[Locator, ...] | None:
    """Where the layers' hidden states are by the graph itself; None where that is not certain."""
    if target.graph is None:
        return None
    config = target.config
    try:
        return find_layer_outputs(
            target.graph, hidden_size=config.hidden_size, layer_count=config.layer_count
        )
    except LocatorError:
        return None


def _remedy(target: ModelFacts) -> str:
    return _EXPORT_AGAIN if layer_outputs(target) is None else _REPAIR


def _unguessable(graph: IrGraph, requested: tuple[int, ...]) -> list[int]:
    """The layers for which the runtime's own search by pattern finds nothing.

    It takes the first Add called `layers.N/` whose second input is a MatMul fed by a Multiply.
    """
    by_id = {node.id: node for node in graph.layers}

    def source(node: IrLayer, port: int) -> IrLayer | None:
        return by_id.get(graph.sources.get((node.id, port), (-1, -1))[0])

    found: set[int] = set()
    for node in graph.layers:
        if node.type != "Add":
            continue
        product = source(node, 1)
        if product is None or product.type != "MatMul":
            continue
        factor = source(product, 0)
        if factor is not None and factor.type == "Multiply":
            found.update(int(n) for n in re.findall(r"layers\.([0-9]{1,5})/", node.name))
    return [layer for layer in requested if layer not in found]
