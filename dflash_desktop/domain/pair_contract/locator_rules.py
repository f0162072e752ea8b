"""Rules for the target's entry `hidden_states_decoder_layers`: where its layers can be read.

The runtime looks up only the layers that the draft asks for, so a fault elsewhere warns.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.locators import ANNOTATION, Locator
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dflash_desktop.domain.ir_graph import IrGraph, IrLayer
    from dflash_desktop.domain.model_facts import ModelFacts

_ANNOTATE_AGAIN: Final = "Export the target again with a current exporter."
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
        yield _finding("locators_invalid", "text that is no list of layers", blocks=blocks)
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
        yield _finding(code, found + (f"; {more} more" if more else ""), blocks=bool(needed))


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
            remedy=_ANNOTATE_AGAIN,
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
            remedy=f"Measure whether the draft pays. {_ANNOTATE_AGAIN}",
        )


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


def _finding(code: str, found: str, *, blocks: bool) -> Finding:
    return Finding(
        code,
        Weight.BLOCK if blocks else Weight.WARN,
        Subject.TARGET,
        expected=f"{ANNOTATION}: for each layer one output of one node, as wide as a hidden state",
        found=found,
        where="rt_info",
        remedy=_ANNOTATE_AGAIN,
    )


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
