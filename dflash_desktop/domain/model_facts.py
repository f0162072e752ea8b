"""What a model folder says about itself, and how the runtime reads what a draft says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dflash_desktop.domain.ir_graph import IrGraph
from dflash_desktop.domain.locators import ANNOTATION

TEXT_GRAPH: Final = "openvino_model.xml"
VISION_GRAPH: Final = "openvino_language_model.xml"
MTP_GRAPH: Final = "openvino_mtp_model.xml"
MARKOV_HEAD_GRAPH: Final = "openvino_markov_head_model.xml"

_YES: Final = frozenset({"true", "1", "yes", "on"})
_INTEGER: Final = re.compile(r"\s*[+-]?[0-9]+")
_INT32_LIMIT: Final = 2**31
_INT64_LIMIT: Final = 2**63


class ModelKind(StrEnum):
    """What a folder holds; `label` is for people."""

    TEXT = "text"
    VISION = "vision"
    DFLASH = "dflash"
    DFLASH2 = "dflash2"
    DSPARK = "dspark"
    EAGLE3 = "eagle3"
    MTP = "mtp"

    @property
    def label(self) -> str:
        """The name that people know."""
        return _KIND_LABELS[self]

    @property
    def is_dflash_family(self) -> bool:
        """Whether it is a draft that reads its target's hidden states as DFlash does."""
        return self in {ModelKind.DFLASH, ModelKind.DFLASH2, ModelKind.DSPARK}


_KIND_LABELS = {
    ModelKind.TEXT: "an ordinary text model",
    ModelKind.VISION: "a model for text and images",
    ModelKind.DFLASH: "a DFlash draft",
    ModelKind.DFLASH2: "a DFlash 2 draft",
    ModelKind.DSPARK: "a DSpark draft",
    ModelKind.EAGLE3: "an Eagle3 draft",
    ModelKind.MTP: "an MTP head",
}


@dataclass(frozen=True, slots=True)
class ConfigFacts:
    """What config.json says, the text part of it for a vision model; None where it is silent."""

    is_readable: bool = False
    architectures: tuple[str, ...] = ()
    hidden_size: int | None = None
    layer_count: int | None = None
    vocabulary: int | None = None
    layer_types: tuple[str, ...] = ()
    block_size: int | None = None
    mask_token_id: int | None = None  # of a draft, as the two below
    target_layer_ids: tuple[int, ...] = ()
    target_layer_count: int | None = None
    window_tokens: int | None = None  # how far its attention looks back, if that is limited
    pad_token_ids: tuple[int, ...] = ()
    eos_token_ids: tuple[int, ...] = ()
    has_own_code: bool = False  # an auto_map, which would run code from somewhere else


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """What the detokenizer's graph says; None where it is silent."""

    vocabulary: int | None
    pad_token_id: int | None
    eos_token_id: int | None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One folder, read without its weights. Without a graph, `graph_fault` says why."""

    name: str
    file_sizes: Mapping[str, int]  # bytes, of the files directly in the folder
    graph_file: str = TEXT_GRAPH
    graph: IrGraph | None = None
    graph_fault: str = ""
    config: ConfigFacts = ConfigFacts()
    tokenizer: TokenizerFacts | None = None
    base_models: tuple[str, ...] = ()  # as its card names them
    has_other_template: bool = False  # chat_template.jinja is not what the tokenizer holds

    @property
    def weights_file(self) -> str:
        """The .bin beside the graph."""
        return self.graph_file.removesuffix(".xml") + ".bin"

    def rt_info(self, *path: str) -> str | None:
        """One entry of the graph's rt_info."""
        return None if self.graph is None else self.graph.rt_info.get(path)

    def kind(self) -> ModelKind:
        """What it is, by its metadata first, then by what its config calls it."""
        if is_yes(self.rt_info("dflash_mode")):
            return self._dflash_kind()
        if is_yes(self.rt_info("eagle3_mode")):
            return ModelKind.EAGLE3
        if is_yes(self.rt_info("mtp_mode")):
            return ModelKind.MTP
        return ModelKind.VISION if self.graph_file == VISION_GRAPH else ModelKind.TEXT

    def has_markov_head(self) -> bool:
        """Whether the draft chooses its candidates with a model of its own."""
        return self.markov_head_type() is not None or MARKOV_HEAD_GRAPH in self.file_sizes

    def markov_head_type(self) -> str | None:
        """The head's type, where the metadata names one."""
        return self.rt_info("dflash", "markov_head_type") or self.rt_info("markov_head_type")

    def is_built_like_dflash(self) -> bool:
        """Whether the graph has a DFlash draft's inputs and outputs, whatever it calls itself."""
        if self.graph is None:
            return False
        has_inputs = {"hidden_states", "inputs_embeds"} <= self.graph.inputs().keys()
        return has_inputs and "last_hidden_state" in self.graph.outputs()

    def is_annotated(self) -> bool:
        """Whether it says where its layers' hidden states are."""
        return self.rt_info(ANNOTATION) is not None

    def vocabulary(self) -> int | None:
        """How many tokens it can answer with: the width of its logits, else its config's."""
        shape = () if self.graph is None else self.graph.outputs().get("logits", ())
        return shape[-1] if shape and shape[-1] > 0 else self.config.vocabulary

    def _dflash_kind(self) -> ModelKind:
        version = parse_integer(self.rt_info("dflash", "version") or "")
        if any("dflash2" in name.lower() for name in self.config.architectures):
            return ModelKind.DFLASH2
        if self.markov_head_type() == "dflash2" or (version is not None and version > 1):
            return ModelKind.DFLASH2
        is_dspark = any("dspark" in name.lower() for name in self.config.architectures)
        return ModelKind.DSPARK if is_dspark or self.has_markov_head() else ModelKind.DFLASH


def is_yes(value: str | None) -> bool:
    """Whether the runtime reads a metadata text as true."""
    return value is not None and value.strip().lower() in _YES


def parse_integer(text: str) -> int | None:
    """A number as C++'s `stoll` reads it, which is how the runtime reads the mask token.

    It passes over what follows the digits.
    """
    match = _INTEGER.match(text[:64])
    value = int(match.group()) if match else None
    return value if value is not None and abs(value) < _INT64_LIMIT else None


def parse_layer_ids(text: str) -> tuple[int, ...] | None:
    """The target's layers as the runtime reads them: commas between, spaces and gaps allowed.

    None for what the runtime calls malformed.
    """
    ids: list[int] = []
    for item in text.split(","):
        if not item:
            continue
        match = _INTEGER.match(item)
        if match is None or item[match.end() :].strip() or len(item) > 64:
            return None
        ids.append(int(item))
    return tuple(ids) if all(abs(one) < _INT32_LIMIT for one in ids) else None


def parse_version(text: str) -> tuple[int, int, int] | None:
    """ "2026.4.1-22982-e213a147257" as numbers that compare; None for anything else."""
    match = re.match(r"([0-9]{4})\.([0-9]{1,3})(?:\.([0-9]{1,5}))?", text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))
