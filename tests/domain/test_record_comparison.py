"""What differs between two records, and whether it can explain a difference in speed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.record_comparison import Explains, compare_records
from dflash_desktop.domain.reproducibility import RecordedFile
from tests.domain.records import check, measurement, model, record

if TYPE_CHECKING:
    from dflash_desktop.domain.reproducibility import PairRecord

RECORD = record()
MACHINE = RECORD.machine
TARGET, DRAFT = RECORD.models
README, CONFIG, WEIGHTS = TARGET.files
OTHER_CARD = replace(TARGET, files=(replace(README, sha256="e" * 64), CONFIG, WEIGHTS))
OTHER_CONFIG = replace(TARGET, files=(README, replace(CONFIG, sha256="e" * 64), WEIGHTS))
OTHER_WEIGHTS = replace(TARGET, files=(README, CONFIG, replace(WEIGHTS, sha256="e" * 64)))


def test_a_record_equals_itself() -> None:
    assert compare_records(RECORD, record()) == ()


@pytest.mark.parametrize(
    ("other", "what", "explains"),
    [
        (replace(RECORD, models=(TARGET,)), "draft", Explains.LIKELY),
        (replace(RECORD, models=(OTHER_CARD, DRAFT)), "target README.md", Explains.NO),
        (replace(RECORD, models=(OTHER_CONFIG, DRAFT)), "target config.json", Explains.POSSIBLE),
        (
            replace(RECORD, models=(OTHER_WEIGHTS, DRAFT)),
            "target openvino_model.bin",
            Explains.LIKELY,
        ),
        (
            replace(RECORD, models=(TARGET, replace(DRAFT, name="renamed"))),
            "draft name",
            Explains.NO,
        ),
        (
            replace(RECORD, models=(replace(TARGET, precision="int8"), DRAFT)),
            "target precision",
            Explains.LIKELY,
        ),
        (
            replace(RECORD, versions={**RECORD.versions, "openvino": "2026.5.0"}),
            "openvino",
            Explains.LIKELY,
        ),
        (
            replace(RECORD, versions={**RECORD.versions, "python": "3.13.0"}),
            "python",
            Explains.NO,
        ),
        (
            replace(RECORD, machine=replace(MACHINE, power_source="battery")),
            "power source",
            Explains.LIKELY,
        ),
        (replace(RECORD, machine=replace(MACHINE, cpu="Other")), "processor", Explains.LIKELY),
        (
            replace(
                RECORD,
                machine=replace(MACHINE, devices=(replace(MACHINE.devices[0], driver="9"),)),
            ),
            "driver of Arc B580",
            Explains.LIKELY,
        ),
        (replace(RECORD, findings=()), "contract draft_stateless", Explains.LIKELY),
        (
            replace(RECORD, measurements=(replace(measurement(), kv_cache_precision="u8"),)),
            "measured KV cache",
            Explains.LIKELY,
        ),
    ],
)
def test_one_difference_is_found_with_its_weight(
    other: PairRecord, what: str, explains: Explains
) -> None:
    (found,) = compare_records(RECORD, other)
    assert (found.what, found.explains) == (what, explains)
    (back,) = compare_records(other, RECORD)
    assert (back.left, back.right) == (found.right, found.left)


def test_the_likeliest_causes_come_first() -> None:
    extra = RecordedFile("openvino_model.xml", 5, "f" * 64)
    other = replace(
        RECORD,
        models=(replace(OTHER_CARD, files=(*OTHER_CARD.files, extra)), DRAFT),
        versions={**RECORD.versions, "python": "3.13.0"},
    )
    found = compare_records(RECORD, other)
    assert [one.explains for one in found] == [Explains.LIKELY, Explains.NO, Explains.NO]
    assert found[0].left == ""
    assert model("target") == TARGET


def test_verdicts_of_checks_that_contradict_each_other_are_a_likely_cause() -> None:
    useless = replace(check(), verdict="useless", causes=("draft_output_unsliced",))
    (found,) = compare_records(record(), replace(record(), check=useless))
    assert (found.what, found.left, found.explains) == (
        "check",
        "working, 2026-11-29",
        Explains.LIKELY,
    )
    assert found.right == "useless (draft_output_unsliced), 2026-11-29"


def test_a_side_that_was_never_checked_is_shown_and_explains_nothing() -> None:
    (found,) = compare_records(record(), replace(record(), check=None))
    assert (found.what, found.right, found.explains) == ("check", "", Explains.NO)
