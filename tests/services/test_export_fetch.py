"""The stage that fetches a checkpoint, with the real fetch process and a hub on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest_asyncio

from dflash_desktop.domain.export_plan import ExportStep, StepKind
from dflash_desktop.domain.export_request import ExportRole, ExportSource, SourceKind
from dflash_desktop.domain.export_run import ExportState
from dflash_desktop.services.export_fetch import ExportFetch
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.library_install import LibraryInstalling
from dflash_desktop.services.machine_watch import MachineWatch
from dflash_desktop.services.transfer_world import TransferWorld
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import HubAccess
from tests.fakes.download_world import PlainReach
from tests.fakes.export_plans import until
from tests.fakes.export_world import ExportWorld, export_plan
from tests.fakes.fake_hub import FakeHub, HubFile, HubRepo, serve
from tests.services.test_downloads_hub import QUICK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest

    from dflash_desktop.domain.export_plan import ExportPlan

_REPO = "team/draft"
_WEIGHTS = HubFile("model.safetensors", b"w" * 3_000_000)


class _HubExports:
    """A program whose exports fetch from this hub."""

    def __init__(self, folder: Path, hub: FakeHub) -> None:
        self.world = ExportWorld(folder)
        self.hub = hub
        self.world.fetch = ExportFetch(
            world=TransferWorld(
                launcher=WorkerLauncher(log_dir=self.world.paths.log_dir),
                hub=PlainReach(HubAccess(endpoint=hub.url)),
                installing=LibraryInstalling(library=self.world.library),
                explain=hub_problem,
                make_watch=MachineWatch,
                limits=QUICK,
            )
        )

    def plan(self) -> ExportPlan:
        """Fetch two of the three files at the planned commit, then export."""
        plan = export_plan(self.world.source, ExportRole.DRAFT)
        source = ExportSource(SourceKind.HUB, repo_id=_REPO)
        items = tuple(replace(item, source=source) for item in plan.request.items)
        command = (
            *("hf", "download", _REPO, "config.json", "model.safetensors"),
            *("--revision", self.hub.repos[0].commit, "--local-dir", "draft"),
        )
        fetch = ExportStep("fetch-draft", StepKind.FETCH, "Download the draft", command)
        return replace(
            plan, request=replace(plan.request, items=items), steps=(fetch, *plan.steps)
        )


@pytest_asyncio.fixture
async def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[_HubExports]:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    files = [HubFile("config.json", b"{}"), replace(_WEIGHTS), HubFile("evil.py", b"x")]
    hub = FakeHub([HubRepo(_REPO, files)])
    with serve(hub):
        made = _HubExports(tmp_path, hub)
        yield made
        await made.world.close()


async def test_a_checkpoint_is_fetched_as_planned_and_goes_when_it_is_exported(
    program: _HubExports,
) -> None:
    exports = program.world.open()
    exports.start(program.plan())
    await until(lambda: exports.runs()[0].stages[1].state == "running", seconds=30)
    (work_dir,) = program.world.paths.incoming_dir.iterdir()
    source = work_dir / "source-draft"
    assert sorted(p.name for p in source.iterdir()) == ["config.json", "model.safetensors"]
    assert (source / "model.safetensors").read_bytes() == _WEIGHTS.content
    await until(lambda: exports.runs()[0].state is ExportState.DONE, seconds=30)
    assert program.world.left() == []
    assert [model.id for model in program.world.library.models()] == ["draft-int8-ov"]


async def test_a_paused_fetch_goes_on_where_it_was_also_in_the_next_program(
    program: _HubExports,
) -> None:
    weights = program.hub.repos[0].file("model.safetensors")
    weights.bytes_per_second = 1_000_000
    first = program.world.open()
    run = first.start(program.plan())
    await until(lambda: (first.runs()[0].stages[0].share or 0) > 0.4, seconds=30)
    assert "MB" in first.runs()[0].stages[0].detail
    first.pause(run.id)
    await until(lambda: first.runs()[0].state is ExportState.PAUSED)
    await first.close()
    sent = program.hub.sent_bytes("model.safetensors")
    weights.bytes_per_second = None

    second = program.world.open()
    assert second.runs()[0].state is ExportState.PAUSED
    second.resume(run.id)
    await until(lambda: second.runs()[0].state is ExportState.DONE, seconds=30)
    again = program.hub.sent_bytes("model.safetensors") - sent
    assert again < 0.8 * len(_WEIGHTS.content), "it began anew"


async def test_a_hub_that_lacks_the_planned_commit_is_told_in_words(program: _HubExports) -> None:
    exports = program.world.open()
    plan = program.plan()
    program.hub.repos[0].commit = "c" * 40
    exports.start(plan)
    await until(lambda: exports.runs()[0].state is ExportState.FAILED, seconds=30)
    problem = exports.runs()[0].problem
    assert problem is not None
    assert problem.headline
    assert not program.world.library.models()
