"""Ways to damage a good pair of `ir_models`, each with the code that must be found for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from tests.fakes.ir_models import VOCABULARY, ModelFiles, locators

LAYER_2 = "__module.model.layers.2/aten::add/Add_1"
Damage = Callable[[ModelFiles, ModelFiles], object]


def all_of(*damages: Damage) -> Damage:
    """One damage after the other."""

    def apply(target: ModelFiles, draft: ModelFiles) -> None:
        for damage in damages:
            damage(target, draft)

    return apply


def changed_locators(**changes: object) -> dict[str, object]:
    layers = {**locators(), **{key.removeprefix("layer"): value for key, value in changes.items()}}
    return {"layers": {key: value for key, value in layers.items() if value is not None}}


def strip_locators(target: ModelFiles) -> None:
    target.edit("<hidden_states_decoder_layers", "<other")


def make_vision(target: ModelFiles) -> None:
    for kind in ("xml", "bin"):
        path = target.folder / f"openvino_model.{kind}"
        path.rename(target.folder / f"openvino_language_model.{kind}")
        for name in ("text_embeddings_model", "vision_embeddings_model"):
            (target.folder / f"openvino_{name}.{kind}").write_bytes(b"x")


def tokens_in(draft: ModelFiles) -> None:
    draft.edit('"inputs_embeds"', '"input_ids"')


def name_mask(draft: ModelFiles, token: int) -> None:
    draft.edit('id value="3"', f'id value="{token}"')
    draft.configure(dflash_config={"mask_token_id": token, "target_layer_ids": [1, 2, 3]})


BLOCKING: dict[str, tuple[str, Damage]] = {
    "no target graph": ("target_files_missing", lambda t, d: t.remove("openvino_model.xml")),
    "no target weights": ("target_files_missing", lambda t, d: t.remove("openvino_model.bin")),
    "no draft graph": ("draft_files_missing", lambda t, d: d.remove("openvino_model.xml")),
    "no draft weights": ("draft_files_missing", lambda t, d: d.remove("openvino_model.bin")),
    "cut target graph": ("target_graph_broken", lambda t, d: t.cut("openvino_model.xml", 3000)),
    "empty target graph": ("target_graph_broken", lambda t, d: t.cut("openvino_model.xml", 0)),
    "cut draft graph": ("draft_graph_broken", lambda t, d: d.cut("openvino_model.xml", 900)),
    "draft graph is no IR": (
        "draft_graph_broken",
        lambda t, d: d.write("openvino_model.xml", "<a/>"),
    ),
    "cut target weights": ("target_weights_short", lambda t, d: t.cut("openvino_model.bin")),
    "empty target weights": ("target_weights_short", lambda t, d: t.cut("openvino_model.bin", 0)),
    "cut draft weights": ("draft_weights_short", lambda t, d: d.cut("openvino_model.bin")),
    "no tokenizer": ("tokenizer_missing", lambda t, d: t.remove("openvino_tokenizer.xml")),
    "no detokenizer": ("tokenizer_missing", lambda t, d: t.remove("openvino_detokenizer.bin")),
    "no logits": ("target_interface_incomplete", lambda t, d: t.edit('"logits"', '"scores"')),
    "no token input": (
        "target_interface_incomplete",
        lambda t, d: t.edit('"input_ids"', '"tokens"'),
    ),
    "no marker": ("dflash_marker_missing", lambda t, d: d.edit("dflash_mode", "other")),
    "marker says no": (
        "dflash_marker_missing",
        lambda t, d: d.edit('mode value="True"', 'mode value="False"'),
    ),
    "target as draft": (
        "draft_not_dflash",
        lambda t, d: shutil.copytree(t.folder, d.folder, dirs_exist_ok=True),
    ),
    "Eagle3 draft": (
        "draft_not_dflash",
        all_of(
            lambda t, d: d.edit("dflash_mode", "eagle3_mode"),
            lambda t, d: d.edit('"inputs_embeds"', '"ids"'),
        ),
    ),
    "DFlash 2 exported by an exporter that does not know it": (
        "draft_exported_as_text",
        all_of(
            lambda t, d: shutil.copy(t.folder / "openvino_model.xml", d.folder),
            lambda t, d: shutil.copy(t.folder / "openvino_model.bin", d.folder),
            lambda t, d: d.configure(architectures=["DFlash2DraftModel"]),
        ),
    ),
    "no mask token": ("mask_token_missing", lambda t, d: d.edit("mask_token_id", "other")),
    "mask token in words": (
        "mask_token_invalid",
        lambda t, d: d.edit('id value="3"', 'id value="mask"'),
    ),
    "mask token is the vocabulary's size": (
        "mask_token_outside",
        lambda t, d: d.edit('id value="3"', f'id value="{VOCABULARY}"'),
    ),
    "mask token of a large vocabulary": (
        "mask_token_outside",
        lambda t, d: d.edit('id value="3"', 'id value="248070"'),
    ),
    "no target layers": (
        "target_layers_missing",
        lambda t, d: d.edit("target_layer_ids", "other"),
    ),
    "empty target layers": ("target_layers_missing", lambda t, d: d.edit('"1,2,3"', '","')),
    "target layers as JSON": ("target_layers_invalid", lambda t, d: d.edit("1,2,3", "[1,2,3]")),
    "target layers with a word": ("target_layers_invalid", lambda t, d: d.edit("1,2,3", "1,2,x")),
    "target layer beyond 32 bits": (
        "target_layers_invalid",
        lambda t, d: d.edit("1,2,3", "1,2,4294967296"),
    ),
    "target layers repeated": ("target_layers_repeated", lambda t, d: d.edit("1,2,3", "1,2,2")),
    "target layer 48": ("target_layer_outside", lambda t, d: d.edit("1,2,3", "1,2,48")),
    "first layer beyond the last": ("target_layer_outside", lambda t, d: d.edit("1,2,3", "1,2,6")),
    "target layer below zero": ("target_layer_outside", lambda t, d: d.edit("1,2,3", "-1,2,3")),
    "two of three layers": ("hidden_width_differs", lambda t, d: d.edit("1,2,3", "1,2")),
    "four layers instead of three": (
        "hidden_width_differs",
        lambda t, d: d.edit("1,2,3", "1,2,3,4"),
    ),
    "no hidden states": (
        "draft_inputs_incomplete",
        lambda t, d: d.edit('"hidden_states"', '"states"'),
    ),
    "no positions": ("draft_inputs_incomplete", lambda t, d: d.edit('"position_ids"', '"place"')),
    "no attention mask": (
        "draft_inputs_incomplete",
        lambda t, d: d.edit('"attention_mask"', '"mask"'),
    ),
    "embeddings and tokens": (
        "draft_inputs_incomplete",
        lambda t, d: d.edit('"beam_idx"', '"input_ids"'),
    ),
    "no last hidden state": (
        "draft_outputs_incomplete",
        lambda t, d: d.edit('"last_hidden_state"', '"state"'),
    ),
    "flat hidden states": (
        "draft_hidden_states_shape",
        lambda t, d: d.edit(
            "<dim>-1</dim><dim>-1</dim><dim>384</dim>", "<dim>-1</dim><dim>384</dim>"
        ),
    ),
    "locators are no JSON": ("locators_invalid", lambda t, d: t.annotate('{"layers": {"0"')),
    "locators are nested without end": ("locators_invalid", lambda t, d: t.annotate("[" * 99_999)),
    "locators are a list": ("locators_invalid", lambda t, d: t.annotate({"layers": []})),
    "a locator is missing": (
        "locators_incomplete",
        lambda t, d: t.annotate(changed_locators(layer2=None)),
    ),
    "a locator without index": (
        "locators_incomplete",
        lambda t, d: t.annotate(changed_locators(layer2={"producer": LAYER_2})),
    ),
    "a locator with a negative index": (
        "locators_incomplete",
        lambda t, d: t.annotate(
            changed_locators(layer2={"producer": LAYER_2, "output_index": -1})
        ),
    ),
    "a producer is renamed": (
        "locator_producer_missing",
        lambda t, d: t.edit(f'name="{LAYER_2}"', 'name="gone"'),
    ),
    "two producers of one name": (
        "locator_producer_ambiguous",
        lambda t, d: t.edit('name="embedded"', f'name="{LAYER_2}"'),
    ),
    "a producer has no such output": (
        "locator_output_missing",
        lambda t, d: t.annotate(changed_locators(layer2={"producer": LAYER_2, "output_index": 1})),
    ),
    "a producer gives logits": (
        "locator_width_wrong",
        lambda t, d: t.annotate(
            changed_locators(layer2={"producer": "lm_head", "output_index": 0})
        ),
    ),
    "one producer for two layers": (
        "locators_repeated",
        lambda t, d: t.annotate(changed_locators(layer2=locators()["3"])),
    ),
    "no locators and no known pattern": (
        "locators_unguessable",
        all_of(
            lambda t, d: strip_locators(t), lambda t, d: t.edit('type="Multiply"', 'type="Swish"')
        ),
    ),
    "a target of another hidden size": (
        "hidden_size_differs",
        all_of(
            lambda t, d: t.edit("<dim>128</dim>", "<dim>96</dim>"),
            lambda t, d: t.configure(hidden_size=96),
        ),
    ),
    "half a vision export": (
        "vision_files_missing",
        all_of(
            lambda t, d: make_vision(t),
            lambda t, d: t.remove("openvino_vision_embeddings_model.xml"),
        ),
    ),
    "vision target, draft for tokens": (
        "draft_needs_embeds",
        all_of(lambda t, d: make_vision(t), lambda t, d: tokens_in(d)),
    ),
}

WARNING: dict[str, tuple[str, Damage]] = {
    "no locators": ("locators_missing", lambda t, d: strip_locators(t)),
    "a locator is missing that nobody needs": (
        "locators_incomplete",
        lambda t, d: t.annotate(changed_locators(layer5=None)),
    ),
    "locators of the layers before": (
        "locators_differ",
        lambda t, d: t.annotate(
            {"layers": {str(n): locators()[str((n - 1) % 6)] for n in range(6)}}
        ),
    ),
    "another mask token than the checkpoint's": (
        "draft_metadata_differs",
        lambda t, d: d.edit('id value="3"', 'id value="4"'),
    ),
    "other layers than the checkpoint's": (
        "draft_metadata_differs",
        lambda t, d: d.edit('"1,2,3"', '"1,2,4"'),
    ),
    "target without a cache": (
        "target_stateless",
        lambda t, d: t.edit('type="ReadValue"', 'type="Other"'),
    ),
    "draft without a cache": (
        "draft_stateless",
        lambda t, d: d.edit('type="ReadValue"', 'type="Other"'),
    ),
    "draft of the wrong class": (
        "draft_output_unsliced",
        lambda t, d: d.edit('type="Slice"', 'type="Multiply"'),
    ),
    "draft without beam_idx": ("draft_stateless", lambda t, d: d.edit('"beam_idx"', '"index"')),
    "mask token is the end": (
        "mask_token_in_use",
        lambda t, d: name_mask(d, 1),
    ),
    "mask token is the padding": (
        "mask_token_in_use",
        lambda t, d: name_mask(d, 0),
    ),
    "mask token below zero": ("mask_token_negative", lambda t, d: name_mask(d, -1)),
    "layers of two kinds": (
        "layer_types_mixed",
        lambda t, d: t.configure(layer_types=["linear_attention"] * 3 + ["full_attention"] * 3),
    ),
    "IR of a newer runtime": ("target_runtime_newer", lambda t, d: t.edit("2026.4.1", "2027.0.0")),
    "draft of a newer runtime": (
        "draft_runtime_newer",
        lambda t, d: d.edit("2026.4.1", "2026.5.0"),
    ),
    "DFlash 2": (
        "runtime_too_old_for_draft",
        lambda t, d: d.edit("<dflash>", '<dflash><version value="2"/>'),
    ),
    "no target config": ("target_config_missing", lambda t, d: t.remove("config.json")),
    "broken target config": ("target_config_broken", lambda t, d: t.write("config.json", "{")),
    "config without end": (
        "draft_config_broken",
        lambda t, d: d.write("config.json", "[" * 99_999),
    ),
    "tokenizer of another model": (
        "tokenizer_vocabulary",
        lambda t, d: t.edit("<dim>2048</dim>", "<dim>9999</dim>", file="openvino_detokenizer.xml"),
    ),
    "config of another model": ("target_vocabulary", lambda t, d: t.configure(vocab_size=999)),
    "draft of another vocabulary": (
        "vocabulary_differs",
        lambda t, d: d.configure(vocab_size=999),
    ),
    "draft of a deeper target": (
        "target_depth_differs",
        lambda t, d: d.configure(num_target_layers=36),
    ),
}
