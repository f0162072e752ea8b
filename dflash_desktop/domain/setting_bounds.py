"""Which numbers of the settings are accepted; a settings file may say anything."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.domain.settings import Settings


@dataclass(frozen=True, slots=True)
class Bounds:
    """The smallest and largest value that is accepted, both included."""

    minimum: float
    maximum: float

    def clamp(self, value: float) -> float:
        """The nearest accepted value; NaN becomes the smallest."""
        return self.minimum if math.isnan(value) else min(max(value, self.minimum), self.maximum)


MEMORY_RESERVE_BOUNDS = Bounds(0, 64_000_000_000)

EXPORT_MEMORY_LIMIT_BOUNDS = Bounds(1_000_000_000, 4_000_000_000_000)
"""With less, not even the export tools start; more than the machine has is cut by the guard."""

SAMPLING_BOUNDS: Mapping[str, Bounds] = {
    "temperature": Bounds(0.0, 2.0),
    "top_p": Bounds(0.01, 1.0),
    "top_k": Bounds(0, 1000),
    "repetition_penalty": Bounds(1.0, 2.0),
    "seed": Bounds(0, 2**31 - 1),
    "max_new_tokens": Bounds(1, 32_768),
}

DOWNLOAD_LIMIT_BOUNDS = Bounds(50_000, 10_000_000_000)
"""Below it a single answer of a hub would look like a stall."""


def within_bounds(settings: Settings) -> Settings:
    """The settings with every number moved to the nearest accepted value."""
    sampling = settings.sampling
    clamped = replace(
        sampling,
        temperature=SAMPLING_BOUNDS["temperature"].clamp(sampling.temperature),
        top_p=SAMPLING_BOUNDS["top_p"].clamp(sampling.top_p),
        top_k=int(SAMPLING_BOUNDS["top_k"].clamp(sampling.top_k)),
        repetition_penalty=SAMPLING_BOUNDS["repetition_penalty"].clamp(
            sampling.repetition_penalty
        ),
        seed=int(SAMPLING_BOUNDS["seed"].clamp(sampling.seed)),
        max_new_tokens=int(SAMPLING_BOUNDS["max_new_tokens"].clamp(sampling.max_new_tokens)),
    )
    limit = settings.download_limit_bytes_per_second
    reserve = settings.memory_reserve_bytes
    export_limit = settings.export_memory_limit_bytes
    return replace(
        settings,
        sampling=clamped,
        hub_endpoint=settings.hub_endpoint.strip(),
        hub_proxy=settings.hub_proxy.strip(),
        download_limit_bytes_per_second=(
            None if limit is None else int(DOWNLOAD_LIMIT_BOUNDS.clamp(limit))
        ),
        memory_reserve_bytes=(
            None if reserve is None else int(MEMORY_RESERVE_BOUNDS.clamp(reserve))
        ),
        export_memory_limit_bytes=(
            None if export_limit is None else int(EXPORT_MEMORY_LIMIT_BOUNDS.clamp(export_limit))
        ),
    )
