"""Which drafts are suggested for a new target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.fitting_drafts import fitting_drafts
from tests.fakes.ir_models import write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path


def test_only_drafts_that_the_contract_lets_through_are_suggested(tmp_path: Path) -> None:
    target = write_target(tmp_path / "target").folder
    fitting = write_draft(tmp_path / "draft").folder
    another_target = write_target(tmp_path / "no draft").folder
    found = fitting_drafts(target, (another_target, tmp_path / "gone", fitting, fitting))
    assert found == (fitting,)


def test_a_target_without_the_layers_that_a_draft_reads_gets_none(tmp_path: Path) -> None:
    small = write_target(tmp_path / "target", layers=2).folder
    assert fitting_drafts(small, (write_draft(tmp_path / "draft").folder,)) == ()
