"""Made-up targets, drafts and pairs for tests."""

from __future__ import annotations

from dflash_desktop.domain.catalogue import (
    CataloguePair,
    DraftKind,
    DraftModel,
    ModelKind,
    OthersMeasurement,
    Precision,
    Requires,
    TargetModel,
)

GB = 1_000_000_000


def target(
    name: str = "T",
    *,
    billions: float | None = 8,
    weights_gb: float | None = None,
    precision: Precision | None = Precision.INT4,
    kind: ModelKind = ModelKind.TEXT,
    is_prebuilt: bool = True,
    is_base: bool = False,
    family: str = "",
    layers: int | None = None,
    hidden_size: int | None = None,
    kv_width: int | None = None,
) -> TargetModel:
    return TargetModel(
        id=name,
        title=name,
        family=family or name,
        sources={},
        kind=kind,
        precision=precision,
        is_prebuilt=is_prebuilt,
        is_base=is_base,
        parameters=None if billions is None else round(billions * GB),
        weights_bytes=None if weights_gb is None else round(weights_gb * GB),
        layers=layers,
        hidden_size=hidden_size,
        kv_width=kv_width,
    )


def draft(
    *,
    name: str = "D",
    kind: DraftKind = DraftKind.DFLASH,
    weights_gb: float | None = None,
    precision: Precision | None = Precision.INT4,
    is_prebuilt: bool = True,
) -> DraftModel:
    return DraftModel(
        id=name,
        title=name,
        sources={},
        kind=kind,
        precision=precision,
        is_prebuilt=is_prebuilt,
        weights_bytes=None if weights_gb is None else round(weights_gb * GB),
    )


def pair(
    of_target: TargetModel | None = None,
    of_draft: DraftModel | None = None,
    *,
    runtime: str = "2026.4.1",
    tokens_per_second: float | None = None,
) -> CataloguePair:
    measured: tuple[OthersMeasurement, ...] = ()
    if tokens_per_second is not None:
        one = OthersMeasurement("Arc 130V", "s", 10.0, tokens_per_second, tokens_per_second / 10)
        measured = (one,)
    return CataloguePair(of_target or target(), of_draft, Requires(runtime, "s"), measured)
