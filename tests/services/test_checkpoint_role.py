"""Which half of a pair a dropped checkpoint is."""

from __future__ import annotations

from pathlib import Path

import pytest

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.checkpoint_role import role_of
from tests.exporting.checkpoints import write_checkpoint


@pytest.mark.parametrize(
    ("kind", "role"), [("text", ExportRole.TARGET), ("draft", ExportRole.DRAFT)]
)
def test_a_folder_says_it_itself(tmp_path: Path, kind: str, role: ExportRole) -> None:
    assert role_of(write_checkpoint(tmp_path / "checkpoint", kind)) is role


def test_a_gguf_file_can_only_be_a_draft_and_is_not_opened() -> None:
    assert role_of(Path("/nowhere/model.GGUF")) is ExportRole.DRAFT


def test_what_is_no_checkpoint_is_told(tmp_path: Path) -> None:
    with pytest.raises(AppError):
        role_of(tmp_path)
