"""What library, memory and contract say of targets that see and of those that draft themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import InstalledModel, ModelCondition, ModelFile, ModelManifest
from dflash_desktop.domain.memory_budget import budget_of
from dflash_desktop.domain.pair_contract import Verdict, verdict_of
from dflash_desktop.services.installed_pairs import installed_pairs
from dflash_desktop.services.model_description import describe_model
from dflash_desktop.services.model_inspection import check_folders
from dflash_desktop.services.model_manifest import utc_now
from dflash_desktop.services.pair_library import check_pair_folders
from dflash_desktop.services.pair_memory import pair_sizes
from dflash_desktop.services.repair import ModelRepair
from dflash_desktop.workers.model_folder import fingerprint, weight_bytes
from tests.fakes.vision_models import KINDS, vision_pair

if TYPE_CHECKING:
    from pathlib import Path


def installed(folder: Path) -> InstalledModel:
    role, precision = describe_model(folder)
    files = tuple(ModelFile(f.name, f.stat().st_size, "0" * 64) for f in folder.iterdir())
    manifest = ModelManifest("", "", "", files, role, precision, utc_now(), None)
    return InstalledModel(
        folder.name, folder.name, folder, manifest, ModelCondition.VERIFIED, is_ours=False
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_that_sees_is_whole_and_taken(tmp_path: Path, kind: str) -> None:
    pair = vision_pair(tmp_path, kind)
    check_pair_folders(pair.target_dir, pair.draft_dir)
    assert verdict_of(check_folders(pair.target_dir, pair.draft_dir)) is not Verdict.BLOCKED


def test_a_target_with_a_head_comes_with_it_and_alone(tmp_path: Path) -> None:
    hybrid, gemma = vision_pair(tmp_path, "qwen3_5"), vision_pair(tmp_path, "gemma4")
    folders = (hybrid.target_dir, hybrid.draft_dir, gemma.target_dir)
    models = [installed(folder) for folder in folders if folder is not None]
    pairs = installed_pairs(models, tmp_path / "none.json")
    assert [(pair.id, pair.uses_own_head) for pair in pairs] == [
        ("qwen3_5_target+mtp", True),
        ("qwen3_5_target", False),
        ("gemma4_target", False),
    ]
    assert pairs[0].title == "qwen3_5_target with its own head"
    check_pair_folders(pairs[0].target_dir, pairs[0].draft_dir)


def test_each_draft_of_a_target_has_measurements_of_its_own(tmp_path: Path) -> None:
    pair = vision_pair(tmp_path, "qwen3_5")
    prints = [fingerprint(pair.target_dir, d) for d in (None, pair.draft_dir, pair.target_dir)]
    assert len({one.draft for one in prints}) == 3
    assert len({one.target for one in prints}) == 1
    with (pair.target_dir / "openvino_vision_embeddings_model.bin").open("ab") as file:
        file.write(b"other eyes")
    assert fingerprint(pair.target_dir, None).target != prints[0].target


def test_the_part_that_sees_and_the_head_are_counted_where_they_are_used(tmp_path: Path) -> None:
    pair = vision_pair(tmp_path, "qwen3_5")
    alone = pair_sizes(pair.target_dir, None)
    with_head = pair_sizes(pair.target_dir, pair.target_dir)
    with_draft = pair_sizes(pair.target_dir, pair.draft_dir)
    assert alone is not None
    assert with_head is not None
    assert with_draft is not None
    assert alone.sees_pictures
    assert alone.vision_bytes == sum(
        file.stat().st_size for file in pair.target_dir.glob("openvino_vision_*.bin")
    )
    assert alone.target_bytes == with_head.target_bytes == with_draft.target_bytes
    assert 0 < alone.target_bytes - weight_bytes(pair.target_dir) + alone.vision_bytes < 400_000
    head = (pair.target_dir / "openvino_mtp_model.bin").stat().st_size
    assert (alone.draft_bytes, with_head.draft_bytes) == (0, head)
    once, twice = (
        budget_of(with_draft, context_tokens=1024, runs_on_cpu=False, keeps_both=both)
        for both in (False, True)
    )
    assert twice.vision_bytes - once.vision_bytes == alone.vision_bytes
    assert once.vision_bytes > 500_000_000


def test_nothing_is_repaired_as_a_draft_where_the_draft_is_the_targets_own_head(
    tmp_path: Path,
) -> None:
    target = vision_pair(tmp_path, "qwen3_5").target_dir
    outcome = ModelRepair(added_dir=tmp_path / "added").repair(target, target)
    assert outcome.changed == ()
    assert verdict_of(outcome.findings_after) is not Verdict.BLOCKED
