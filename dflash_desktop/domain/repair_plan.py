"""What metadata alone can mend in a target and a draft, and what it cannot, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.layer_outputs import find_layer_outputs
from dflash_desktop.domain.locators import (
    ANNOTATION,
    LocatorError,
    annotation_value,
    parse_locators,
)
from dflash_desktop.domain.model_facts import is_yes
from dflash_desktop.domain.pair_contract import Finding, Subject
from dflash_desktop.domain.pair_contract.draft_metadata import (
    LAYERS,
    MARKER,
    MASK,
    checkpoint_entries,
    mask_token,
    metadata_contradiction,
    target_layers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflash_desktop.domain.model_facts import ConfigFacts, ModelFacts

CONFIG_FILE: Final = "config.json"

_LOCATOR_CODES: Final = ("locator_", "locators_")
TOKENIZER_CODES: Final = frozenset({"tokenizer_missing", "tokenizer_vocabulary"})
TOKENIZER_MODELS: Final = tuple(
    f"openvino_{model}.{kind}" for model in ("tokenizer", "detokenizer") for kind in ("bin", "xml")
)
TOKENIZER_SOURCES: Final = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("chat_template.jinja", "config.json"),
)
"""What a tokenizer is read from, the first of them above all."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Entries to be written into one file of one folder; nothing else in it changes."""

    subject: Subject
    file: str
    words: str  # what is written, for people
    rt_info: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    config: Mapping[str, int] = field(default_factory=dict)  # fields of config.json
    is_tokenizer: bool = False  # the whole file is made anew of tokenizer.json


@dataclass(frozen=True, slots=True)
class NotRepaired:
    """A fault that stays: `code` is the finding's, `reason` and `advice` are for people."""

    code: str
    subject: Subject
    reason: str
    advice: str


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """All that will be written, and what will not be."""

    repairs: tuple[Repair, ...]
    not_repaired: tuple[NotRepaired, ...]


def plan_repair(
    target: ModelFacts,
    draft: ModelFacts | None,
    findings: Sequence[Finding],
    *,
    checkpoint: ConfigFacts | None = None,
    has_export_tools: bool = False,
) -> RepairPlan:
    """The plan for a pair, or for a target alone.

    `checkpoint` is the config.json of the checkpoint that the draft was exported from; without
    it the draft's own is asked, which exporters copy from there. Tokenizers need export tools.
    """
    steps = [*_tokenizer(target, findings, has_export_tools=has_export_tools)]
    steps += _locators(target, findings)
    if draft is not None:
        steps += _draft_metadata(draft, checkpoint or draft.config, findings)
        steps += _block_size(draft, checkpoint)
    return RepairPlan(
        repairs=tuple(step for step in steps if isinstance(step, Repair)),
        not_repaired=tuple(step for step in steps if isinstance(step, NotRepaired)),
    )


def needs_tokenizer(target: ModelFacts, findings: Sequence[Finding]) -> bool:
    """Whether tokenizer models are to be made, and what they are made of is there."""
    is_wanted = any(finding.code in TOKENIZER_CODES for finding in findings)
    return is_wanted and TOKENIZER_SOURCES[0] in target.file_sizes


def _tokenizer(
    target: ModelFacts, findings: Sequence[Finding], *, has_export_tools: bool
) -> Iterator[Repair | NotRepaired]:
    if has_export_tools and needs_tokenizer(target, findings):
        for name in TOKENIZER_MODELS:
            yield Repair(
                Subject.TARGET, name, words="made anew of tokenizer.json", is_tokenizer=True
            )
        return
    for finding in findings:
        if finding.code in TOKENIZER_CODES:
            has_source = TOKENIZER_SOURCES[0] in target.file_sizes
            yield NotRepaired(
                finding.code,
                Subject.TARGET,
                reason="Tokenizer models are made of tokenizer.json with the export tools, which "
                "are not installed."
                if has_source
                else "Tokenizer models are made of tokenizer.json, which is not in the folder.",
                advice="Run “dflash-desktop export-env install”, then repair again."
                if has_source
                else "Get tokenizer.json from the original model, or export the target again.",
            )


def _locators(target: ModelFacts, findings: Sequence[Finding]) -> Iterator[Repair | NotRepaired]:
    faults = [finding.code for finding in findings if finding.code.startswith(_LOCATOR_CODES)]
    text = target.rt_info(ANNOTATION)
    if target.graph is None or target.is_built_like_dflash() or (text is not None and not faults):
        return
    config = target.config
    try:
        found = find_layer_outputs(
            target.graph, hidden_size=config.hidden_size, layer_count=config.layer_count
        )
    except LocatorError as error:
        yield NotRepaired(
            faults[0] if faults else "locators_missing",
            Subject.TARGET,
            reason=f"The layers cannot be told for certain: {error}.",
            advice="Nothing was guessed. Export the target again with a current exporter.",
        )
        return
    if text is None or parse_locators(text) != dict(enumerate(found)):
        yield Repair(
            Subject.TARGET,
            target.graph_file,
            words=f"where the hidden states of {len(found)} layers are",
            rt_info={(ANNOTATION,): annotation_value(found)},
        )


def _draft_metadata(
    draft: ModelFacts, checkpoint: ConfigFacts, findings: Sequence[Finding]
) -> Iterator[Repair | NotRepaired]:
    """What the runtime reads of a draft, where the graph says less than the checkpoint."""
    if draft.graph is None or not draft.is_built_like_dflash():
        return
    mask, layers = checkpoint.mask_token_id, checkpoint.target_layer_ids
    if mask is None or not layers:
        lost = [finding for finding in findings if finding.code in _METADATA_CODES]
        for finding in lost[:1]:
            yield NotRepaired(
                finding.code,
                Subject.DRAFT,
                reason="No config.json at hand names the mask token and the target's layers.",
                advice="Copy config.json from the draft's checkpoint into its folder, or export "
                "the draft again.",
            )
        return
    wanted = checkpoint_entries(checkpoint)
    holds = {
        MARKER: is_yes(draft.rt_info(*MARKER)),
        MASK: mask_token(draft) == mask,
        LAYERS: target_layers(draft) == layers,
    }
    missing = {path: value for path, value in wanted.items() if not holds[path]}
    if not missing:
        return
    if reason := metadata_contradiction(draft, layers):
        yield NotRepaired(
            "draft_metadata_differs",
            Subject.DRAFT,
            reason=reason,
            advice="This config.json belongs to another draft. Name the right checkpoint.",
        )
        return
    yield Repair(
        Subject.DRAFT,
        draft.graph_file,
        words=", ".join("/".join(path) for path in missing),
        rt_info=missing,
    )


def _block_size(draft: ModelFacts, checkpoint: ConfigFacts | None) -> Iterator[Repair]:
    block = None if checkpoint is None else checkpoint.block_size
    if block is not None and draft.config.is_readable and draft.config.block_size != block:
        yield Repair(
            Subject.DRAFT, CONFIG_FILE, words=f"block_size {block}", config={"block_size": block}
        )


_METADATA_CODES: Final = frozenset(
    {
        "dflash_marker_missing",
        "mask_token_missing",
        "mask_token_invalid",
        "mask_token_outside",
        "target_layers_missing",
        "target_layers_invalid",
        "target_layers_repeated",
        "hidden_width_differs",
        "draft_metadata_differs",
    }
)
