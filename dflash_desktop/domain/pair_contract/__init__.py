"""The contract of a pair: what must hold so that a DFlash draft speeds its target up.

Everything here follows from files alone: graphs as XML, config.json, tokenizers. What only a
measurement can tell warns at most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.pair_contract import (
    after_repair,
    draft_metadata,
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

__all__ = [
    "ContractResult",
    "Finding",
    "PassedRule",
    "Subject",
    "Verdict",
    "Weight",
    "check_contract",
    "check_draft",
    "check_rules",
    "verdict_of",
]

_Rule = tuple[Subject, str, "Iterator[Finding]"]  # whose, what holds if it finds nothing, the rule


@dataclass(frozen=True, slots=True)
class PassedRule:
    """What holds, in words for people; `subject` says of what."""

    subject: Subject
    words: str


@dataclass(frozen=True, slots=True)
class ContractResult:
    """All findings as `check_contract` orders them, and the rules that had nothing to warn of."""

    findings: tuple[Finding, ...]
    passed: tuple[PassedRule, ...]


def check_contract(
    target: ModelFacts, draft: ModelFacts | None, *, runtime: str | None
) -> tuple[Finding, ...]:
    """All findings, the worst first; without `draft` those of the target alone.

    What a repair can mend stands before what comes from it (see `after_repair`).
    `runtime` is the installed OpenVINO GenAI's version; None when it is not known.
    """
    return check_rules(target, draft, runtime=runtime).findings


def check_draft(draft: ModelFacts, *, runtime: str | None) -> tuple[Finding, ...]:
    """All that can be found of a draft without its target."""
    rules = (*_of_model(draft, Subject.DRAFT, runtime), *_of_draft(draft, runtime))
    return tuple(finding for _, _, rule in rules for finding in rule)


def check_rules(
    target: ModelFacts, draft: ModelFacts | None, *, runtime: str | None
) -> ContractResult:
    """Like `check_contract`, with what holds. A graph that cannot be read leaves that open."""
    result = _judge(target, draft, runtime)
    left = result.findings
    if draft is not None and any(finding.is_repairable for finding in result.findings):
        mended = after_repair.repaired(target, draft, result.findings)
        left = _judge(*mended, runtime).findings
    return replace(result, findings=after_repair.causes_first(result.findings, left))


def _judge(target: ModelFacts, draft: ModelFacts | None, runtime: str | None) -> ContractResult:
    """All findings in the order of the rules, and the rules that had nothing to warn of."""
    open_subjects = {
        subject
        for subject, model in ((Subject.TARGET, target), (Subject.DRAFT, draft))
        if model is not None and model.graph is None
    }
    if open_subjects:
        open_subjects.add(Subject.PAIR)
    findings: list[Finding] = []
    passed: list[PassedRule] = []
    for subject, words, rule in _rules(target, draft, runtime):
        found = tuple(rule)
        findings += found
        if subject not in open_subjects and all(f.weight is Weight.INFO for f in found):
            passed.append(PassedRule(subject, words))
    return ContractResult(tuple(findings), tuple(passed))


def _rules(target: ModelFacts, draft: ModelFacts | None, runtime: str | None) -> Iterator[_Rule]:
    yield from _of_model(target, Subject.TARGET, runtime)
    yield from _of_target(target)
    requested = None
    if draft is not None:
        yield from _of_model(draft, Subject.DRAFT, runtime)
        yield from _of_draft(draft, runtime)
        requested = pair_rules.layers_inside(target, draft)
    whose = Subject.TARGET if draft is None else Subject.PAIR
    places, present = locator_rules.locators_hold, locator_rules.locators_present
    yield whose, "The places of the target's layers are right", places(target, requested)
    yield whose, "The draft can find the target's layers", present(target, requested)
    if draft is not None:
        yield from _of_pair(target, draft)


def _of_model(model: ModelFacts, subject: Subject, runtime: str | None) -> Iterator[_Rule]:
    rules = model_rules
    yield subject, "All files are there", rules.files_complete(model, subject)
    yield subject, "The graph can be read", rules.graph_readable(model, subject)
    yield (
        subject,
        "The weights are as long as the graph says",
        (rules.weights_cover_graph(model, subject)),
    )
    yield subject, "config.json can be read", rules.config_readable(model, subject)
    yield (
        subject,
        "The runtime is as new as the model",
        (rules.runtime_new_enough(model, subject, runtime)),
    )
    yield subject, "It needs no code of its own", rules.own_code_unused(model, subject)
    yield subject, "Its kind is known", rules.kind_named(model, subject)


def _of_target(target: ModelFacts) -> Iterator[_Rule]:
    rules, subject = target_rules, Subject.TARGET
    yield subject, "It is a model that answers, not a draft", rules.is_target(target)
    yield subject, "Tokenizer and detokenizer are there", rules.tokenizer_present(target)
    yield subject, "The parts for images are complete", rules.vision_files_present(target)
    yield subject, "Inputs and outputs are complete", rules.interface_complete(target)
    yield subject, "It keeps a cache", rules.keeps_state(target)
    yield subject, "Tokenizer and model have the same vocabulary", rules.vocabulary_agrees(target)
    yield subject, "The chat template is the one in use", rules.template_in_use(target)


def _of_draft(draft: ModelFacts, runtime: str | None) -> Iterator[_Rule]:
    rules, subject = draft_rules, Subject.DRAFT
    yield subject, "It is a DFlash draft", rules.is_dflash(draft)
    yield subject, "It names its mask token", draft_metadata.mask_token_named(draft)
    yield subject, "It names the target's layers", draft_metadata.target_layers_named(draft)
    yield subject, "Graph and config.json agree", draft_metadata.metadata_agrees(draft)
    yield subject, "Inputs are complete", rules.inputs_complete(draft)
    yield subject, "Outputs are complete", rules.outputs_complete(draft)
    yield subject, "Proposals stand at the right place", rules.output_aligned(draft)
    yield subject, "Hidden states have the right shape", rules.hidden_states_shaped(draft)
    yield subject, "It keeps a cache", rules.keeps_state(draft)
    yield subject, "It says how many tokens it proposes", rules.block_size_named(draft)
    yield subject, "The runtime knows its kind", rules.runtime_knows_kind(draft, runtime)
    yield subject, "Its Markov head is whole, or it has none", rules.markov_head_whole(draft)


def _of_pair(target: ModelFacts, draft: ModelFacts) -> Iterator[_Rule]:
    rules, subject = pair_rules, Subject.PAIR
    yield (
        subject,
        "The target has the layers that the draft reads",
        (rules.layers_exist(target, draft)),
    )
    yield subject, "The draft was made for as many layers", rules.depth_agrees(target, draft)
    yield (
        subject,
        "Hidden states are as wide as the draft expects",
        (rules.hidden_width_agrees(target, draft)),
    )
    yield subject, "The mask token is free in the target", rules.mask_token_usable(target, draft)
    yield subject, "Both have the same vocabulary", rules.vocabulary_agrees(target, draft)
    yield subject, "The layers are all of one kind", rules.layer_types_uniform(target, draft)
    yield subject, "Images do not get in the way", rules.embeddings_fit_vision(target, draft)
    yield subject, "There is one way of drafting", rules.one_way_of_drafting(target, draft)
    yield subject, "Both come from the same base model", rules.base_model_agrees(target, draft)
