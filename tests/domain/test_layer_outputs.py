"""Where layers' hidden states leave them: found where it is certain, refused where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.ir_reader import read_ir_graph
from dflash_desktop.domain.layer_outputs import find_layer_outputs
from dflash_desktop.domain.locators import Locator, LocatorError
from tests.fakes.ir_models import HIDDEN, LAYERS, VOCABULARY, GraphText, target_graph

if TYPE_CHECKING:
    from dflash_desktop.domain.ir_graph import IrGraph

GGUF = "model.layers.self_attn.add1.layer"
STATE = (-1, -1, HIDDEN)


def read(graph: GraphText) -> IrGraph:
    return read_ir_graph([graph.xml("").encode()])


def gguf_graph(*names: str, shape: tuple[int, ...] = STATE) -> IrGraph:
    graph = GraphText()
    for name in names:
        graph.add(name, "Add", shape)
    return read(graph)


def stacked(*names: str, has_additions: bool = False, soft_cap: bool = False) -> GraphText:
    """Layers that each add to the state; the nodes `names` make it, one for each layer."""
    graph = GraphText()
    state = graph.parameter("inputs_embeds", -1, -1, HIDDEN)
    for number, name in enumerate(names):
        other = graph.add(f"{name.rpartition('/')[0]}.mlp/aten::mul", "Multiply", STATE, state)
        state = graph.add(name, "Add", STATE, state, other)
        if has_additions:
            state = graph.add(f"image_{number}", "Add", STATE, state)
    state = graph.add("__module.model.norm/aten::mul", "Multiply", STATE, state)
    state = graph.add("__module.lm_head/MatMul", "MatMul", (-1, -1, VOCABULARY), state)
    if soft_cap:
        state = graph.add("tanh", "Tanh", (-1, -1, VOCABULARY), state)
        state = graph.add("scaled", "Multiply", (-1, -1, VOCABULARY), state)
    graph.result("logits", state)
    return graph


def scopes(stack: str = "__module.model.layers", count: int = 4) -> tuple[str, ...]:
    return tuple(f"{stack}.{layer}/aten::add/Add_1" for layer in range(count))


def test_a_gguf_graph_is_read_in_the_order_of_its_numbers() -> None:
    graph = gguf_graph(*(f"{GGUF}{i}" for i in (10, 2, 0, 1, *range(3, 10))), "other")
    found = find_layer_outputs(graph, hidden_size=HIDDEN, layer_count=11)
    assert found == tuple(Locator(f"{GGUF}{i}") for i in range(11))


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (gguf_graph(f"{GGUF}0", f"{GGUF}2"), "for the layers 1$"),
        (gguf_graph(f"{GGUF}0"), "3 layers, the graph 1"),
        (gguf_graph(*(f"{GGUF}{i}" for i in range(4))), "3 layers, the graph 4"),
        (gguf_graph(*(f"{GGUF}{i}" for i in (0, 1, 1, 2))), "2 nodes are called"),
        (gguf_graph(*(f"{GGUF}{i}" for i in range(3)), shape=(-1, -1, 9)), "not .*128"),
        (gguf_graph(*(f"{GGUF}{i}" for i in range(3)), shape=(-1, HIDDEN)), "not .*128"),
        (gguf_graph(f"{GGUF}9"), "0, 1, 2, 3, 4 and 4 more"),
        (gguf_graph("x", "model.layers.self_attn.add0.layer1"), "no nodes are named by decoder"),
    ],
)
def test_an_incomplete_gguf_graph_is_refused_with_the_reason(graph: IrGraph, reason: str) -> None:
    with pytest.raises(LocatorError, match=reason):
        find_layer_outputs(graph, hidden_size=HIDDEN, layer_count=3)


def test_an_exported_graph_is_read_by_its_scopes_and_its_head() -> None:
    found = find_layer_outputs(read(target_graph()), hidden_size=HIDDEN, layer_count=LAYERS)
    assert found == tuple(Locator(name) for name in scopes(count=LAYERS))


@pytest.mark.parametrize(
    "stack", ["__module.model.layers", "__module.model.model.language.layers"]
)
@pytest.mark.parametrize("soft_cap", [False, True])
def test_the_stack_may_lie_at_any_depth_and_the_head_under_a_soft_cap(
    stack: str, soft_cap: bool
) -> None:
    graph = read(stacked(*scopes(stack), soft_cap=soft_cap))
    producers = [locator.producer for locator in find_layer_outputs(graph)]
    assert producers == [*scopes(stack)[:-1], "__module.model.norm/aten::mul"]


def test_additions_between_two_layers_do_not_hide_the_layer() -> None:
    # As in Qwen3-VL, where features of the image are added after the first layers.
    found = find_layer_outputs(read(stacked(*scopes(), has_additions=True)))
    assert [locator.producer for locator in found[:-1]] == list(scopes()[:-1])


def doubled() -> GraphText:
    graph = stacked(*scopes())
    second = graph.add("__module.model.layers.1/other", "Add", STATE)
    graph.add("__module.model.layers.2/reads", "Add", STATE, second)
    return graph


def beside() -> GraphText:
    graph = stacked(*scopes())
    for name in scopes("__module.vision.layers", 2):
        graph.add(name, "Add", STATE)
    return graph


def cut_off() -> GraphText:
    graph = stacked(*scopes())
    graph.add("__module.model.layers.9/alone", "Add", STATE)
    return graph


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (doubled(), "layer 1 has 2 values that leave it: .*Add_1, .*other"),
        (beside(), "2 stacks of layers"),
        (cut_off(), "no nodes are named by decoder layers"),
        (stacked(*scopes()), "the model has 5 layers, the graph 4"),
    ],
)
def test_where_more_than_one_value_could_be_meant_nothing_is_guessed(
    graph: GraphText, reason: str
) -> None:
    with pytest.raises(LocatorError, match=reason):
        find_layer_outputs(read(graph), layer_count=5)


def test_a_graph_without_logits_is_refused() -> None:
    graph = GraphText()
    state = graph.parameter("inputs_embeds", -1, -1, HIDDEN)
    for name in scopes():
        state = graph.add(name, "Add", STATE, state)
    graph.result("last_hidden_state", state)
    with pytest.raises(LocatorError, match="no output logits"):
        find_layer_outputs(read(graph))
