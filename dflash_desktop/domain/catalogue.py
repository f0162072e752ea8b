"""Targets and drafts that are known to belong together, each fact with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class DraftKind(StrEnum):
    """How a draft proposes tokens, which decides what the runtime must know."""

    DFLASH = "dflash"
    DFLASH_2 = "dflash2"
    DSPARK = "dspark"

    @property
    def label(self) -> str:
        """As its authors write it."""
        return {"dflash": "DFlash", "dflash2": "DFlash 2", "dspark": "DSpark"}[self.value]


class ModelKind(StrEnum):
    """What goes in and what comes out."""

    TEXT = "text"
    VISION = "vision"  # text and pictures in, text out
    IMAGE = "image"  # text in, a picture out


class Precision(StrEnum):
    """How weights are stored."""

    INT4 = "int4"
    INT8 = "int8"
    F16 = "fp16"
    BF16 = "bf16"


@dataclass(frozen=True, slots=True)
class TargetModel:
    """One build of a target; None is what no source says. `sources` has a name for each fact."""

    id: str
    title: str
    family: str  # builds of one model share it
    sources: Mapping[str, str]  # of every fact that is there, the key in Catalogue.sources
    repository: str | None = None  # on the Hugging Face hub
    kind: ModelKind = ModelKind.TEXT
    precision: Precision | None = None
    is_prebuilt: bool = False  # an OpenVINO IR can be had; else it must be exported
    is_base: bool | None = None  # trained to continue texts, not to answer
    content_label: str | None = None  # "uncensored": people must know before they choose
    licence: str | None = None
    parameters: int | None = None
    active_parameters: int | None = None  # of a mixture of experts, those used for one token
    weights_bytes: int | None = None  # everything in the folder, a vision part included
    layers: int | None = None
    attention_layers: int | None = None  # those of `layers` that keep a KV cache
    hidden_size: int | None = None
    vocabulary: int | None = None  # how many tokens it knows
    kv_width: int | None = None  # heads of the cache x size of a head, for one of K and V
    has_mtp_head: bool | None = None


@dataclass(frozen=True, slots=True)
class DraftModel:
    """One build of a draft."""

    id: str
    title: str
    sources: Mapping[str, str]
    kind: DraftKind
    repository: str | None = None
    precision: Precision | None = None
    is_prebuilt: bool = False
    has_own_code: bool | None = None  # brings modeling code that its export must run
    licence: str | None = None
    weights_bytes: int | None = None
    target_layer_ids: tuple[int, ...] | None = None
    hidden_states_width: int | None = None  # of what it reads from the target


@dataclass(frozen=True, slots=True)
class OthersMeasurement:
    """A speed that somebody else measured, on hardware that may be unlike this one."""

    hardware: str
    source: str
    baseline_tokens_per_second: float | None = None
    tokens_per_second: float | None = None
    speedup: float | None = None
    tokens_per_step: float | None = None
    assistant_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Requires:
    """What must be there before a pair can run."""

    runtime: str  # the first version of OpenVINO GenAI that can run it, "2026.4.1"
    source: str


@dataclass(frozen=True, slots=True)
class CataloguePair:
    """A target with its draft, or a target that has none."""

    target: TargetModel
    draft: DraftModel | None
    requires: Requires
    measured: tuple[OthersMeasurement, ...] = ()
    note: str = ""

    @property
    def id(self) -> str:
        """Stable, and made of the two models' own."""
        return self.target.id if self.draft is None else f"{self.target.id}+{self.draft.id}"

    @property
    def title(self) -> str:
        """For people."""
        if self.draft is None:
            return self.target.title
        return f"{self.target.title} with {self.draft.title}"

    @property
    def is_prebuilt(self) -> bool:
        """Whether both parts can be had as OpenVINO IR."""
        return self.target.is_prebuilt and (self.draft is None or self.draft.is_prebuilt)

    @property
    def best_measurement(self) -> OthersMeasurement | None:
        """The fastest that others saw."""
        return max(self.measured, key=lambda m: m.tokens_per_second or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All pairs; `sources` maps the keys that facts carry to where they can be read."""

    pairs: tuple[CataloguePair, ...]
    sources: Mapping[str, str]
