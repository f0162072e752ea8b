from __future__ import annotations

import pytest

from dflash_desktop.domain.gpu_family import GpuFamily, family_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Intel(R) Arc(TM) A380 Graphics (dGPU)", GpuFamily.ALCHEMIST),
        ("Intel(R) Arc(TM) A770M Graphics", GpuFamily.ALCHEMIST),
        ("Intel(R) Arc(TM) Pro A60 Graphics", GpuFamily.ALCHEMIST),
        ("Intel(R) Arc(TM) B580 Graphics (dGPU)", GpuFamily.BATTLEMAGE),
        ("Intel(R) Arc(TM) Pro B60 Graphics (dGPU)", GpuFamily.BATTLEMAGE),
        ("Intel(R) Arc(TM) B390 GPU (iGPU)", GpuFamily.PANTHER_LAKE),
        ("Intel(R) Arc(TM) B370 GPU", GpuFamily.PANTHER_LAKE),
        ("Intel(R) Arc(TM) 130V GPU (8GB) (iGPU)", GpuFamily.LUNAR_LAKE),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", GpuFamily.LUNAR_LAKE),
        ("Intel(R) Arc(TM) 140T GPU (32GB)", GpuFamily.ARROW_LAKE),
        ("Intel(R) Arc(TM) Graphics (iGPU)", GpuFamily.METEOR_LAKE),
        ("Intel(R) Graphics [0x56a1]", GpuFamily.ALCHEMIST),
        ("Intel(R) Graphics [0x7d51] (iGPU)", GpuFamily.ARROW_LAKE),
        ("Intel(R) UHD Graphics 770 (iGPU)", GpuFamily.OTHER_INTEL),
        ("Intel(R) Iris(R) Xe Graphics", GpuFamily.OTHER_INTEL),
        ("Intel(R) Graphics", GpuFamily.OTHER_INTEL),
        ("NVIDIA RTX A380", GpuFamily.NOT_INTEL),
        ("AMD Radeon(TM) Graphics", GpuFamily.NOT_INTEL),
    ],
)
def test_from_the_name(name: str, family: GpuFamily) -> None:
    assert family_of(name=name) is family


@pytest.mark.parametrize(
    ("pci_id", "family"),
    [
        ("8086:56A0", GpuFamily.ALCHEMIST),
        ("8086:e20b", GpuFamily.BATTLEMAGE),
        ("8086:e211", GpuFamily.BATTLEMAGE),
        ("8086:7d55", GpuFamily.METEOR_LAKE),
        ("8086:7d51", GpuFamily.ARROW_LAKE),
        ("8086:64a0", GpuFamily.LUNAR_LAKE),
        ("8086:b080", GpuFamily.PANTHER_LAKE),
        ("8086:4680", GpuFamily.OTHER_INTEL),
        ("10de:2882", GpuFamily.NOT_INTEL),
    ],
)
def test_from_the_pci_id_whatever_the_name_says(pci_id: str, family: GpuFamily) -> None:
    assert family_of(name="Graphics", pci_id=pci_id) is family


def test_the_id_of_another_maker_beats_a_name_with_intel_in_it() -> None:
    assert family_of(name="Intel look-alike", pci_id="1002:744c") is GpuFamily.NOT_INTEL


@pytest.mark.parametrize("family", GpuFamily)
def test_every_family_has_a_name_for_people(family: GpuFamily) -> None:
    assert family.label


def test_cards_and_built_in_graphics_are_told_apart() -> None:
    assert GpuFamily.BATTLEMAGE.is_integrated is False
    assert GpuFamily.PANTHER_LAKE.is_integrated is True
    assert GpuFamily.OTHER_INTEL.is_integrated is None
