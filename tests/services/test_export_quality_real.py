"""What exports of the starter draft are worth: errors by weight format, and tokens per step."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.export_request import ExportRole, WeightFormat
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.export_result import check_exported
from tests.exporting.draft_outputs import difference, draft_output
from tests.exporting.draft_quality import exported, tokens_per_step
from tests.exporting.real_export import in_environment, item, planned, run_steps
from tests.exporting.starter_checkpoint import write_starter_checkpoint

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders

pytestmark = [
    pytest.mark.export,
    pytest.mark.starter,
    pytest.mark.openvino,
    pytest.mark.timeout(420),
]

SCRIPT = Path(__file__).parents[1] / "exporting" / "write_gguf.py"
COMPARED = ("fp16", "int8", "int4 g16", "int4 g32", "int4 g128")


async def test_smaller_groups_err_less_and_the_int8_draft_reaches_the_shipped_one(
    export_python: Path, starter_pair: PairFolders, tmp_path: Path
) -> None:
    checkpoint = write_starter_checkpoint(tmp_path / "starter-draft")
    two_at_a_time = asyncio.Semaphore(2)

    async def one(form: str) -> Path:
        async with two_at_a_time:
            return await exported(export_python, checkpoint, tmp_path / form, form)

    folders = dict(zip(COMPARED, await asyncio.gather(*map(one, COMPARED)), strict=True))
    outputs = {form: draft_output(folder) for form, folder in folders.items()}
    errors = {form: difference(outputs[form], outputs["fp16"]) for form in COMPARED}

    error = {form: relative for form, (relative, _) in errors.items()}
    assert 0 < error["int8"] < 0.06 < error["int4 g16"] < error["int4 g32"] < error["int4 g128"]
    assert error["int4 g128"] < 0.5
    cosines = [errors[form][1] for form in COMPARED]
    assert cosines == sorted(cosines, reverse=True)
    assert cosines[1] > 0.998
    shipped = await tokens_per_step(starter_pair, resources_dir() / "starter" / "draft", tmp_path)
    here = await tokens_per_step(starter_pair, folders["int8"], tmp_path)
    assert here == pytest.approx(shipped, rel=0.03)
    small = await tokens_per_step(starter_pair, folders["int4 g16"], tmp_path)
    assert small > 0.9 * shipped


async def test_a_draft_that_ships_as_gguf_becomes_the_draft_again(
    export_python: Path, starter_pair: PairFolders, tmp_path: Path
) -> None:
    checkpoint = write_starter_checkpoint(tmp_path / "starter-draft")
    file = tmp_path / "starter.gguf"
    in_environment(export_python, SCRIPT, checkpoint, file, "Q8_0")
    draft = item(ExportRole.DRAFT, file, WeightFormat.INT8, reference=checkpoint)
    plan = await planned(tmp_path, draft)

    end = await asyncio.to_thread(run_steps, plan, export_python, tmp_path)

    assert end.exit_code == 0, "\n".join(end.log[-30:])
    check_exported(tmp_path / "draft", ExportRole.DRAFT)
    shipped = await tokens_per_step(starter_pair, resources_dir() / "starter" / "draft", tmp_path)
    here = await tokens_per_step(starter_pair, tmp_path / "draft", tmp_path)
    assert here == pytest.approx(shipped, rel=0.03)
