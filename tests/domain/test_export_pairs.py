"""Which pairs of the catalogue can be exported, and as what."""

from __future__ import annotations

from dataclasses import replace

from dflash_desktop.domain.catalogue import (
    CataloguePair,
    DraftKind,
    DraftModel,
    Precision,
    Requires,
    TargetModel,
)
from dflash_desktop.domain.export_pairs import request_to_export, requests_to_export
from dflash_desktop.domain.export_request import ExportRole, WeightFormat

TARGET = TargetModel("t", "Target 8B", "family", {}, repository="owner/target")
DRAFT = DraftModel("d", "its draft", {}, DraftKind.DFLASH, repository="owner/draft")
PAIR = CataloguePair(TARGET, DRAFT, Requires("2026.4.1", "runtime"))


def test_both_parts_that_nobody_has_converted_are_made() -> None:
    request = request_to_export(PAIR)
    assert request is not None
    assert request.title == "Target 8B with its draft"
    assert [(i.role, i.source.repo_id, i.weight_format) for i in request.items] == [
        (ExportRole.TARGET, "owner/target", WeightFormat.INT4),
        (ExportRole.DRAFT, "owner/draft", WeightFormat.INT4),
    ]


def test_a_part_that_can_be_had_is_not_made_again() -> None:
    half = replace(PAIR, draft=replace(DRAFT, is_prebuilt=True))
    request = request_to_export(half)
    assert request is not None
    assert [item.role for item in request.items] == [ExportRole.TARGET]
    whole = replace(half, target=replace(TARGET, is_prebuilt=True))
    assert request_to_export(whole) is None


def test_the_precision_that_the_catalogue_names_is_kept() -> None:
    named = replace(PAIR, target=replace(TARGET, precision=Precision.INT8))
    request = request_to_export(named)
    assert request is not None
    assert request.items[0].weight_format is WeightFormat.INT8


def test_what_nobody_knows_where_to_get_or_how_to_make_is_left_out() -> None:
    nowhere = replace(PAIR, target=replace(TARGET, repository=None))
    newer = replace(PAIR, draft=replace(DRAFT, kind=DraftKind.DSPARK))
    assert requests_to_export((nowhere, newer)) == ()
