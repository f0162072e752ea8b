"""The real target without its locators: repaired in a moment, its draft is accepted as before."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.generation import SamplingParams
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.repair import ModelRepair
from dflash_desktop.services.timed_answers import question
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.protocol import Finished
from tests.fakes.damaged_pairs import strip_locators
from tests.services.test_pair_contract_real import copied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

pytestmark = [pytest.mark.starter, pytest.mark.openvino]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    yield engine
    await engine.stop()


async def answer(engine: Engine, folders: PairFolders) -> Finished:
    await engine.load(folders, device="CPU")
    messages = question("List the even numbers from 2 to 60.")
    params = SamplingParams(max_new_tokens=48)
    events = [e async for e in engine.generate(messages, params, assistant_tokens=3)]
    assert isinstance(events[-1], Finished)
    return events[-1]


async def test_a_stripped_target_is_repaired_and_its_draft_is_accepted_as_before(
    starter_pair: PairFolders, engine: Engine, tmp_path: Path
) -> None:
    target = copied(starter_pair.target_dir, tmp_path / "target")
    strip_locators(target)
    weights = target.folder / "openvino_model.bin"
    before = hashlib.sha256(weights.read_bytes()).hexdigest()

    started_at = time.perf_counter()
    outcome = ModelRepair(added_dir=tmp_path).repair(target.folder, starter_pair.draft_dir)
    assert time.perf_counter() - started_at < 1.0
    assert next(one.code for one in outcome.findings_before) == "locators_unguessable"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == before

    own = await answer(engine, starter_pair)
    again = await answer(engine, replace(starter_pair, target_dir=target.folder))
    assert again.token_ids == own.token_ids
    assert again.stats.tokens_per_step == own.stats.tokens_per_step
    assert again.stats.accepted_tokens > 0
