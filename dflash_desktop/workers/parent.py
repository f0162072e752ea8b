"""How a worker knows who started it; apart, since starting one needs nothing else of workers."""

from __future__ import annotations

from typing import Final

PARENT_PID_VARIABLE: Final = "DFLASH_PARENT_PID"
"""Set by the launcher, so that a worker notices a parent that died before it could watch it."""
