"""Whether an export can work, and what else could."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop.domain.export_plan import ExportVerdict
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.domain.export_verdict import ExportNeed, ExportRoom, alternatives, judge
from dflash_desktop.services.catalogue_store import load_catalogue

GB = 1_000_000_000
NEED = ExportNeed(peak_bytes=20 * GB, disk_bytes=30 * GB, largest_file_bytes=5 * GB)
ROOM = ExportRoom(
    memory_total_bytes=32 * GB,
    memory_free_bytes=30 * GB,
    swap_free_bytes=0,
    reserve_bytes=2 * GB,
    disk_free_bytes=100 * GB,
    file_system="ext4",
)


@pytest.mark.parametrize(
    ("change", "verdict", "said"),
    [
        ({}, ExportVerdict.FITS, "28.0 GB can be had"),
        ({"memory_free_bytes": 24 * GB}, ExportVerdict.TIGHT, "Close some first"),
        ({"memory_free_bytes": 20 * GB}, ExportVerdict.CANNOT, "Only 20.0 GB are free now"),
        (
            {"memory_free_bytes": 14 * GB, "memory_total_bytes": 16 * GB},
            ExportVerdict.CANNOT,
            "This machine has 16.0 GB in all",
        ),
        (
            {"memory_free_bytes": 15 * GB, "swap_free_bytes": 16 * GB},
            ExportVerdict.TIGHT,
            "Close some first",
        ),
        ({"disk_free_bytes": 29 * GB}, ExportVerdict.CANNOT, "29.0 GB are free on the disk"),
        ({"file_system": "vfat"}, ExportVerdict.CANNOT, "FAT"),
        ({"file_system": "FAT32"}, ExportVerdict.CANNOT, "FAT"),
        ({"file_system": "exfat"}, ExportVerdict.FITS, ""),
        ({"commit_left_bytes": 15 * GB}, ExportVerdict.CANNOT, "paging file"),
        ({"commit_left_bytes": 22 * GB}, ExportVerdict.TIGHT, "21.5 GB can be had"),
    ],
)
def test_the_verdict_follows_from_the_machine(
    change: dict[str, object], verdict: ExportVerdict, said: str
) -> None:
    found, reasons = judge(NEED, replace(ROOM, **change))  # type: ignore[arg-type]

    assert found is verdict
    assert said in " ".join(reasons)


def request(repo_id: str, weights: WeightFormat) -> ExportRequest:
    source = ExportSource(SourceKind.HUB, repo_id=repo_id)
    return ExportRequest("a test", (ExportItem(ExportRole.TARGET, source, weights),))


def test_what_somebody_has_made_comes_first_then_a_smaller_format_then_another_machine() -> None:
    pairs = load_catalogue().pairs
    known = next(pair for pair in pairs if pair.is_prebuilt and pair.target.repository)
    name = str(known.target.repository).rpartition("/")[2].split("-int")[0]

    ways = alternatives(
        request(f"somebody/{name}", WeightFormat.FP16),
        pairs=pairs,
        commands=("optimum-cli export openvino",),
        smaller_helps=True,
    )

    assert ways[0].pair_id
    smaller, elsewhere = ways[-2:]
    assert smaller.request is not None
    assert smaller.request.items[0].weight_format is WeightFormat.INT8
    assert elsewhere.commands == ("optimum-cli export openvino",)


def test_nothing_is_smaller_than_int4_and_nothing_is_known_of_a_strange_model() -> None:
    ways = alternatives(
        request("a/quite-unknown-model", WeightFormat.INT4),
        pairs=load_catalogue().pairs,
        commands=(),
        smaller_helps=True,
    )

    assert [way.title for way in ways] == ["Export on another machine"]
