"""The catalogue is decoded strictly, is complete, and every fact in it has a source."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from dflash_desktop.domain.catalogue import CataloguePair, DraftKind
from dflash_desktop.domain.problems import AppError
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.catalogue_store import (
    decode_catalogue,
    load_catalogue,
    load_known_drivers,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def content() -> dict[str, Any]:
    value = json.loads((resources_dir() / "catalogue.json").read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def pairs() -> dict[str, CataloguePair]:
    return {pair.id: pair for pair in load_catalogue().pairs}


REPOSITORIES = [
    "blaj/Qwen3-4B-instruct-int4-ov",
    "blaj/Qwen3-4B-Base-int4-ov",
    "blaj/Qwen3-4B-Base-int8-ov",
    "blaj/Qwen3-4B-DFlash-int4-ov",
    "blaj/Qwen3-4B-DFlash-int8-ov",
    "blaj/Qwen3-8B-Base-int4-ov",
    "blaj/Qwen3-8B-DFlash-int4-ov",
    "blaj/Qwen3-8B-DFlash-int8-ov",
    "blaj/Ornith-1.5-9B-int4-ov",
    "blaj/Ornith-1.5-9B-int8-ov",
    "blaj/Ornith-1.5-9B-DFlash-int4-ov",
    "blaj/Qwen3.5-9B-abliterated-int4-ov",
    "blaj/Qwen3.5-9B-abliterated-int8-ov",
    "blaj/Qwen3.5-9B-abliterated-DFlash-int4-ov",
    "blaj/Qwen3.5-9B-abliterated-DFlash-int8-ov",
    "blaj/Qwen3.5-9B-abliterated-DFlash-bf16-ov",
    "blaj/Qwen3.8-27B-heretic-ara-int4-ov",
    "blaj/Qwen3.8-27B-heretic-ara-int8-ov",
    "blaj/Qwen3.8-27B-heretic-ara-DFlash-int4-ov",
    "blaj/Qwen3.8-27B-heretic-ara-DFlash-int8-ov",
    "blaj/Qwen3.8-27B-heretic-ara-DFlash-fp16-ov",
    "Qwen/Qwen3-8B",
    "z-lab/Qwen3-8B-DFlash-b16",
    "google/gemma-4-31B-it",
    "z-lab/gemma-4-31B-it-DFlash",
    "z-lab/Qwen3.6-27B-DFlash",
    "incoai/Qwen3.8-27B-DFlash2",
    "deepseek-ai/dspark_qwen3_4b_block7",
    "deepseek-ai/dflash_qwen3_4b_block7",
    "openbmb/MiniCPM-V-4.7-1B-DSpark",
    "openbmb/MiniCPM-V-4.7-35B-A3B-DSpark",
    "z-lab/Qwen3.5-9B-DFlash",
    "circulus/Qwen3.5-9B-DFlash-ov-int4",
    "lukey03/Qwen3.5-9B-abliterated",
    "guglxni/Qwen3.5-9B-abliterated-DFlash",
    "blaj/LFM2.5-2.6B-heretic-int8-ov",
    "blaj/LFM2.5-2.6B-heretic-int4-ov",
    "blaj/LFM2.5-8B-A1B-heretic-int8-ov",
    "blaj/LFM2.5-8B-A1B-heretic-int4-ov",
    "blaj/Qwen2.5-VL-7B-Instruct-abliterated-int4-ov",
    "blaj/Qwen2.5-VL-7B-Instruct-abliterated-int8-ov",
    "blaj/Qwen3.8-3.6-27B-blend-int4-ov",
    "blaj/Qwen3.8-3.6-27B-blend-int8-ov",
    "blaj/Qwen3.8-3.6-27B-blend-fp16-ov",
    "blaj/Qwen-Image-2.1-Uncensored-OpenVINO-INT4",
]


def test_every_model_that_is_known_is_in_a_pair() -> None:
    used = {pair.target.repository for pair in pairs().values()}
    used |= {pair.draft.repository for pair in pairs().values() if pair.draft}

    assert used - {None} == set(REPOSITORIES)


def test_no_model_is_there_without_a_pair() -> None:
    everything = content()
    used = {pair["target"] for pair in everything["pairs"]}
    used |= {pair["draft"] for pair in everything["pairs"]}
    listed = {model["id"] for model in [*everything["targets"], *everything["drafts"]]}

    assert used - {None} == listed


@pytest.mark.parametrize(
    ("pair", "hardware", "baseline", "speed", "speedup"),
    [
        ("Ornith-1.5-9B-int4+Ornith-1.5-9B-DFlash-int4", "Arc 130V", 17.4, 51.0, 2.93),
        ("Ornith-1.5-9B-int8+Ornith-1.5-9B-DFlash-int4", "Arc 130V", 8.5, 37.0, 4.35),
        (
            "Qwen3.5-9B-abliterated-int4+Qwen3.5-9B-abliterated-DFlash-int4",
            "Arc 130V", 19.3, 43.7, 2.26,
        ),
        (
            "Qwen3.5-9B-abliterated-int8+Qwen3.5-9B-abliterated-DFlash-int4",
            "Arc 130V", 9.4, 25.6, 2.71,
        ),
        (
            "Qwen3.5-9B-abliterated-int8+Qwen3.5-9B-abliterated-DFlash-int8",
            "Arc 130V", 9.4, 24.2, 2.57,
        ),
        ("Qwen3.6-27B-int4+Qwen3.6-27B-DFlash-int4", "Arc B390", 7.13, 58.74, 8.01),
        ("Qwen3.8-27B-int4+Qwen3.8-27B-DFlash2-int4", "Arc B390", 7.53, 41.49, 5.50),
        ("Qwen3-4B-int8+dspark_qwen3_4b_block7", "Arc B390", 25.32, 94.07, 3.69),
        ("Qwen3-4B-int8+dflash_qwen3_4b_block7", "Arc B390", 25.29, 87.48, 3.43),
        ("MiniCPM-V-4.7-1B-int8+MiniCPM-V-4.7-1B-DSpark", "Arc B390", 94.03, 178.32, 1.88),
        (
            "MiniCPM-V-4.7-35B-A3B-int4+MiniCPM-V-4.7-35B-A3B-DSpark",
            "Arc B390", 40.41, 113.38, 2.65,
        ),
    ],
)  # fmt: skip
def test_speeds_are_those_that_were_published_with_their_hardware(
    pair: str, hardware: str, baseline: float, speed: float, speedup: float
) -> None:
    (one,) = pairs()[pair].measured

    assert one.hardware == hardware
    assert one.baseline_tokens_per_second == baseline
    assert one.tokens_per_second == speed
    assert one.speedup == speedup


def test_a_speedup_is_what_its_two_speeds_say() -> None:
    for pair in pairs().values():
        for one in pair.measured:
            if one.tokens_per_second and one.baseline_tokens_per_second and one.speedup:
                ratio = one.tokens_per_second / one.baseline_tokens_per_second
                assert one.speedup == pytest.approx(ratio, rel=0.07), pair.id  # of a token


def test_what_the_runtime_of_today_cannot_run_requires_a_newer_one() -> None:
    for pair in pairs().values():
        is_new = pair.draft is not None and pair.draft.kind is not DraftKind.DFLASH
        assert pair.requires.runtime == ("2026.5" if is_new else "2026.4.1"), pair.id


def test_a_draft_reads_as_many_layers_as_its_width_holds() -> None:
    for pair in pairs().values():
        draft, hidden = pair.draft, pair.target.hidden_size
        if draft and hidden and draft.target_layer_ids and draft.hidden_states_width:
            assert len(draft.target_layer_ids) * hidden == draft.hidden_states_width, pair.id
        if draft and draft.target_layer_ids and pair.target.layers:
            assert max(draft.target_layer_ids) < pair.target.layers, pair.id


def test_what_people_must_know_before_they_choose_is_labelled() -> None:
    for pair in pairs().values():
        if re.search(r"abliterated|heretic|uncensored", pair.id, re.IGNORECASE):
            assert pair.target.content_label == "uncensored", pair.id


def test_sizes_are_those_of_the_sources_and_nobody_elses() -> None:
    known = {
        model["id"]: model["weights_bytes"]
        for model in [*content()["targets"], *content()["drafts"]]
        if "weights_bytes" in model
    }

    assert known.pop("SmolLM2-135M-Instruct-int8") > 100_000_000
    assert known.pop("SmolLM2-135M-DFlash-int8") == (
        (resources_dir() / "starter" / "draft" / "openvino_model.bin").stat().st_size
    )
    assert known == {
        "Ornith-1.5-9B-int4": 8_100_000_000,
        "Qwen3.5-9B-abliterated-int4": 5_700_000_000,
        "Ornith-1.5-9B-DFlash-int4": 866_000_000,
        "Qwen3.5-9B-abliterated-DFlash-int8": 1_002_000_000,
    }


def test_every_source_is_used() -> None:
    everything = content()
    used = {
        s for m in [*everything["targets"], *everything["drafts"]] for s in m["sources"].values()
    }
    for pair in everything["pairs"]:
        used |= {pair["requires"]["source"], *(one["source"] for one in pair.get("measured", []))}

    assert used == everything["sources"].keys()


def _misspell(value: dict[str, Any]) -> None:
    value["targets"][0]["paramters"] = value["targets"][0].pop("parameters")


def _forget_a_source(value: dict[str, Any]) -> None:
    del value["targets"][0]["sources"]["licence"]


def _invent_a_source(value: dict[str, Any]) -> None:
    value["targets"][0]["sources"]["licence"] = "hearsay"


def _source_of_nothing(value: dict[str, Any]) -> None:
    value["targets"][0]["sources"]["colour"] = "name"


def _name_a_stranger(value: dict[str, Any]) -> None:
    value["pairs"][0]["target"] = "GPT-9"


def _say_it_twice(value: dict[str, Any]) -> None:
    value["pairs"].append(value["pairs"][0])


def _same_model_twice(value: dict[str, Any]) -> None:
    value["drafts"].append(value["drafts"][0])


def _wrong_type(value: dict[str, Any]) -> None:
    value["targets"][0]["weights_bytes"] = "166 MB"


def _unknown_kind(value: dict[str, Any]) -> None:
    value["drafts"][0]["kind"] = "eagle"


def _other_form(value: dict[str, Any]) -> None:
    value["version"] = 2


def _unsourced_speed(value: dict[str, Any]) -> None:
    value["pairs"][0]["measured"] = [{"hardware": "Arc", "source": "hearsay", "speedup": 9.0}]


DAMAGES = [
    _misspell, _forget_a_source, _invent_a_source, _source_of_nothing, _name_a_stranger,
    _say_it_twice, _same_model_twice, _wrong_type, _unknown_kind, _other_form, _unsourced_speed,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_not_quite_right_is_refused(
    damage: Callable[[dict[str, Any]], None],
) -> None:
    value = content()
    decode_catalogue(encoded(value))
    damage(value)

    with pytest.raises(msgspec.ValidationError):
        decode_catalogue(encoded(value))


OWN = {
    "version": 1,
    "about": "mine",
    "sources": {"me": "my own"},
    "targets": [
        {"id": "Mine", "title": "Mine", "family": "Mine", "parameters": 3_000_000_000,
         "sources": {"parameters": "me"}}
    ],
    "drafts": [],
    "pairs": [
        {"target": "Mine", "draft": None, "requires": {"runtime": "2026.4.1", "source": "me"}}
    ],
}  # fmt: skip


def test_own_pairs_come_to_those_of_the_program(tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    file.write_bytes(encoded(OWN))

    catalogue = load_catalogue(own_file=file)

    assert {pair.id for pair in catalogue.pairs} == pairs().keys() | {"Mine"}
    assert catalogue.sources["me"] == "my own"


def test_without_own_pairs_there_is_no_complaint(tmp_path: Path) -> None:
    assert load_catalogue(own_file=tmp_path / "pairs.json") == load_catalogue()


@pytest.mark.parametrize("data", [b"{", encoded({**OWN, "version": 9}), encoded(content())])
def test_own_pairs_that_cannot_be_used_are_told_and_kept(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    file.write_bytes(data)

    with pytest.raises(AppError) as caught:
        load_catalogue(own_file=file)

    assert caught.value.problem.code == "own_pairs_invalid"
    assert str(file) in caught.value.problem.advice
    assert file.read_bytes() == data


def test_known_drivers_have_their_public_reports() -> None:
    drivers = {known.driver: known for known in load_known_drivers()}

    assert drivers.keys() == {"101.8629", "101.8425", "101.6559"}
    for known in drivers.values():
        assert re.fullmatch(r"https://github\.com/[\w-]+/[\w-]+/issues/\d+", known.source)
        assert known.system in ("windows", "linux")
        assert known.effect.endswith(".")
        assert known.advice.endswith(".")
