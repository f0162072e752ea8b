"""A small target and its draft as files: graphs like an exporter's, with weights of zeros.

Built as text, so that a test can damage one thing and leave all others whole.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path

LAYERS = 6
HIDDEN = 128
VOCABULARY = 2048
RUNTIME = "2026.4.1-22982-e213a147257-releases/2026/4"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """One model's folder, and ways to damage it; each raises if it would change nothing."""

    folder: Path

    def edit(self, old: str, new: str, *, file: str = "openvino_model.xml") -> None:
        path = self.folder / file
        text = path.read_text("utf-8")
        assert old in text, old
        path.write_text(text.replace(old, new), encoding="utf-8")

    def configure(self, **fields: object) -> None:
        """Change fields of config.json; None takes one out."""
        path = self.folder / "config.json"
        config = {**json.loads(path.read_text("utf-8")), **fields}
        kept = {key: value for key, value in config.items() if value is not None}
        path.write_text(json.dumps(kept), encoding="utf-8")

    def annotate(self, change: object) -> None:
        """Replace the locators by this JSON value, or by this very text."""
        path = self.folder / "openvino_model.xml"
        head, _, rest = path.read_text("utf-8").partition("<hidden_states_decoder_layers")
        value = change if isinstance(change, str) else json.dumps(change)
        entry = f'<hidden_states_decoder_layers value="{html.escape(value)}"/>'
        path.write_text(head + entry + rest.partition("/>")[2], encoding="utf-8")

    def remove(self, file: str) -> None:
        (self.folder / file).unlink()

    def cut(self, file: str, size: int = 10) -> None:
        data = (self.folder / file).read_bytes()
        assert len(data) > size
        (self.folder / file).write_bytes(data[:size])

    def write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text, encoding="utf-8")


class GraphText:
    """Collects nodes and edges; every output is number 0 of its node's ports."""

    def __init__(self) -> None:
        self._layers: list[str] = []
        self._edges: list[str] = []
        self.weight_bytes = 0

    def add(
        self, name: str, kind: str, shape: tuple[int, ...], *sources: int, names: str = ""
    ) -> int:
        node = len(self._layers)
        dims = "".join(f"<dim>{dim}</dim>" for dim in shape)
        inputs = "".join(f'<port id="{port}">{dims}</port>' for port in range(len(sources)))
        port = f'<port id="{len(sources)}" precision="FP32" names="{names}">{dims}</port>'
        data = ""
        if kind == "Const":
            data = f'<data element_type="f32" offset="{self.weight_bytes}" size="64"/>'
            self.weight_bytes += 64
        self._layers.append(
            f'\t\t<layer id="{node}" name="{name}" type="{kind}" version="opset1">{data}'
            f"<input>{inputs}</input><output>{port}</output></layer>\n"
        )
        for port_id, source in enumerate(sources):
            self._connect(source, node, port_id)
        return node

    def result(self, name: str, source: int) -> None:
        node = len(self._layers)
        self._layers.append(
            f'\t\t<layer id="{node}" name="{name}" type="Result" version="opset1" '
            f'output_names="{name}"><input><port id="0"/></input></layer>\n'
        )
        self._connect(source, node, 0)

    def parameter(self, name: str, *shape: int) -> int:
        return self.add(name, "Parameter", shape, names=name)

    def _connect(self, source: int, node: int, port: int) -> None:
        source_port = self._layers[source].count("<port ") - 1
        self._edges.append(
            f'\t\t<edge from-layer="{source}" from-port="{source_port}" '
            f'to-layer="{node}" to-port="{port}"/>\n'
        )

    def xml(self, rt_info: str) -> str:
        return (
            '<?xml version="1.0"?>\n<net name="Model0" version="11">\n'
            f"\t<layers>\n{''.join(self._layers)}\t</layers>\n"
            f"\t<edges>\n{''.join(self._edges)}\t</edges>\n"
            f'\t<rt_info>\n\t\t<Runtime_version value="{RUNTIME}"/>\n{rt_info}'
            "\t</rt_info>\n</net>\n"
        )


def target_graph(layers: int = LAYERS, *, constants_per_layer: int = 1) -> GraphText:
    """A decoder as optimum-intel names its nodes."""
    graph = GraphText()
    hidden = (-1, -1, HIDDEN)
    tokens = graph.parameter("input_ids", -1, -1)
    graph.parameter("attention_mask", -1, -1)
    graph.parameter("position_ids", -1, -1)
    graph.parameter("beam_idx", -1)
    graph.add("past", "ReadValue", (-1, -1, -1, -1))
    embedding = graph.add("embedding", "Const", (VOCABULARY, HIDDEN))
    state = graph.add("embedded", "Gather", hidden, embedding, tokens)
    for layer in range(layers):
        scope = f"__module.model.layers.{layer}"
        weights = [
            graph.add(f"{scope}.weights.{number}", "Const", (HIDDEN, HIDDEN))
            for number in range(constants_per_layer)
        ]
        product = graph.add(f"{scope}.mlp/aten::mul/Multiply", "Multiply", hidden, state, state)
        down = graph.add(f"{scope}.mlp.down_proj/MatMul", "MatMul", hidden, product, weights[0])
        state = graph.add(f"{scope}/aten::add/Add_1", "Add", hidden, state, down)
    head = graph.add("lm_head", "MatMul", (-1, -1, VOCABULARY), state, embedding, names="logits")
    graph.result("logits", head)
    return graph


def locators(layers: int = LAYERS) -> dict[str, dict[str, object]]:
    """The annotation of `target_graph`, by layer."""
    return {
        str(layer): {
            "producer": f"__module.model.layers.{layer}/aten::add/Add_1",
            "output_index": 0,
        }
        for layer in range(layers)
    }


def write_target(
    folder: Path, *, layers: int = LAYERS, constants_per_layer: int = 1
) -> ModelFiles:
    """A whole target with locators, tokenizer and config."""
    folder.mkdir(parents=True)
    files = ModelFiles(folder)
    graph = target_graph(layers, constants_per_layer=constants_per_layer)
    value = html.escape(json.dumps({"layers": locators(layers)}))
    entry = f'\t\t<hidden_states_decoder_layers value="{value}"/>\n'
    _write_graph(folder, "openvino_model", graph, entry)
    for name in ("openvino_tokenizer", "openvino_detokenizer"):
        special = '\t\t<eos_token_id value="1"/>\n\t\t<pad_token_id value="0"/>\n'
        _write_graph(folder, name, _detokenizer_graph(), special)
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "hidden_size": HIDDEN,
        "num_hidden_layers": layers,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": 4096,
        "layer_types": ["full_attention"] * layers,
        "eos_token_id": 1,
        "pad_token_id": 0,
    }
    files.write("config.json", json.dumps(config))
    return files


def write_draft(folder: Path) -> ModelFiles:
    """A whole draft of that target, which reads its layers 1, 2 and 3."""
    folder.mkdir(parents=True)
    files = ModelFiles(folder)
    graph = GraphText()
    embeds = graph.parameter("inputs_embeds", -1, -1, HIDDEN)
    states = graph.parameter("hidden_states", -1, -1, 3 * HIDDEN)
    graph.parameter("position_ids", -1, -1)
    graph.parameter("attention_mask", -1, -1)
    graph.parameter("beam_idx", -1)
    graph.add("past", "ReadValue", (-1, -1, -1, -1))
    weights = graph.add("fc.weight", "Const", (HIDDEN, 3 * HIDDEN))
    narrowed = graph.add("fc", "MatMul", (-1, -1, HIDDEN), states, weights)
    summed = graph.add("sum", "Add", (-1, -1, HIDDEN), embeds, narrowed)
    proposed = graph.add("proposed", "Slice", (-1, -1, HIDDEN), summed)
    graph.result("last_hidden_state", proposed)
    dflash = (
        '\t\t<dflash><mask_token_id value="3"/><target_layer_ids value="1,2,3"/></dflash>\n'
        '\t\t<dflash_mode value="True"/>\n'
    )
    _write_graph(folder, "openvino_model", graph, dflash)
    config = {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "block_size": 8,
        "hidden_size": HIDDEN,
        "num_hidden_layers": 2,
        "num_target_layers": LAYERS,
        "vocab_size": VOCABULARY,
        "dflash_config": {"mask_token_id": 3, "target_layer_ids": [1, 2, 3]},
    }
    files.write("config.json", json.dumps(config))
    return files


def _detokenizer_graph() -> GraphText:
    graph = GraphText()
    tokens = graph.parameter("tokens", -1, -1)
    begins = graph.add("begins", "Const", (VOCABULARY,))
    decoded = graph.add("decoded", "VocabDecoder", (-1, -1), tokens, begins)
    graph.result("string_output", decoded)
    return graph


def _write_graph(folder: Path, name: str, graph: GraphText, rt_info: str) -> None:
    (folder / f"{name}.xml").write_text(graph.xml(rt_info), encoding="utf-8")
    (folder / f"{name}.bin").write_bytes(bytes(graph.weight_bytes))
