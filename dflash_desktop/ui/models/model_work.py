"""Something long that is done with a model, and how it is told."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.transfer_rate import TransferRate
from dflash_desktop.ui.models.library_words import work_numbers

if TYPE_CHECKING:
    from dflash_desktop.domain.library import WorkProgress
    from dflash_desktop.ui.tasks import TaskScope

_SHOWN_SECONDS: Final = 0.1


class ModelWork:
    """A verification or repair that runs, and how it was last shown."""

    def __init__(self, tasks: TaskScope) -> None:
        self.tasks = tasks
        self.shown = ("", "", 0.0)
        self._sentence = ""
        self._rate = TransferRate()
        self._shown_at = 0.0

    def begin(self, sentence: str) -> None:
        """The next step of it."""
        self._sentence, self._rate, self._shown_at = sentence, TransferRate(), 0.0
        self.shown = (sentence, "", 0.0)

    def take(self, progress: WorkProgress) -> bool:
        """Note a progress; whether it is time to show it."""
        now = time.monotonic()
        if now - self._shown_at < _SHOWN_SECONDS:
            return False
        self._shown_at = now
        rate = self._rate.add(progress.done_bytes, now)
        share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 1.0
        self.shown = (self._sentence, work_numbers(progress, rate), share)
        return True
