"""What is recommended for each recorded machine: tier, usable memory, first three pairs."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from dflash_desktop.domain.gpu_family import GpuFamily
from dflash_desktop.domain.gpu_findings import findings
from dflash_desktop.domain.memory_pool import PoolKind, memory_pool
from dflash_desktop.domain.recommend import (
    PROGRAM_DRAFT_KINDS,
    PROGRAM_MODEL_KINDS,
    Abilities,
    Tier,
    Verdict,
    recommend,
    tier_of,
)
from dflash_desktop.services.catalogue_store import load_catalogue, load_known_drivers
from tests.machines import MACHINES_DIR, machine

TODAY = Abilities("2026.4.1.0", PROGRAM_DRAFT_KINDS, PROGRAM_MODEL_KINDS)

STARTER = "SmolLM2-135M-Instruct-int8+SmolLM2-135M-DFlash-int8"
QWEN_4B = "Qwen3-4B-instruct-int4+Qwen3-4B-DFlash-int4"
QWEN_4B_BASE = "Qwen3-4B-Base-int4+Qwen3-4B-DFlash-int4"
QWEN_8B_BASE = "Qwen3-8B-Base-int4+Qwen3-8B-DFlash-int4"
QWEN_9B = "Qwen3.5-9B-abliterated-int4+Qwen3.5-9B-abliterated-DFlash-int4"
LFM_8B = "LFM2.5-8B-A1B-heretic-int4"
LFM_3B = "LFM2.5-2.6B-heretic-int4"
MINICPM_1B = "MiniCPM-V-4.7-1B-int8+MiniCPM-V-4.7-1B-DSpark"
QWEN_27B = "Qwen3.8-27B-heretic-ara-int4+Qwen3.8-27B-heretic-ara-DFlash-int4"
ORNITH_9B = "Ornith-1.5-9B-int4+Ornith-1.5-9B-DFlash-int4"
LARGE = (QWEN_9B, QWEN_8B_BASE, QWEN_4B)
SEEING = (ORNITH_9B, QWEN_9B, QWEN_8B_BASE)  # the first sees pictures
FLAGSHIP = (QWEN_27B, ORNITH_9B, QWEN_9B)  # the first two see pictures
SLOW = (QWEN_4B, QWEN_4B_BASE, LFM_8B)  # the last is a mixture: 1 of its 8 billion at a time


@dataclass(frozen=True)
class Expected:
    tier: Tier
    pool: PoolKind
    usable_gb: float
    first_three: tuple[str, str, str]


EXPECTED = {
    "arc_a380": Expected(Tier.COMPACT, PoolKind.CARD, 6.0, (QWEN_4B, QWEN_4B_BASE, LFM_3B)),
    "arc_a770_16gb": Expected(Tier.LARGE, PoolKind.CARD, 15.4, SEEING),
    "arc_b570": Expected(Tier.STANDARD, PoolKind.CARD, 9.6, LARGE),
    "arc_b580": Expected(Tier.LARGE, PoolKind.CARD, 11.6, LARGE),
    "arc_pro_b60": Expected(Tier.FLAGSHIP, PoolKind.CARD, 23.1, FLAGSHIP),
    "arc_130v_16gb": Expected(Tier.LARGE, PoolKind.SHARED, 9.0, LARGE),
    "arc_140v_32gb": Expected(Tier.FLAGSHIP, PoolKind.SHARED, 23.0, FLAGSHIP),
    "arc_140t_64gb": Expected(Tier.FLAGSHIP, PoolKind.SHARED, 56.0, FLAGSHIP),
    "arc_b390": Expected(Tier.FLAGSHIP, PoolKind.SHARED, 26.0, FLAGSHIP),
    "meteor_lake_16gb": Expected(  # the 9B pair is tight here, so it comes after what fits
        Tier.LARGE, PoolKind.SHARED, 7.8, (QWEN_4B, QWEN_4B_BASE, LFM_8B)
    ),
    "uhd_770": Expected(Tier.FLAGSHIP, PoolKind.SHARED, 26.0, SLOW),
    "nvidia_beside_intel": Expected(Tier.LARGE, PoolKind.SHARED, 8.4, SLOW),
    "two_arc_cards": Expected(Tier.LARGE, PoolKind.CARD, 15.4, SEEING),
    "two_arc_cards_other_order": Expected(Tier.LARGE, PoolKind.CARD, 15.4, SEEING),
    "cpu_only": Expected(Tier.LARGE, PoolKind.SYSTEM, 20.7, SLOW),
    "wsl_a750": Expected(Tier.COMPACT, PoolKind.CARD, 6.5, (QWEN_4B, QWEN_4B_BASE, LFM_3B)),
    "sriov_slice": Expected(Tier.STARTER, PoolKind.CARD, 4.1, (LFM_3B, STARTER, MINICPM_1B)),
    "resizable_bar_off": Expected(Tier.FLAGSHIP, PoolKind.SYSTEM, 26.0, SLOW),
    "laptop_8gb": Expected(Tier.COMPACT, PoolKind.SHARED, 3.3, (STARTER, LFM_3B, MINICPM_1B)),
}

FINDINGS = {
    "arc_130v_16gb": {"known_bad_driver", "shared_memory_limit", "npu_not_offered", "on_battery"},
    "arc_140v_32gb": {"npu_not_offered"},
    "arc_140t_64gb": {"npu_not_offered"},
    "arc_b390": {"npu_not_offered"},
    "meteor_lake_16gb": {"npu_not_offered", "shared_memory_limit"},
    "nvidia_beside_intel": {"gpu_not_intel"},
    "cpu_only": {"no_intel_gpu"},
    "wsl_a750": {"small_allocation_limit"},
    "sriov_slice": {"gpu_virtual_slice"},
    "resizable_bar_off": {"resizable_bar_off", "gpu_memory_unknown", "small_allocation_limit"},
}

FAMILIES = {
    "arc_a380": GpuFamily.ALCHEMIST,
    "arc_a770_16gb": GpuFamily.ALCHEMIST,
    "arc_b570": GpuFamily.BATTLEMAGE,
    "arc_b580": GpuFamily.BATTLEMAGE,
    "arc_pro_b60": GpuFamily.BATTLEMAGE,
    "arc_130v_16gb": GpuFamily.LUNAR_LAKE,
    "arc_140v_32gb": GpuFamily.LUNAR_LAKE,
    "arc_140t_64gb": GpuFamily.ARROW_LAKE,
    "arc_b390": GpuFamily.PANTHER_LAKE,
    "meteor_lake_16gb": GpuFamily.METEOR_LAKE,
    "uhd_770": GpuFamily.OTHER_INTEL,
    "nvidia_beside_intel": GpuFamily.OTHER_INTEL,
    "two_arc_cards": GpuFamily.ALCHEMIST,
    "two_arc_cards_other_order": GpuFamily.ALCHEMIST,
    "wsl_a750": GpuFamily.ALCHEMIST,
    "sriov_slice": GpuFamily.BATTLEMAGE,
}


def test_every_recorded_machine_is_expected_to_be_something() -> None:
    names = {file.stem for file in MACHINES_DIR.glob("*.json")}

    assert names == EXPECTED.keys()
    assert len(names) >= 16
    assert FINDINGS.keys() | FAMILIES.keys() <= names


@pytest.mark.parametrize("name", EXPECTED)
def test_a_machine_says_where_it_is_from_and_what_of_it_is_made_up(name: str) -> None:
    about = json.loads((MACHINES_DIR / f"{name}.json").read_text(encoding="utf-8"))["about"]

    assert about["machine"]
    assert about["sources"]
    assert isinstance(about["reconstructed"], list)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_recommended(name: str) -> None:
    expected = EXPECTED[name]
    pool = memory_pool(machine(name))

    ranked = recommend(load_catalogue(), pool, abilities=TODAY)

    assert tier_of(pool) is expected.tier
    assert pool.kind is expected.pool
    assert pool.usable_bytes == pytest.approx(expected.usable_gb * 1e9, abs=0.06e9)
    assert tuple(one.pair.id for one in ranked[:3]) == expected.first_three


@pytest.mark.parametrize("name", EXPECTED)
def test_nothing_too_big_is_ranked_before_what_fits(name: str) -> None:
    ranked = recommend(load_catalogue(), memory_pool(machine(name)), abilities=TODAY)

    is_too_big = [one.verdict is Verdict.TOO_BIG for one in ranked]
    assert is_too_big == sorted(is_too_big)
    assert not any(one.runnable for one in ranked if one.verdict is Verdict.TOO_BIG)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_found(name: str) -> None:
    codes = {problem.code for problem in findings(machine(name), load_known_drivers())}

    assert codes == FINDINGS.get(name, set())


@pytest.mark.parametrize("name", FAMILIES)
def test_the_family_follows_from_what_was_recorded(name: str) -> None:
    gpu = machine(name).best_gpu

    assert gpu is not None
    assert gpu.family is FAMILIES[name]


def test_the_order_of_two_cards_does_not_matter() -> None:
    one, other = machine("two_arc_cards").best_gpu, machine("two_arc_cards_other_order").best_gpu

    assert one is not None
    assert other is not None
    assert one.identity == other.identity
    assert one.device != other.device


def test_the_larger_9b_pair_fits_a_card_of_16_gb_and_not_a_laptop_of_16_gb() -> None:
    ornith = "Ornith-1.5-9B-int4+Ornith-1.5-9B-DFlash-int4"

    def verdict(name: str) -> Verdict:
        ranked = recommend(load_catalogue(), memory_pool(machine(name)), abilities=TODAY)
        return next(one.verdict for one in ranked if one.pair.id == ornith)

    assert verdict("arc_130v_16gb") is Verdict.TOO_BIG
    assert verdict("arc_140v_32gb") is Verdict.FITS
    assert verdict("arc_a770_16gb") is Verdict.FITS
