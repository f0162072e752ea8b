"""Models on a disk in every condition, for the tests and the pictures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from dflash_desktop.domain.library import (
    FileDifference,
    InstalledModel,
    ModelCondition,
    ModelFile,
    ModelManifest,
    ModelRole,
    VerificationReport,
)

NOW = datetime(2026, 11, 29, 15, 4, tzinfo=UTC)
LIBRARY = Path("/home/ada/.local/share/dflash-desktop/models")


def model(
    model_id: str = "OpenVINO/Qwen3-8B-int4-ov",
    *,
    size_bytes: int = 4_820_000_000,
    role: ModelRole = ModelRole.TARGET,
    precision: str = "int4",
    condition: ModelCondition = ModelCondition.VERIFIED,
    is_ours: bool = True,
    days_since_use: int | None = 1,
) -> InstalledModel:
    name = model_id.rpartition("/")[2]
    return InstalledModel(
        id=model_id,
        title=name,
        path=LIBRARY / name if is_ours else Path("/media/ada/STICK/models") / name,
        manifest=ModelManifest(
            repo_id=model_id if is_ours else "",
            commit="1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d" if is_ours else "",
            endpoint="https://huggingface.co" if is_ours else "",
            files=(
                ModelFile("openvino_model.xml", 20_000, "0" * 64),
                ModelFile("openvino_model.bin", size_bytes - 20_000, "1" * 64),
            ),
            role=role,
            precision=precision,
            installed_at=NOW - timedelta(days=9),
            verified_at=(
                NOW - timedelta(hours=2) if condition is ModelCondition.VERIFIED else None
            ),
        ),
        condition=condition,
        is_ours=is_ours,
        last_used_at=None if days_since_use is None else NOW - timedelta(days=days_since_use),
    )


MODELS = (
    model(),
    model(
        "z-lab/Qwen3-8B-DFlash-b16",
        size_bytes=1_790_000_000,
        role=ModelRole.DRAFT,
        precision="bf16",
    ),
    model("OpenVINO/Phi-4-mini-instruct-int4-ov", size_bytes=2_310_000_000, days_since_use=12),
    model(
        "OpenVINO/Qwen3-14B-int4-ov-with-a-name-that-is-much-longer-than-any-line-of-a-list-can-be",
        size_bytes=8_420_000_000,
        condition=ModelCondition.DAMAGED,
        days_since_use=None,
    ),
    model(
        "Märchen Modell (mein eigenes)",
        size_bytes=3_140_000_000,
        condition=ModelCondition.UNVERIFIED,
        is_ours=False,
        days_since_use=None,
    ),
    model("on-a-stick", condition=ModelCondition.ABSENT, is_ours=False, days_since_use=30),
    model("OpenVINO/gemma-4-12b-it-int8-ov", size_bytes=12_700_000_000, precision="int8"),
)
WHOLE = VerificationReport(MODELS[0].id, 2, 4_820_000_000, (), NOW)
NOT_WHOLE = VerificationReport(
    MODELS[3].id,
    12,
    8_420_000_000,
    (
        FileDifference("openvino_model.bin", "bytes"),
        FileDifference("openvino_tokenizer.bin", "missing"),
    ),
    NOW,
)


def many(count: int) -> tuple[InstalledModel, ...]:
    return tuple(
        model(f"someone/model-{number:03}-int4", size_bytes=1_000_000_000 + number)
        for number in range(count)
    )
