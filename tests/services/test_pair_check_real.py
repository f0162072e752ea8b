"""Real drafts with the defects of published ones: each gets its verdict and its cause."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.check_numbers import Signature, TextVerdict
from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.pair_check import PairCheck
from dflash_desktop.services.pair_loading import PairLoading
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.fakes.draft_defects import forget_state, randomise, shift_output
from tests.fakes.few_questions import ask_little
from tests.services.test_pair_contract_real import copied

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders
    from tests.fakes.ir_models import ModelFiles

pytestmark = [pytest.mark.starter, pytest.mark.openvino, pytest.mark.timeout(300)]

DEFECTS: dict[str, tuple[Callable[[ModelFiles], None], Signature, str]] = {
    "shifted by one place": (shift_output, Signature.FIRST_ONLY, "draft_output_unsliced"),
    "of another target": (randomise, Signature.NOTHING, "draft_of_another_target"),
}


@pytest.fixture(autouse=True)
def few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The patterns show in two answers; what the speed is does not matter here."""
    ask_little(monkeypatch, assistant_tokens=7)


async def checked(folders: PairFolders, tmp_path: Path) -> CheckReport:
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    loading = PairLoading(engine=engine, compile_cache_dir=tmp_path / "cache")
    try:
        run = PairCheck(engine=engine, loading=loading).run(folders, device="CPU")
        async with aclosing(run) as steps:
            *_, last = [step async for step in steps]
    finally:
        await engine.stop()
    assert isinstance(last, CheckReport)
    return last


def damaged(
    starter_pair: PairFolders, tmp_path: Path, damage: Callable[[ModelFiles], None]
) -> PairFolders:
    assert starter_pair.draft_dir is not None
    draft = copied(starter_pair.draft_dir, tmp_path / "draft")
    damage(draft)
    return replace(starter_pair, draft_dir=draft.folder)


@pytest.mark.parametrize("name", DEFECTS)
async def test_a_draft_with_this_defect_is_useless_and_told_why(
    name: str, starter_pair: PairFolders, tmp_path: Path
) -> None:
    damage, signature, cause = DEFECTS[name]
    check = await checked(damaged(starter_pair, tmp_path, damage), tmp_path)
    assert check.numbers is not None
    assert check.numbers.signature is signature, check.numbers.acceptance
    assert check.judgement.verdict is CheckVerdict.USELESS
    assert check.judgement.causes[0].code == cause
    assert check.numbers.text is TextVerdict.IDENTICAL


async def test_a_stateless_draft_loses_acceptance_and_is_told_why(
    starter_pair: PairFolders, tmp_path: Path
) -> None:
    own = await checked(starter_pair, tmp_path)
    check = await checked(damaged(starter_pair, tmp_path, forget_state), tmp_path)
    assert own.numbers is not None
    assert check.numbers is not None
    assert (check.numbers.acceptance.tokens_per_step or 0) < (
        own.numbers.acceptance.tokens_per_step or 0
    )
    assert own.judgement.verdict in {CheckVerdict.WORKING, CheckVerdict.SLOWER}
    assert check.judgement.verdict in {CheckVerdict.WORKING, CheckVerdict.SLOWER}
    assert check.judgement.causes[0].code == "draft_stateless"
