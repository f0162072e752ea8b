"""Explains where texts part: both next words, and whether the target finds the tokens equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.benchmark import FirstDifference
from dflash_desktop.domain.problems import AppError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflash_desktop.domain.bench_samples import TextFork
    from dflash_desktop.domain.generation import PromptMessage
    from dflash_desktop.services.engine import Engine

NEXT_WORDS_TOKENS: Final = 8
"""Some words to recognise the place by."""

MIN_NOISE_NATS: Final = 1e-3
"""Measured noise is below 0.00005 nats with an f32 cache; a wrong token is tenths off."""

NOISE_SHARE_OF_GAP: Final = 2.0
"""A gap lies between two log-probabilities, and rounding may move them in opposite directions."""

_CANNOT_SCORE: Final = "cannot_score"


async def explain_forks(
    engine: Engine,
    forks: Sequence[TextFork],
    messages: Mapping[int, tuple[PromptMessage, ...]],
) -> dict[TextFork, FirstDifference]:
    """Score each fork with the loaded target; `messages` are those of each prompt.

    The noise is measured on the very answers that part, at the same cache precision: the largest
    change that the log-probability of one token shows between computing it token by token, as
    without a draft, and in one pass, as a draft's tokens are checked. Where the runtime cannot
    score (models that see pictures), the gap stays unknown. Raises `AppError`.
    """
    if not forks:
        return {}
    answers = {fork.prompt: fork.without_draft for fork in forks}
    try:
        shifts = [await engine.noise(messages[p], answer) for p, answer in answers.items()]
    except AppError as error:
        if error.problem.code != _CANNOT_SCORE:
            raise
        # The words are told all the same; whether they tie stays open.
        return {
            fork: await _explain(engine, fork, None, noise_nats=MIN_NOISE_NATS) for fork in forks
        }
    noise_nats = max(MIN_NOISE_NATS, NOISE_SHARE_OF_GAP * max(shifts))
    return {
        fork: await _explain(engine, fork, messages[fork.prompt], noise_nats=noise_nats)
        for fork in forks
    }


async def _explain(
    engine: Engine,
    fork: TextFork,
    messages: tuple[PromptMessage, ...] | None,
    *,
    noise_nats: float,
) -> FirstDifference:
    """Without `messages` nothing is scored."""
    index = fork.token_index
    own = fork.without_draft[index : index + NEXT_WORDS_TOKENS]
    other = fork.with_draft[index : index + NEXT_WORDS_TOKENS]
    own_words, other_words = await engine.detokenize((own, other))
    gap_nats = None
    if (
        messages and own and other
    ):  # else one text ends where the other goes on, without a token to score
        scores = await engine.score(messages, fork.shared, (own[0], other[0]))
        gap_nats = scores[0] - scores[1]
    return FirstDifference(index, own_words, other_words, gap_nats, noise_nats)
