"""A target and its draft on this disk, and what makes two measurements comparable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dflash_desktop.domain.generation import KvCachePrecision


@dataclass(frozen=True, slots=True)
class PairFolders:
    """A pair as a person chose it; without `draft_dir` the target runs alone.

    With the target's own folder as `draft_dir`, its MTP head is the draft.
    """

    id: str
    title: str
    target_dir: Path
    draft_dir: Path | None
    note: str = ""

    @property
    def uses_own_head(self) -> bool:
        """Whether the draft is the target's own MTP head."""
        return self.draft_dir == self.target_dir


@dataclass(frozen=True, slots=True)
class PairFingerprint:
    """Short hashes of what decides the numbers: the graphs and the sizes of the weights."""

    target: str
    draft: str | None


@dataclass(frozen=True, slots=True)
class DraftFacts:
    """What the draft's own files say."""

    block_size: int
    target_layer_ids: tuple[int, ...]
    mask_token_id: int | None


@dataclass(frozen=True, slots=True)
class LoadedPair:
    """What the engine holds now, and every fact that the window shows about it."""

    title: str
    target_dir: Path
    draft_dir: Path | None
    draft: DraftFacts | None
    device: str  # OpenVINO's name, "CPU" or "GPU.0"
    device_name: str  # as the maker calls it
    driver: str
    runtime: str
    kv_cache_precision: KvCachePrecision
    context_tokens: int
    keeps_both: bool  # both pipelines resident, so switching the draft costs no reload
    fingerprint: PairFingerprint
    load_seconds: float
    supports_thinking: bool = False
    template_note: str = ""
    sees_pictures: bool = False
    uses_own_head: bool = False  # the draft is the target's own MTP head


@dataclass(frozen=True, slots=True)
class MeasurementKey:
    """Everything that must match before a stored measurement may be shown."""

    fingerprint: PairFingerprint
    device_name: str
    driver: str
    runtime: str
    kv_cache_precision: KvCachePrecision
    of_pictures: bool = False  # only of turns with pictures, where these are kept apart


def measurement_key(pair: LoadedPair) -> MeasurementKey:
    """The key under which measurements of this loaded pair are stored."""
    return MeasurementKey(
        fingerprint=pair.fingerprint,
        device_name=pair.device_name,
        driver=pair.driver,
        runtime=pair.runtime,
        kv_cache_precision=pair.kv_cache_precision,
    )
