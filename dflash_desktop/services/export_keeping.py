"""Writes and forgets the records of exports off the loop, in order."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflash_desktop.services.export_entry import ExportEntry
    from dflash_desktop.services.export_journal import ExportJournal

_log = logging.getLogger(__name__)


class ExportKeeping:
    """A disk that refuses is told in the log: the export itself can go on."""

    def __init__(self, journal: ExportJournal) -> None:
        self._journal = journal
        self._one_at_a_time = asyncio.Lock()

    async def keep(self, entry: ExportEntry) -> None:
        """Write what must survive of it, as it is when its turn comes."""
        async with self._one_at_a_time:
            if entry.is_forgotten:
                return
            try:
                await asyncio.to_thread(self._journal.save, entry.stored)
            except OSError as error:
                _log.info("the record of an export could not be saved: %s", error)

    async def forget(self, entry: ExportEntry) -> None:
        """Nobody goes on with it; nothing of it is written from now on."""
        async with self._one_at_a_time:
            entry.is_forgotten = True
            try:
                await asyncio.to_thread(self._journal.forget, entry.id)
            except OSError as error:
                _log.warning("the record of an export stays: %s", error)
