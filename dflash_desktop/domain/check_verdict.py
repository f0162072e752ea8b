"""Whether a pair works, told from measured numbers, and why not: the likeliest cause first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_numbers import (
    USELESS_BELOW,
    CheckNumbers,
    Signature,
    TextVerdict,
)
from dflash_desktop.domain.draft_choice import MIN_SPEEDUP
from dflash_desktop.domain.pair_contract import Finding, Weight
from dflash_desktop.domain.units import significant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class CheckVerdict(StrEnum):
    """What the draft is worth here, in one word."""

    WORKING = "working"
    USELESS = "useless"  # attached, and hardly anything is accepted
    SLOWER = "slower"  # accepted, but not faster
    WRONG_TEXT = "wrong_text"  # more than rounding changes the target's text
    NOT_ATTACHED = "not_attached"  # it cannot run


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason that explains the verdict; `code` is stable, the rest is for people.

    Those that come from the contract have the finding's code.
    """

    code: str
    words: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its causes, the likeliest first."""

    verdict: CheckVerdict
    causes: tuple[Cause, ...]


def judge_unmeasured(findings: Sequence[Finding], *, refusal: str = "") -> Judgement:
    """Of a pair that cannot run: the contract blocks it, or the runtime refused it.

    `refusal` is what the runtime said.
    """
    causes = [_of_finding(one) for one in findings if one.weight is Weight.BLOCK]
    if refusal or not causes:
        causes.append(
            Cause("runtime_refused", f"The runtime refused it. {refusal}".strip(), _OTHER)
        )
    causes += _suspects(findings)
    return Judgement(CheckVerdict.NOT_ATTACHED, tuple(causes))


def judge(numbers: CheckNumbers, findings: Sequence[Finding]) -> Judgement:
    """Of a pair that was measured; the same numbers always give the same verdict."""
    verdict = _verdict(numbers)
    causes: list[Cause] = []
    if verdict is CheckVerdict.WRONG_TEXT:
        causes += _wrong_text(numbers)
    if numbers.falls_beyond is not None:
        causes.append(_beyond_window(numbers.falls_beyond))
    if numbers.falls_after_image:
        causes.append(_AFTER_IMAGE)
    suspects = _suspects(findings)
    if verdict is CheckVerdict.USELESS:
        causes += _little_accepted(numbers.signature, suspects)
    elif verdict is CheckVerdict.SLOWER:
        is_shifted = numbers.signature is Signature.FIRST_ONLY
        causes += [*suspects, *((_SHIFTED,) if is_shifted else ()), *_slower(numbers)]
    else:
        causes += suspects
    return Judgement(verdict, tuple(causes))


def _verdict(numbers: CheckNumbers) -> CheckVerdict:
    if numbers.text is TextVerdict.WRONG_TOKEN:
        return CheckVerdict.WRONG_TEXT
    if (numbers.acceptance.tokens_per_step or 1.0) < USELESS_BELOW:
        # Hardly anything was accepted: a gain would be noise, and a wait for the next surprise.
        return CheckVerdict.USELESS
    is_faster = numbers.speedup is not None and numbers.speedup >= MIN_SPEEDUP
    return CheckVerdict.WORKING if is_faster else CheckVerdict.SLOWER


def _suspects(findings: Sequence[Finding]) -> list[Cause]:
    """What the contract found doubtful and may cost acceptance, the likeliest first."""
    doubts = {one.code: one for one in findings if one.weight is Weight.WARN}
    return [_of_finding(doubts[code]) for code in _SUSPECTS if code in doubts]


def _of_finding(finding: Finding) -> Cause:
    plain = f"{finding.found[:1].upper()}{finding.found[1:]}."
    if finding.expected:
        plain = f"{plain[:-1]}; expected: {finding.expected}."
    sentence = _SUSPECTS.get(finding.code)
    words = plain if sentence is None else f"{sentence} Found: {finding.found}."
    return Cause(finding.code, words, finding.remedy)


def _little_accepted(signature: Signature, suspects: list[Cause]) -> Iterator[Cause]:
    """The pattern of acceptance decides which suspect comes first."""
    shifted = [cause for cause in suspects if cause.code == _UNSLICED]
    mild = [cause for cause in suspects if cause.code in _MILD]
    strong = [cause for cause in suspects if cause not in mild]
    if signature is Signature.FIRST_ONLY and not shifted:
        strong.insert(0, _SHIFTED)
    yield from (*strong, _OTHER_TARGET, *mild, _QUANTISED)


def _slower(numbers: CheckNumbers) -> Iterator[Cause]:
    cost, brought = numbers.step_cost, numbers.tokens_per_step
    if cost is not None and brought is not None:
        yield Cause(
            "steps_too_slow",
            f"A step with the draft takes as long as {significant(cost)} steps without it, and "
            f"brings {significant(brought)} tokens.",
            "Switch the draft off on this device, or try a smaller or more compressed draft.",
        )
    paying = [kind for kind in numbers.by_kind if kind.speedup >= MIN_SPEEDUP]
    if paying:
        yield Cause(
            "depends_on_text",
            f"It pays for {', '.join(kind.words for kind in paying)} only.",
            "Switch the draft on for such texts; a full measurement tells more.",
        )


def _wrong_text(numbers: CheckNumbers) -> Iterator[Cause]:
    one = numbers.difference
    if one is not None and one.gap_nats is not None:
        yield Cause(
            "wrong_token",
            f"At token {one.token_index + 1} the text with the draft goes on with "
            f"“{one.with_draft.strip()}”, the target's own with “{one.without_draft.strip()}”. "
            f"The target prefers its own by {significant(abs(one.gap_nats))} nats; rounding "
            f"explains {significant(one.noise_nats)}.",
            "Do not use this draft on this device with these versions, and report it.",
        )
    if numbers.kv_cache_precision not in {None, "f32"}:
        yield Cause(
            "kv_cache_precision",
            f"The KV cache is {numbers.kv_cache_precision}, which rounds all that was read.",
            "Check again with the KV cache at f32: identical texts then prove the cause.",
        )


def _beyond_window(tokens: int) -> Cause:
    return Cause(
        "beyond_window",
        f"Behind {tokens} tokens most of what the draft brings is lost: it was trained to look "
        "back no further.",
        "Use it for shorter conversations; a full measurement finds where it stops to pay.",
    )


_OTHER: Final = "Choose another draft, or use the target without one."
_AFTER_IMAGE: Final = Cause(
    "after_image",
    "After an image most of what the draft brings is lost.",
    "Use the draft for text, and the target alone for images.",
)
_SHIFTED: Final = Cause(
    "draft_shifted",
    "Tokens are accepted at the first position only, as when the draft's output is shifted by one "
    "place.",
    "The draft was probably exported through the wrong class. Export it with a current exporter.",
)
_OTHER_TARGET: Final = Cause(
    "draft_of_another_target",
    "A draft that was trained for another target, or not at all, is accepted as rarely.",
    "Choose the draft that was made for this very target, not for a variant of it.",
)
_QUANTISED: Final = Cause(
    "quantised_too_far",
    "Rounding of the weights may cost acceptance, but seldom all of it.",
    "Check the same draft in a finer precision: if that is no better, precision is not the cause.",
)

_UNSLICED: Final = "draft_output_unsliced"

_SUSPECTS: Final = {
    _UNSLICED: "The draft's graph keeps the block's first place, so that each proposal is judged "
    "one place off.",
    "runtime_too_old_for_draft": "This runtime leaves out what this kind of draft adds.",
    "draft_metadata_differs": "The draft's graph contradicts its config.json.",
    "mask_token_negative": "The draft's mask token is below zero, which no vocabulary has.",
    "mask_token_in_use": "The draft's mask token is one that the target uses itself.",
    "locators_missing": "The target does not say where its layers can be read.",
    "base_model_differs": "The cards name different base models.",
    "target_depth_differs": "The draft was made for a target with another number of layers.",
    "vocabulary_differs": "The draft was made for another vocabulary.",
    "draft_stateless": "The draft keeps no cache, so that it forgets the context at each step.",
    "layer_types_mixed": "The draft reads layers of several kinds.",
    "locators_differ": "The target names other places than its layers' outputs.",
}
"""What the contract finds doubtful and may cost acceptance, the likeliest first."""

_MILD: Final = frozenset({"draft_stateless", "layer_types_mixed", "locators_differ"})
"""They cost a part of the acceptance only: a third without a cache, next to nothing for locators
that are one layer off, since neighbouring layers are so alike (both measured)."""
