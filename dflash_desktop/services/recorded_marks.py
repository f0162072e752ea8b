"""The last check of a pair, for its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.reproducibility import RecordedCheck

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.services.check_history import CheckHistory


def last_check(history: CheckHistory, pair_ids: Iterable[str]) -> RecordedCheck | None:
    """The newest check under any of the ids that these folders go by. Blocking."""
    checks = [one for pair_id in pair_ids for one in history.of_pair(pair_id)[:1]]
    newest = max(checks, key=lambda one: one.checked_at, default=None)
    if newest is None:
        return None
    return RecordedCheck(
        checked_at=newest.checked_at,
        verdict=str(newest.verdict),
        causes=tuple(cause.code for cause in newest.causes),
        device_name=newest.device_name,
        driver=newest.driver,
        runtime=newest.runtime,
        kv_cache_precision=newest.kv_cache_precision,
        assistant_tokens=newest.assistant_tokens,
        speedup=newest.speedup,
        tokens_per_step=newest.tokens_per_step,
        text="" if newest.text is None else str(newest.text),
    )
