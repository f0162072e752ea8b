"""Which findings a repair of metadata takes away: the pair is judged as it would be after it.

A wrong entry shows twice: where it differs from its source, and where it does not fit the other
model. Who reads only the second looks for another model, and needs none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.locators import ANNOTATION, annotation_value
from dflash_desktop.domain.pair_contract.draft_metadata import checkpoint_entries
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight
from dflash_desktop.domain.pair_contract.locator_rules import layer_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflash_desktop.domain.model_facts import ModelFacts

_ORDER: Final = (Weight.BLOCK, Weight.WARN, Weight.INFO)
_EXPLAINED: Final = "Repair it: this comes from an entry that the repair writes anew."


def repaired(
    target: ModelFacts, draft: ModelFacts, findings: Sequence[Finding]
) -> tuple[ModelFacts, ModelFacts]:
    """Both models with the entries that a repair of these findings writes."""
    subjects = {finding.subject for finding in findings if finding.is_repairable}
    outputs = layer_outputs(target) if Subject.TARGET in subjects else None
    if outputs is not None:
        target = _with_entries(target, {(ANNOTATION,): annotation_value(outputs)})
    if Subject.DRAFT in subjects:
        draft = _with_entries(draft, checkpoint_entries(draft.config))
    return target, draft


def causes_first(findings: Sequence[Finding], left: Sequence[Finding]) -> tuple[Finding, ...]:
    """The worst first; what a repair mends stands before what comes from it, whatever its weight.

    `left` is what is still found after the repair. What is not, is to be repaired, too.
    """
    staying = {(finding.code, finding.subject) for finding in left}
    explained = {
        finding.code
        for finding in findings
        if not finding.is_repairable and (finding.code, finding.subject) not in staying
    }
    ranks = [_ORDER.index(finding.weight) for finding in findings if finding.code in explained]
    worst = min(ranks, default=len(_ORDER))

    def place(finding: Finding) -> tuple[int, int]:
        rank = _ORDER.index(finding.weight)
        if finding.is_repairable:
            return min(rank, worst), 0
        return rank, 1 if finding.code in explained else 2

    return tuple(
        replace(finding, remedy=_EXPLAINED) if finding.code in explained else finding
        for finding in sorted(findings, key=place)
    )


def _with_entries(model: ModelFacts, entries: Mapping[tuple[str, ...], str]) -> ModelFacts:
    if model.graph is None:
        return model
    return replace(model, graph=replace(model.graph, rt_info={**model.graph.rt_info, **entries}))
