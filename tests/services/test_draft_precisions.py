"""The same draft in other precisions is told from another draft by its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.draft_precisions import other_precisions
from tests.fakes.ir_models import write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path


def test_other_weights_of_one_draft_are_found_and_other_drafts_are_not(tmp_path: Path) -> None:
    names = ("int4", "int8", "copy", "layers", "mask", "wide")
    drafts = {name: write_draft(tmp_path / name) for name in names}
    for number, name in enumerate(("int8", "layers", "mask", "wide"), start=1):
        weights = drafts[name].folder / "openvino_model.bin"
        weights.write_bytes(weights.read_bytes() + bytes(number))
    drafts["layers"].edit("1,2,3", "1,2,4")
    drafts["mask"].edit('id value="3"', 'id value="4"')
    drafts["wide"].configure(vocab_size=999)
    target = write_target(tmp_path / "target")

    folders = [draft.folder for draft in drafts.values()]
    found = other_precisions(drafts["int4"].folder, [*folders, target.folder])
    assert found == (drafts["int8"].folder,)
