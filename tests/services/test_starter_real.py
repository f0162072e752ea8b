"""The real pair, end to end: the file that was pinned, the real engine, the real draft."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.locators import annotate, gguf_locators, read_ir
from dflash_desktop.domain.starter import MIN_TOKENS_PER_STEP, StarterState
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.starter import Starter
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.model_folder import MODEL_XML, check_draft, check_target
from tests.starter_fixture import starter_paths

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

pytestmark = [pytest.mark.starter, pytest.mark.openvino]


def installed_starter(log_dir: Path) -> Starter:
    launcher = WorkerLauncher(log_dir=log_dir)
    return Starter(paths=starter_paths(), launcher=launcher, engine=Engine(launcher=launcher))


def test_the_draft_of_the_installed_pair_is_accepted(
    starter_pair: PairFolders, tmp_path: Path
) -> None:
    status = installed_starter(tmp_path).status()
    assert status.state is StarterState.READY
    assert status.target_path == starter_pair.target_dir
    assert status.tokens_per_step is not None
    assert status.tokens_per_step > MIN_TOKENS_PER_STEP


def test_the_pair_is_complete_and_knows_its_context(starter_pair: PairFolders) -> None:
    assert starter_pair.draft_dir is not None
    assert check_target(starter_pair.target_dir).context_tokens == 8192
    draft = check_draft(starter_pair.draft_dir)
    assert draft.block_size == 8
    assert draft.target_layer_ids == (2, 8, 14, 20, 26)


def test_the_locators_of_the_real_graph_are_whole_and_stay_so(starter_pair: PairFolders) -> None:
    xml = (starter_pair.target_dir / MODEL_XML).read_bytes()
    ir = read_ir(xml)
    assert ir.annotation is not None
    locators = gguf_locators(ir.nodes, hidden_size=576, layer_count=30)
    assert annotate(xml, locators) is xml


def contents_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_second_installation_changes_nothing_and_starts_nothing(
    starter_pair: PairFolders, tmp_path: Path
) -> None:
    def contents() -> dict[str, tuple[int, str]]:
        return {
            path.name: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for path in starter_pair.target_dir.iterdir()
        }

    before = contents()
    steps = [step async for step in installed_starter(tmp_path).install()]
    assert steps[-1].sentence == "The starter model is already installed."
    assert contents() == before
    assert contents_of(tmp_path) == [], "a worker was started"
