"""Own pairs of hub repositories: entered, kept in the catalogue's form, judged like all others."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.catalogue import DraftKind
from dflash_desktop.domain.memory_pool import memory_pool
from dflash_desktop.domain.own_pair import OwnPairEntry, repository_name
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.recommend import (
    PROGRAM_DRAFT_KINDS,
    PROGRAM_MODEL_KINDS,
    Abilities,
    recommend,
)
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.own_pairs import OwnPairs
from tests.machines import machine

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = OwnPairEntry(
    target_repository="https://huggingface.co/ada/My-Model-8B-int4-ov/tree/main",
    draft_repository="ada/My-Model-8B-DFlash",
    title="My model",
    parameters=8_000_000_000,
    licence="MIT",
    content_label="uncensored",
)
PAIR_ID = "ada--My-Model-8B-int4-ov+ada--My-Model-8B-DFlash"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "pairs.json"


def test_what_was_entered_is_judged_like_every_other_pair(file: Path) -> None:
    added = OwnPairs(file).add(ENTRY)
    assert added.id == PAIR_ID
    pool = memory_pool(machine("arc_140v_32gb"))
    abilities = Abilities("2026.4.1", PROGRAM_DRAFT_KINDS, PROGRAM_MODEL_KINDS)
    ranked = recommend(load_catalogue(own_file=file), pool, abilities=abilities)
    mine = next(one for one in ranked if one.pair.id == PAIR_ID)
    assert mine.runnable
    assert mine.pair.target.repository == "ada/My-Model-8B-int4-ov"
    assert mine.pair.target.licence == "MIT"
    assert "uncensored" in mine.reasons


def test_entering_it_again_corrects_it(file: Path) -> None:
    own = OwnPairs(file)
    own.add(ENTRY)
    own.add(replace(ENTRY, target_bytes=5_000_000_000, licence=""))
    (pair,) = own.pairs()
    assert pair.target.weights_bytes == 5_000_000_000
    assert pair.target.licence is None


def test_what_was_written_by_hand_stays(file: Path) -> None:
    own = OwnPairs(file)
    own.add(ENTRY)
    raw = json.loads(file.read_text(encoding="utf-8"))
    raw["about"] = "Mine."
    raw["sources"]["card"] = "the model's card"
    raw["targets"][0]["layers"] = 36
    raw["targets"][0]["sources"]["layers"] = "card"
    file.write_text(json.dumps(raw), encoding="utf-8")
    own.add(OwnPairEntry("bob/Other", target_bytes=3_000_000_000))
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept["about"] == "Mine."
    assert kept["targets"][0]["layers"] == 36
    assert [pair.id for pair in own.pairs()] == [PAIR_ID, "bob--Other"]


def test_removing_one_leaves_the_others_and_no_orphans(file: Path) -> None:
    own = OwnPairs(file)
    own.add(ENTRY)
    own.add(replace(ENTRY, draft_repository=""))
    own.remove(PAIR_ID)
    (left,) = own.pairs()
    assert left.id == "ada--My-Model-8B-int4-ov"
    assert json.loads(file.read_text(encoding="utf-8"))["drafts"] == []


def test_a_new_kind_of_draft_waits_for_the_runtime_that_knows_it(file: Path) -> None:
    pair = OwnPairs(file).add(replace(ENTRY, draft_kind=DraftKind.DSPARK))
    assert pair.requires.runtime == "2026.5"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target_repository": "no name"}, "is no repository"),
        ({"target_repository": "../../etc/passwd"}, "is no repository"),
        ({"target_repository": "owner/..name"}, "is no repository"),
        ({"draft_repository": "nothing"}, "is no repository"),
        ({"draft_repository": "ADA/my-model-8b-int4-ov"}, "the same repository"),
        ({"parameters": None}, "cannot be told without its size"),
        ({"parameters": -1}, "number of parameters cannot be right"),
        ({"target_bytes": 10**16}, "target's size cannot be right"),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_nothing_is_written(
    file: Path, change: dict[str, object], words: str
) -> None:
    with pytest.raises(AppError) as caught:
        OwnPairs(file).add(replace(ENTRY, **change))  # type: ignore[arg-type]  # one field each
    assert words in caught.value.problem.headline
    assert caught.value.problem.advice
    assert not file.exists()


def test_a_pair_of_the_program_itself_is_named(file: Path) -> None:
    known = next(p for p in load_catalogue().pairs if p.target.repository and p.draft)
    assert known.draft is not None
    entry = OwnPairEntry(
        known.target.repository or "", known.draft.repository or "", parameters=4_000_000_000
    )
    with pytest.raises(AppError) as caught:
        OwnPairs(file).add(entry)
    assert caught.value.problem.code == "own_pair_known"
    assert known.title in caught.value.problem.headline


def test_a_damaged_file_is_told_and_left_alone(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('{"version": 1, "oops": 2}', encoding="utf-8")
    with pytest.raises(AppError) as caught:
        OwnPairs(file).add(ENTRY)
    assert caught.value.problem.code == "own_pairs_invalid"
    assert str(file) in caught.value.problem.advice
    assert file.read_text(encoding="utf-8") == '{"version": 1, "oops": 2}'


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_that_refuses_is_told(file: Path) -> None:
    file.parent.mkdir()
    file.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(AppError) as caught:
        OwnPairs(file).add(ENTRY)
    assert caught.value.problem.code == "not_writable"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ada/model", "ada/model"),
        (" https://huggingface.co/ada/model ", "ada/model"),
        ("hf.co/ada/model?library=openvino", "ada/model"),
        ("http://www.huggingface.co/ada/model/blob/main/config.json", "ada/model"),
        ("ada/model/sub", None),
        ("model", None),
        ("/home/ada/model", None),
        ("C:\\models\\target", None),
        ("ada/mo del", None),
        ("ada/model\u202e", None),
        ("", None),
    ],
)
def test_a_repository_is_known_by_its_name_or_address(text: str, name: str | None) -> None:
    assert repository_name(text) == name
