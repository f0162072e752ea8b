"""The commands of the recipes, and which recipe a checkpoint gets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop.domain.checkpoint import Checkpoint, recipe_for
from dflash_desktop.domain.checkpoint_files import wanted_files
from dflash_desktop.domain.export_recipes import (
    Recipe,
    convert_command,
    fitting_group_size,
    placed,
    prepare_command,
)
from dflash_desktop.domain.export_request import ExportRole, WeightFormat
from dflash_desktop.domain.export_tensors import harmful_tensors
from dflash_desktop.domain.problems import AppError

TARGET = Checkpoint(
    name="a-model",
    model_type="qwen3",
    architectures=("Qwen3ForCausalLM",),
    weight_files=("model.safetensors",),
)
DRAFT = replace(TARGET, architectures=("DFlashDraftModel",), target_layer_ids=(1, 2))


@pytest.mark.parametrize("recipe", list(Recipe))
def test_every_command_names_its_task_and_its_weights(recipe: Recipe) -> None:
    command = convert_command(recipe, model="M", output="OUT", weight_format=WeightFormat.FP16)

    is_vision = recipe is Recipe.VISION_TARGET
    task = "image-text-to-text" if is_vision else "text-generation-with-past"
    assert command[command.index("--task") + 1] == task
    assert command[command.index("--weight-format") + 1] == "fp16"
    assert ("--trust-remote-code" in command) == recipe.is_draft
    assert command[-1] == "OUT"


def test_int4_names_its_groups_and_only_drafts_pack_all_layers() -> None:
    command = convert_command(
        Recipe.DRAFT,
        model="M",
        output="OUT",
        weight_format=WeightFormat.INT4,
        group_size=16,
        all_layers=True,
    )

    assert command[command.index("--group-size") + 1] == "16"
    assert "--all-layers" in command


def test_a_command_for_other_places_is_otherwise_the_same() -> None:
    shown = prepare_command(Recipe.GGUF_DRAFT, source="d.gguf", output="d-clean")
    run = placed(shown, source="/a b/d.gguf", output="/there/checkpoint")

    assert run == (*shown[:-2], "/a b/d.gguf", "/there/checkpoint")


@pytest.mark.parametrize(
    ("widths", "wanted", "size"),
    [
        ((4096, 12288), None, 128),
        ((576, 1536, 2880), None, 64),
        ((96, 128), None, 32),
        ((48,), None, 16),
        ((100,), None, None),
        ((576,), 128, None),
        ((576,), 16, 16),
        ((), None, 128),
    ],
)
def test_the_largest_group_that_divides_every_row(
    widths: tuple[int, ...], wanted: int | None, size: int | None
) -> None:
    assert fitting_group_size(widths, wanted) == size


@pytest.mark.parametrize(
    ("checkpoint", "role", "recipe"),
    [
        (TARGET, ExportRole.TARGET, Recipe.TEXT_TARGET),
        (replace(TARGET, has_vision_part=True), ExportRole.TARGET, Recipe.VISION_TARGET),
        (DRAFT, ExportRole.DRAFT, Recipe.DRAFT),
        (replace(DRAFT, own_code=("dflash.py",)), ExportRole.DRAFT, Recipe.OWN_CODE_DRAFT),
        (replace(DRAFT, architectures=("MyDFlash",)), ExportRole.DRAFT, Recipe.OWN_CODE_DRAFT),
        (replace(DRAFT, is_gguf=True), ExportRole.DRAFT, Recipe.GGUF_DRAFT),
    ],
)
def test_the_recipe_of_a_checkpoint(
    checkpoint: Checkpoint, role: ExportRole, recipe: Recipe
) -> None:
    assert recipe_for(checkpoint, role) is recipe


@pytest.mark.parametrize(
    ("checkpoint", "role", "code"),
    [
        (TARGET, ExportRole.DRAFT, "export_no_draft"),
        (DRAFT, ExportRole.TARGET, "export_draft_as_target"),
        (replace(TARGET, is_openvino=True), ExportRole.TARGET, "export_not_needed"),
        (replace(TARGET, weight_files=()), ExportRole.TARGET, "export_no_weights"),
        (replace(TARGET, has_tokenizer=False), ExportRole.TARGET, "export_no_tokenizer"),
        (replace(TARGET, packed_by="gptq"), ExportRole.TARGET, "export_quantized"),
        (
            replace(DRAFT, own_code=("a.py",), weight_files=("pytorch_model.bin",)),
            ExportRole.DRAFT,
            "export_no_safetensors",
        ),
    ],
)
def test_what_cannot_become_it_is_refused(
    checkpoint: Checkpoint, role: ExportRole, code: str
) -> None:
    with pytest.raises(AppError) as caught:
        recipe_for(checkpoint, role)
    assert caught.value.problem.code == code


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({}, "dflash"),
        ({"architectures": ("DFlash2DraftModel",)}, "dflash2"),
        ({"tensor_names": ("candidate_selector.hidden_projection.weight",)}, "dflash2"),
        ({"architectures": ("Qwen3DSparkModel",)}, "dspark"),
        ({"tensor_names": ("markov_head.w1",)}, "dspark"),
        ({"architectures": ("LlamaForCausalLMEagle3",)}, "eagle3"),
    ],
)
def test_a_newer_kind_is_known_by_its_name_or_by_its_tensors(
    change: dict[str, tuple[str, ...]], kind: str
) -> None:
    assert replace(DRAFT, **change).draft_kind() == kind  # type: ignore[arg-type]


def test_code_and_doubled_weights_are_not_fetched() -> None:
    files = [
        *("config.json", "modeling_x.py", "model.safetensors", "pytorch_model.bin"),
        *("consolidated.safetensors", "original/model.safetensors", "a.gguf", ".gitattributes"),
        *("tokenizer.json", "merges.txt", "chat_template.jinja", "README.md"),
    ]

    assert wanted_files(files) == (
        *("config.json", "model.safetensors", "tokenizer.json"),
        *("merges.txt", "chat_template.jinja"),
    )
    assert "pytorch_model.bin" in wanted_files(["config.json", "pytorch_model.bin"])


def test_only_parts_that_are_left_out_on_purpose_are_harmless() -> None:
    unexpected = ["mtp.fc.weight", "model.embed_tokens.weight", "lm_head.weight"]
    assert not harmful_tensors(missing=[], unexpected=unexpected, mismatched=[])
    assert harmful_tensors(missing=["lm_head.weight"], unexpected=[], mismatched=[])
    assert harmful_tensors(missing=[], unexpected=["fc.weight"], mismatched=[]) == (
        "not used: fc.weight"
    )
