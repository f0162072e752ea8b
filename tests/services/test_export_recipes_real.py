"""The recipes, really run: checkpoints through the real exporter into OpenVINO models."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from dflash_desktop.domain.export_faults import export_problem
from dflash_desktop.domain.export_recipes import Recipe, convert_command
from dflash_desktop.domain.export_request import ExportRole, WeightFormat
from dflash_desktop.services.export_completion import complete_exported
from dflash_desktop.services.export_result import check_exported, check_pair
from dflash_desktop.services.model_inspection import inspect_model
from tests.exporting.checkpoints import TINY, write_checkpoint
from tests.exporting.real_export import in_environment, item, made, planned, run_program, run_steps
from tests.fakes.small_disk import needs_small_disk, small_disk

pytestmark = pytest.mark.export

MAKER = Path(__file__).parents[1] / "exporting" / "write_target_parts.py"
GGUF_MAKER = MAKER.with_name("write_gguf.py")
LICENCE = Path(__file__).parents[2] / "LICENSE"


async def test_a_random_pair_whose_draft_brings_code_that_is_not_run(
    export_python: Path, tmp_path: Path
) -> None:
    target = write_checkpoint(tmp_path / "Qwen3.5-tiny", "text")
    size = str(TINY["vocabulary"])
    in_environment(export_python, MAKER, "tokenizer", LICENCE, target, size)
    draft = write_checkpoint(tmp_path / "tiny-DFlash", "draft", own_code=True)
    plan = await planned(
        tmp_path,
        item(ExportRole.TARGET, target, WeightFormat.INT4),
        item(ExportRole.DRAFT, draft, WeightFormat.INT8),
    )

    made_target = made(plan, export_python, tmp_path, ExportRole.TARGET)
    made_draft = tmp_path / "draft"
    checks = [
        check_exported(made_target, ExportRole.TARGET, source=target),
        check_exported(made_draft, ExportRole.DRAFT),
        check_pair(made_target, made_draft),
    ]
    for folder, one in zip((made_target, made_draft), plan.request.items, strict=True):
        complete_exported(folder, plan, one)

    assert [str(check.verdict) for check in checks] == ["good", "good", "good"]
    assert not (draft / "the code was run").exists()
    assert not (tmp_path / "checkpoint-draft" / "draft.py").exists()
    facts = inspect_model(made_draft)
    assert facts.graph is not None
    assert "beam_idx" in facts.graph.inputs()  # it keeps its cache
    assert inspect_model(made_target).is_annotated()
    for folder in (made_target, made_draft):
        assert "auto_map" not in (folder / "config.json").read_text("utf-8")
        for file in (*folder.glob("*.json"), folder / "README.md"):
            assert str(tmp_path) not in file.read_text("utf-8"), file
    card = (made_draft / "README.md").read_text("utf-8")
    assert "optimum-cli export openvino --model tiny-DFlash-clean" in card
    assert "| optimum\\_intel | 2.2.0 |" in card
    assert not list(made_draft.glob("tokenizer*"))


async def test_a_renamed_norm_fails_where_the_exporter_ends_with_0(
    export_python: Path, tmp_path: Path
) -> None:
    renamed = {"norm.weight": "output_norm.weight"}
    draft = write_checkpoint(tmp_path / "renamed", "draft", renamed=renamed)
    plan = await planned(tmp_path, item(ExportRole.DRAFT, draft, WeightFormat.INT8))

    end = run_steps(plan, export_python, tmp_path)

    assert end.exit_code == 1
    assert end.failure["code"] == "tensors_wrong"
    problem = export_problem(**end.failure, log=end.log, exit_code=end.exit_code)
    assert problem.code == "export_tensors_wrong"
    assert problem.detail == "missing: norm.weight; not used: output_norm.weight"
    assert not (tmp_path / "draft" / "openvino_model.xml").exists()


async def test_a_draft_that_the_exporter_does_not_know_is_refused_by_it(
    export_python: Path, tmp_path: Path
) -> None:
    """The plan refuses it before; this is what stands behind it."""
    draft = write_checkpoint(tmp_path / "newer", "draft")
    plan = await planned(tmp_path, item(ExportRole.DRAFT, draft, WeightFormat.INT8))
    config = json.loads((draft / "config.json").read_text("utf-8"))
    config["architectures"] = ["DFlash2DraftModel"]
    (draft / "config.json").write_text(json.dumps(config), encoding="utf-8")

    end = run_steps(plan, export_python, tmp_path)

    assert end.failure["code"] == "draft_not_supported"
    assert "'DFlash2DraftModel' is none of DFlashDraftModel" in end.failure["raw"]


async def test_a_target_that_sees_pictures_says_how_they_are_prepared(
    export_python: Path, tmp_path: Path
) -> None:
    """Without torchvision the exporter writes the settings for sound in that place."""
    target = tmp_path / "tiny-gemma"
    in_environment(export_python, MAKER, "vision", LICENCE, target)
    plan = await planned(tmp_path, item(ExportRole.TARGET, target, WeightFormat.INT8))

    folder = await asyncio.to_thread(made, plan, export_python, tmp_path, ExportRole.TARGET)
    before = json.loads((folder / "preprocessor_config.json").read_text("utf-8"))
    check = check_exported(folder, ExportRole.TARGET, source=target)
    complete_exported(folder, plan, plan.request.items[0], notes=check.notes)

    assert "feature_extractor_type" in before
    after = json.loads((folder / "preprocessor_config.json").read_text("utf-8"))
    assert after["image_processor_type"].startswith("Gemma4ImageProcessor")
    assert after["max_soft_tokens"] == 70
    assert str(check.verdict) == "good"
    assert inspect_model(folder).is_annotated()
    assert "pipeline_tag: image-text-to-text" in (folder / "README.md").read_text("utf-8")


@needs_small_disk
async def test_a_full_disk_is_named_where_the_exporter_names_no_cause(
    export_python: Path, tmp_path: Path
) -> None:
    """Temporary files lie beside the output, so that the same disk fills up."""
    draft = write_checkpoint(tmp_path / "draft-checkpoint", "draft")
    plan = await planned(tmp_path, item(ExportRole.DRAFT, draft, WeightFormat.INT4))
    with small_disk(tmp_path / "small", "600k") as disk:
        end = await asyncio.to_thread(run_steps, plan, export_python, disk)
    problem = export_problem(**end.failure, log=end.log, exit_code=end.exit_code)

    assert end.exit_code != 0
    assert problem.code == "export_disk"


async def test_no_step_asks_a_network(export_python: Path, tmp_path: Path) -> None:
    command = convert_command(
        Recipe.TEXT_TARGET,
        model="lab/gone",
        output=str(tmp_path / "out"),
        weight_format=WeightFormat.INT8,
    )

    end = await asyncio.to_thread(
        run_program, export_python, "--temporary", str(tmp_path / "temporary"), "run", *command
    )

    problem = export_problem(**end.failure, log=end.log, exit_code=end.exit_code)
    assert problem.code == "export_file_missing"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("turned", "layers.0.self_attn.q_proj.weight correlates by"),
        ("swapped", "norm.weight differs by"),
        ("shifted", "norm.weight differs by"),
    ],
)
async def test_a_bad_converter_is_told_by_the_reference(
    fault: str, said: str, export_python: Path, tmp_path: Path
) -> None:
    checkpoint = write_checkpoint(tmp_path / "original", "draft")
    file = tmp_path / "draft.gguf"
    in_environment(export_python, GGUF_MAKER, checkpoint, file, "Q8_0", fault)
    one = item(ExportRole.DRAFT, file, WeightFormat.INT8, reference=checkpoint)
    plan = await planned(tmp_path, one)

    end = await asyncio.to_thread(run_steps, plan, export_python, tmp_path)

    assert end.failure["code"] == "gguf_not_like_reference"
    assert said in end.failure["raw"]
    problem = export_problem(**end.failure, log=end.log, exit_code=end.exit_code)
    assert problem.code == "export_gguf_not_like_reference"


async def test_a_draft_with_a_tensor_too_many_is_refused(
    export_python: Path, tmp_path: Path
) -> None:
    checkpoint = write_checkpoint(tmp_path / "original", "draft")
    file = tmp_path / "draft.gguf"
    in_environment(export_python, GGUF_MAKER, checkpoint, file, "F16", "extra")
    plan = await planned(tmp_path, item(ExportRole.DRAFT, file, WeightFormat.INT8))

    end = await asyncio.to_thread(run_steps, plan, export_python, tmp_path)

    assert end.failure["code"] == "gguf_tensors"
    assert "blk.0.attn_sinks.weight" in end.failure["raw"]
