"""Plans of checkpoints on this disk and on a hub."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.export_environment import EnvironmentState, EnvironmentStatus
from dflash_desktop.domain.export_plan import ExportPlan, ExportVerdict
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.domain.export_verdict import ExportRoom
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.checkpoint_inspection import small_files
from dflash_desktop.services.export_planning import ExportPlanning
from dflash_desktop.services.hub_checkpoint import HubCheckpoints
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import HubAccess
from tests.exporting.checkpoints import write_checkpoint
from tests.exporting.real_export import item, planned, planning
from tests.fakes.download_world import PlainReach
from tests.fakes.fake_hub import COMMIT, FakeHub, HubFile, HubRepo, serve

if TYPE_CHECKING:
    from pathlib import Path

TARGET, DRAFT = ExportRole.TARGET, ExportRole.DRAFT
INT4, INT8 = WeightFormat.INT4, WeightFormat.INT8


async def code_of(folder: Path, *items: ExportItem) -> str:
    with pytest.raises(AppError) as caught:
        await planned(folder, *items)
    return caught.value.problem.code


def command_of(plan: ExportPlan, step: str) -> tuple[str, ...]:
    return next(one.command for one in plan.steps if one.name == step)


async def test_a_pair_is_exported_in_the_targets_environment(tmp_path: Path) -> None:
    target = write_checkpoint(tmp_path / "t", "text", changes={"model_type": "qwen3_next"})
    draft = write_checkpoint(tmp_path / "d", "draft")

    plan = await planned(tmp_path, item(TARGET, target, INT4), item(DRAFT, draft, INT8))

    assert plan.environment_id == "transformers-4.57"
    assert plan.verdict is ExportVerdict.FITS
    assert "660 MB for the tools" in plan.peak_formula
    assert not plan.warnings


async def test_the_group_size_divides_every_row_or_that_is_said(tmp_path: Path) -> None:
    draft = write_checkpoint(tmp_path / "d", "draft")

    chosen = command_of(await planned(tmp_path, item(DRAFT, draft, INT4)), "convert-draft")
    asked = await planned(tmp_path, item(DRAFT, draft, INT4, group_size=256))

    assert chosen[chosen.index("--group-size") + 1] == "128"
    assert "Groups of 256 do not divide rows of 128" in asked.warnings[0]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["DFlash2DraftModel"]}, "export_needs_development"),
        ({"architectures": ["Qwen3DSparkModel"]}, "export_needs_development"),
        ({"architectures": ["Qwen3Model"], "dflash_config": None}, "export_no_draft"),
        ({"model_type": "foo_next"}, "export_kind_unknown"),
        ({"quantization_config": {"quant_method": "fp8"}}, "export_quantized"),
    ],
)
async def test_a_draft_that_no_tool_exports_is_refused_before_anything_runs(
    changes: dict[str, object], code: str, tmp_path: Path
) -> None:
    draft = write_checkpoint(tmp_path / "d", "draft", changes=changes)

    assert await code_of(tmp_path, item(DRAFT, draft, INT8)) == code


@pytest.mark.parametrize(
    "changes",
    [
        {"dflash_config": {"mask_token_id": 3, "target_layer_ids": [1, 2, 48]}},
        {"hidden_size": 256},
    ],
)
async def test_a_draft_for_another_target_is_refused(
    changes: dict[str, object], tmp_path: Path
) -> None:
    target = write_checkpoint(tmp_path / "t", "text")
    draft = write_checkpoint(tmp_path / "d", "draft", changes=changes)

    items = item(TARGET, target, INT4), item(DRAFT, draft, INT8)
    assert await code_of(tmp_path, *items) == "export_no_pair"


async def test_a_file_with_weights_that_is_cut_off_is_seen_before_the_start(
    tmp_path: Path,
) -> None:
    draft = write_checkpoint(tmp_path / "d", "draft")
    weights = draft / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])

    assert await code_of(tmp_path, item(DRAFT, draft, INT8)) == "export_checkpoint_damaged"


async def test_a_folder_that_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert await code_of(tmp_path, item(TARGET, tmp_path / "empty", INT4)) == (
        "export_no_checkpoint"
    )


@pytest.mark.parametrize(
    "config",
    [b"{", b"[]", b"[" * 100_000, b'{"a": "' + b" " * (4 << 20) + b'"}'],
    ids=["cut off", "a list", "deep", "of 4 MB"],
)
async def test_a_configuration_that_is_none_is_told_from_no_checkpoint(
    tmp_path: Path, config: bytes
) -> None:
    target = write_checkpoint(tmp_path / "t", "text")
    (target / "config.json").write_bytes(config)

    assert await code_of(tmp_path, item(TARGET, target, INT4)) == "export_config_damaged"


@pytest.mark.parametrize(
    ("index", "names"),
    [
        ({"metadata": {"total_size": 4}, "weight_map": {"a.weight": "model.safetensors"}}, 1),
        ({"weight_map": [["a.weight"]]}, 0),
        ({"weight_map": {"a.weight": "model.safetensors"}, "fill": " " * (32 << 20)}, 0),
    ],
    ids=["good", "of another form", "of 32 MB"],
)
def test_of_an_index_only_names_of_tensors_are_taken(
    tmp_path: Path, index: dict[str, object], names: int
) -> None:
    target = write_checkpoint(tmp_path / "t", "text")
    (target / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")

    assert small_files(target)[1] == ("a.weight",) * names


async def test_too_little_memory_says_what_else_works(tmp_path: Path) -> None:
    target = write_checkpoint(tmp_path / "t", "text")
    small = ExportRoom(500_000_000, 400_000_000, 0, 0, 10**12)
    plans = ExportPlanning(
        hub=planning(tmp_path)._hub,
        environments=lambda: (
            EnvironmentStatus("transformers-5.5", "", EnvironmentState.ABSENT, "", 0, 10**9),
        ),
        pairs=tuple,
        work_dir=lambda: tmp_path,
        room=lambda place, reserve: small,
    )

    plan = await plans.plan(ExportRequest("a test", (item(TARGET, target, INT8),)))

    assert plan.verdict is ExportVerdict.CANNOT
    assert "This machine has 500 MB in all" in plan.reasons[0]
    assert plan.steps[0].name == "environment"
    assert plan.disk_bytes > 10**9 > plan.temporary_bytes, "the tools stay"
    smaller, elsewhere = plan.alternatives
    assert smaller.request is not None
    assert elsewhere.commands[0].startswith("pip install")
    assert "optimum-cli export openvino --model t" in elsewhere.commands[1]


async def test_the_room_is_that_of_the_output_less_what_the_person_wants_kept(
    tmp_path: Path,
) -> None:
    target = write_checkpoint(tmp_path / "t", "text")
    asked: list[tuple[Path, int | None]] = []

    def room(place: Path, reserve_bytes: int | None) -> ExportRoom:
        asked.append((place, reserve_bytes))
        return ExportRoom(10**11, 10**11, 0, 0, 10**12)

    plans = ExportPlanning(
        hub=planning(tmp_path)._hub,
        environments=tuple,
        pairs=tuple,
        work_dir=lambda: tmp_path / "work",
        reserve_bytes=lambda: 7_000_000_000,
        room=room,
    )
    request = ExportRequest("a test", (item(TARGET, target, INT8),))

    into_library = await plans.plan(request)
    into_folder = await plans.plan(request, output_dir=tmp_path / "stick")

    assert into_library.steps[-1].title == "Put it into the library"
    assert into_folder.steps[-1].title == "Put it into “stick”"
    assert asked == [(tmp_path / "work", 7_000_000_000), (tmp_path / "stick", 7_000_000_000)]


# --- on a hub ----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _hub_may_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def repo_of(folder: Path, repo_id: str) -> HubRepo:
    files = [HubFile(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
    return HubRepo(repo_id, [*files, HubFile("original/model.safetensors", b"x" * 200_000)])


async def test_of_a_hub_only_small_files_come_for_a_plan(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "made", "draft", own_code=True)
    repo = repo_of(folder, "lab/Tiny-DFlash")
    source = ExportSource(SourceKind.HUB, repo_id=repo.repo_id)
    with serve(FakeHub([repo])) as hub:
        plans = ExportPlanning(
            hub=HubCheckpoints(
                launcher=WorkerLauncher(log_dir=tmp_path / "logs"),
                hub=PlainReach(HubAccess(endpoint=hub.url)),
                explain=hub_problem,
                cache_dir=tmp_path / "cache",
            ),
            environments=tuple,
            pairs=tuple,
            work_dir=lambda: tmp_path / "incoming",
        )
        plan = await plans.plan(ExportRequest("a test", (ExportItem(DRAFT, source, INT8),)))
        paths = {seen.path for seen in hub.seen}

    assert not any("safetensors" in path or path.endswith(".py") for path in paths)
    assert any(path.endswith("config.json") for path in paths)
    assert [step.name for step in plan.steps] == [
        *("environment", "fetch-draft", "prepare-draft", "convert-draft"),
        *("check-draft", "finish"),
    ]
    (fetch,) = plan.fetches
    weights = (folder / "model.safetensors").stat().st_size
    assert weights < fetch.size_bytes < weights + 10_000
    assert fetch.commit == COMMIT
    assert fetch.licence == "apache-2.0"
    on_disk = (await planned(tmp_path, item(DRAFT, folder, INT8))).temporary_bytes
    assert plan.temporary_bytes == pytest.approx(on_disk + fetch.missing_bytes, abs=10_000)
    words = command_of(plan, "fetch-draft")
    assert words[:3] == ("hf", "download", "lab/Tiny-DFlash")
    assert "draft.py" not in words
    assert "model.safetensors" in words
    assert "draft.py" in plan.warnings[0]
    assert not list((tmp_path / "cache").iterdir())


async def test_a_repository_that_is_not_there_is_told_as_downloads_tell_it(tmp_path: Path) -> None:
    source = ExportSource(SourceKind.HUB, repo_id="nobody/nothing")
    with serve(FakeHub([])) as hub:
        checkpoints = HubCheckpoints(
            launcher=WorkerLauncher(log_dir=tmp_path / "logs"),
            hub=PlainReach(HubAccess(endpoint=hub.url)),
            explain=hub_problem,
            cache_dir=tmp_path / "cache",
        )
        with pytest.raises(AppError) as caught:
            await checkpoints.look(source, incoming_dir=tmp_path)
    assert caught.value.problem.code == "not_found"


async def test_a_config_of_any_content_gives_a_plan_or_an_answer(tmp_path: Path) -> None:
    """It comes from strangers: wrong types and absurd numbers end in words."""
    draft = write_checkpoint(tmp_path / "d", "draft")
    good = json.loads((draft / "config.json").read_text("utf-8"))
    strange: tuple[object, ...] = (None, -1, 10**30, "x" * 1000, [], [[]], {}, {"a": 1}, True, 1.5)
    for name, value in product(good, strange):
        (draft / "config.json").write_text(json.dumps(good | {name: value}), "utf-8")
        with suppress(AppError):
            await planned(tmp_path, item(DRAFT, draft, INT8))
    draft_item = item(DRAFT, draft, INT8)
    empty = replace(draft_item, source=replace(draft_item.source, path=None))
    assert await code_of(tmp_path, empty) == "export_nothing_chosen"
