"""The contract of a pair: what must hold so that a DFlash draft speeds its target up.

Everything here follows from files alone: graphs as XML, config.json, tokenizers. What only a
measurement can tell warns at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.pair_contract import (
    draft_rules,
    locator_rules,
    model_rules,
    pair_rules,
    target_rules,
)
from dflash_desktop.domain.pair_contract.finding import (
    Finding,
    Subject,
    Verdict,
    Weight,
    verdict_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.model_facts import ModelFacts

__all__ = ["Finding", "Subject", "Verdict", "Weight", "check_contract", "verdict_of"]

_ORDER = (Weight.BLOCK, Weight.WARN, Weight.INFO)


def check_contract(
    target: ModelFacts, draft: ModelFacts | None, *, runtime: str | None
) -> tuple[Finding, ...]:
    """All findings, the worst first; without `draft` those of the target alone.

    `runtime` is the installed OpenVINO GenAI's version; None when it is not known.
    """
    findings = [*_of_model(target, Subject.TARGET, runtime), *_of_target(target)]
    if draft is None:
        findings += locator_rules.locators_hold(target, None)
        findings += locator_rules.locators_present(target, None)
    else:
        findings += _of_model(draft, Subject.DRAFT, runtime)
        findings += _of_draft(draft, runtime)
        findings += _of_pair(target, draft)
    return tuple(sorted(findings, key=lambda finding: _ORDER.index(finding.weight)))


def _of_model(model: ModelFacts, subject: Subject, runtime: str | None) -> Iterator[Finding]:
    yield from model_rules.files_complete(model, subject)
    yield from model_rules.graph_readable(model, subject)
    yield from model_rules.weights_cover_graph(model, subject)
    yield from model_rules.config_readable(model, subject)
    yield from model_rules.runtime_new_enough(model, subject, runtime)
    yield from model_rules.own_code_unused(model, subject)
    yield from model_rules.kind_named(model, subject)


def _of_target(target: ModelFacts) -> Iterator[Finding]:
    yield from target_rules.is_target(target)
    yield from target_rules.tokenizer_present(target)
    yield from target_rules.vision_files_present(target)
    yield from target_rules.interface_complete(target)
    yield from target_rules.keeps_state(target)
    yield from target_rules.vocabulary_agrees(target)
    yield from target_rules.template_in_use(target)


def _of_draft(draft: ModelFacts, runtime: str | None) -> Iterator[Finding]:
    yield from draft_rules.is_dflash(draft)
    yield from draft_rules.mask_token_named(draft)
    yield from draft_rules.target_layers_named(draft)
    yield from draft_rules.metadata_agrees(draft)
    yield from draft_rules.inputs_complete(draft)
    yield from draft_rules.outputs_complete(draft)
    yield from draft_rules.output_aligned(draft)
    yield from draft_rules.hidden_states_shaped(draft)
    yield from draft_rules.keeps_state(draft)
    yield from draft_rules.block_size_named(draft)
    yield from draft_rules.runtime_knows_kind(draft, runtime)
    yield from draft_rules.markov_head_whole(draft)


def _of_pair(target: ModelFacts, draft: ModelFacts) -> Iterator[Finding]:
    requested = pair_rules.layers_inside(target, draft)
    yield from locator_rules.locators_hold(target, requested)
    yield from locator_rules.locators_present(target, requested)
    yield from pair_rules.layers_exist(target, draft)
    yield from pair_rules.depth_agrees(target, draft)
    yield from pair_rules.hidden_width_agrees(target, draft)
    yield from pair_rules.mask_token_usable(target, draft)
    yield from pair_rules.vocabulary_agrees(target, draft)
    yield from pair_rules.layer_types_uniform(target, draft)
    yield from pair_rules.embeddings_fit_vision(target, draft)
    yield from pair_rules.one_way_of_drafting(target, draft)
    yield from pair_rules.base_model_agrees(target, draft)
