"""A pair of the catalogue that nobody has converted, as a wish to export it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.catalogue import DraftKind, Precision
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.catalogue import CataloguePair

EXPORTED_DRAFT_KINDS: Final = frozenset({DraftKind.DFLASH})
"""What released exporters make; the others are for the development builds."""

_FORMATS: Final[dict[Precision | None, WeightFormat]] = {
    Precision.INT4: WeightFormat.INT4,
    Precision.INT8: WeightFormat.INT8,
    Precision.F16: WeightFormat.FP16,
    Precision.BF16: WeightFormat.FP16,
}


def request_to_export(pair: CataloguePair) -> ExportRequest | None:
    """The parts that cannot be had as OpenVINO IR; None if there are none, or one cannot be made.

    A part whose precision no source says becomes int4.
    """
    draft = pair.draft
    if draft is not None and draft.kind not in EXPORTED_DRAFT_KINDS:
        return None
    items = []
    for role, model in ((ExportRole.TARGET, pair.target), (ExportRole.DRAFT, draft)):
        if model is None or model.is_prebuilt:
            continue
        if model.repository is None:
            return None
        source = ExportSource(SourceKind.HUB, repo_id=model.repository)
        items.append(ExportItem(role, source, _FORMATS.get(model.precision, WeightFormat.INT4)))
    return ExportRequest(pair.title, tuple(items)) if items else None


def requests_to_export(pairs: Iterable[CataloguePair]) -> tuple[ExportRequest, ...]:
    """All that can be made, in the catalogue's order."""
    made = (request_to_export(pair) for pair in pairs)
    return tuple(request for request in made if request is not None)
