"""Whether the draft takes part in the next answer, and what it was worth in the last ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.draft_policy import (
    NOT_MEASURED,
    SpeedVerdict,
    is_comparable,
    speed_verdict,
    switch_off_reason,
)
from dflash_desktop.domain.draft_rivals import rival_words
from dflash_desktop.domain.engine_state import loaded_pair
from dflash_desktop.domain.generation import (
    DraftState,
    DraftUse,
    GenerationStats,
    SamplingParams,
    clamp_assistant_tokens,
    draft_rests_because,
)
from dflash_desktop.domain.pair import measurement_key
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.power_source import power_source

if TYPE_CHECKING:
    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.domain.pair import DraftFacts, LoadedPair, MeasurementKey
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.measurement_store import MeasurementStore

UNMEASURED_ASSISTANT_TOKENS: Final = 3
"""Until this machine has measured: modest, since more tokens cost more where a draft is weak."""

SWITCHED_OFF_BY_PERSON: Final = "You switched the draft off for this model on this device."


class DraftControl:
    """Decides by what was measured here and by the settings; the person has the last word."""

    def __init__(self, *, engine: Engine, measurements: MeasurementStore) -> None:
        self._engine = engine
        self._measurements = measurements
        self._fixed_assistant_tokens: int | None = None
        self._recent: dict[MeasurementKey, list[GenerationStats]] = {}
        self._kept_on: set[MeasurementKey] = set()
        self._last_pair: LoadedPair | None = None
        engine.subscribe(self._on_engine_state)

    def fix_assistant_tokens(self, count: int | None) -> None:
        """Use this number whatever was measured; None goes back to what was measured."""
        self._fixed_assistant_tokens = count

    def plan(self, params: SamplingParams, *, with_pictures: bool = False) -> DraftUse:
        """What the draft will do in the next answer, and why.

        Turns with pictures are judged by themselves: a draft that helps with text may not there.
        """
        pair = self._pair()
        if pair is None:
            return DraftUse(DraftState.OFF, "No model is loaded.")
        if pair.draft is None:
            return DraftUse(DraftState.OFF, "This model is loaded without a draft.")
        key = measurement_key(pair)
        if reason := self._off_because(key, with_pictures=with_pictures):
            return DraftUse(DraftState.OFF, reason)
        tokens, reason = self._assistant_tokens(pair.draft, key, with_pictures=with_pictures)
        if tokens == 0:
            return DraftUse(DraftState.OFF, reason)
        if resting := draft_rests_because(params):
            return DraftUse(DraftState.RESTING, resting)
        return DraftUse(DraftState.ON, reason, tokens)

    def set_enabled(self, *, enabled: bool) -> None:
        """The person's own decision for the loaded pair on this device; kept until changed.

        Raises `AppError` when it could not be written; it then holds until the program ends.
        """
        pair = self._pair()
        if pair is None or pair.draft is None:
            return
        key = measurement_key(pair)
        of_pictures = replace(key, of_pictures=True)
        for one in (key, of_pictures):
            self._recent.pop(one, None)
        if enabled:
            self._kept_on.add(key)
            self._measurements.set_draft_off(of_pictures, None)
        else:
            self._kept_on.discard(key)
        self._measurements.set_draft_off(key, None if enabled else SWITCHED_OFF_BY_PERSON)

    def _off_because(self, key: MeasurementKey, *, with_pictures: bool) -> str | None:
        for_text = self._measurements.draft_off(key)
        if not with_pictures or for_text == SWITCHED_OFF_BY_PERSON:
            return for_text
        return self._measurements.draft_off(replace(key, of_pictures=True))

    def learn(self, use: DraftUse, stats: GenerationStats) -> tuple[SpeedVerdict, str]:
        """Compare an answer with the stored baseline, and switch off a draft that costs.

        Returns the comparison and, if the draft was switched off just now, the sentence to show.
        """
        pair = self._pair()
        if pair is None:
            return NOT_MEASURED, ""
        key = measurement_key(pair)
        report = self._measurements.get(key)
        if report is None:
            return NOT_MEASURED, ""
        power = power_source()
        verdict = speed_verdict(stats, report, power_source=power)
        is_judged = use.state is DraftState.ON and key not in self._kept_on
        if not is_judged or not is_comparable(report, power):
            return verdict, ""
        of_kind = replace(key, of_pictures=stats.picture_tokens > 0)
        recent = self._recent.setdefault(of_kind, [])
        recent.append(stats)
        reason = switch_off_reason(recent, report)
        if reason is None:
            return verdict, ""
        del self._recent[of_kind]
        with suppress(AppError):  # a full disk: it stays off until the program ends
            self._measurements.set_draft_off(of_kind, reason)
        return verdict, reason

    def _on_engine_state(self, state: EngineState) -> None:
        self._last_pair = loaded_pair(state) or self._last_pair

    def _pair(self) -> LoadedPair | None:
        """The loaded pair, or the last one: after a crash the engine is loading it again."""
        return loaded_pair(self._engine.state) or self._last_pair

    def _assistant_tokens(
        self, draft: DraftFacts, key: MeasurementKey, *, with_pictures: bool
    ) -> tuple[int, str]:
        if self._fixed_assistant_tokens is not None:
            fixed = self._fixed_assistant_tokens
            tokens = clamp_assistant_tokens(fixed, draft.block_size) if fixed else 0
            return tokens, f"You set {tokens} assistant tokens."
        report = self._measurements.get(key)
        if report is None:
            tokens = clamp_assistant_tokens(UNMEASURED_ASSISTANT_TOKENS, draft.block_size)
            return tokens, (
                f"{tokens} assistant tokens to begin with: this machine has not measured yet "
                f"what the draft is worth."
            )
        chosen = report.chosen_for(with_pictures=with_pictures)
        if chosen.assistant_tokens == 0 and key in self._kept_on:
            tokens = clamp_assistant_tokens(UNMEASURED_ASSISTANT_TOKENS, draft.block_size)
            return tokens, f"You switched it on, although: {chosen.reason}"
        compared = rival_words(report, self._measurements.rivals(key))
        return chosen.assistant_tokens, " ".join(filter(None, (chosen.reason, compared)))
