"""A record with everything in it, for tests to change one thing of."""

from __future__ import annotations

from datetime import UTC, datetime

from dflash_desktop.domain.reproducibility import (
    PairRecord,
    RecordedCheck,
    RecordedDevice,
    RecordedFile,
    RecordedFinding,
    RecordedMachine,
    RecordedMeasurement,
    RecordedModel,
    RecordedRun,
)

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


def model(subject: str, sha256: str = "a" * 64) -> RecordedModel:
    return RecordedModel(
        subject=subject,
        name=f"owner/{subject}",
        kind="text" if subject == "target" else "dflash",
        repo_id=f"owner/{subject}",
        commit="c" * 40,
        precision="int4",
        exported_with={"optimum/optimum_intel_version": "2.2.0"},
        made_from={},
        repaired=(),
        hashes_from="manifest",
        files=(
            RecordedFile("README.md", 10, "b" * 64),
            RecordedFile("config.json", 100, "c" * 64),
            RecordedFile("openvino_model.bin", 1_000_000, sha256),
        ),
    )


def measurement() -> RecordedMeasurement:
    return RecordedMeasurement(
        measured_at=NOON,
        device_name="Arc B580",
        driver="1.2",
        runtime="2026.4.1",
        kv_cache_precision="f16",
        power_source="mains",
        is_fast=True,
        chosen_assistant_tokens=4,
        chosen_speedup=2.5,
        baseline_tokens_per_second=20.0,
        runs=(RecordedRun("code", 4, 20.0, 50.0, 3.1, is_identical=True),),
    )


def check() -> RecordedCheck:
    return RecordedCheck(
        checked_at=NOON,
        verdict="working",
        causes=(),
        device_name="Arc B580",
        driver="1.2",
        runtime="2026.4.1",
        kv_cache_precision="f16",
        assistant_tokens=4,
        speedup=2.4,
        tokens_per_step=3.0,
        text="identical",
    )


def record() -> PairRecord:
    return PairRecord(
        record_version=1,
        made_at=NOON,
        versions={"dflash-desktop": "0.1.0", "openvino": "2026.4.1", "python": "3.12.1"},
        machine=RecordedMachine(
            os="Linux",
            cpu="Core Ultra 7",
            memory_bytes=32_000_000_000,
            power_source="mains",
            power_mode="",
            devices=(RecordedDevice("GPU", "Arc B580", "1.2", 12_000_000_000),),
            chosen_device="GPU",
        ),
        models=(model("target"), model("draft", "d" * 64)),
        verdict="warnings",
        findings=(RecordedFinding("draft_stateless", "warn", "draft", "x", "y", "z"),),
        check=check(),
        measurements=(measurement(),),
        commands=("dflash-desktop verify TARGET DRAFT",),
    )
