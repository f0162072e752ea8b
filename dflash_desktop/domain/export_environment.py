"""The environments in which exports run, and which one a model needs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EnvironmentState(StrEnum):
    """What is known of an environment on this disk."""

    ABSENT = "absent"
    INSTALLING = "installing"
    READY = "ready"
    OUTDATED = "outdated"  # made from other requirements than this program's
    DAMAGED = "damaged"  # cut off, or a check failed: repair it


@dataclass(frozen=True, slots=True)
class EnvironmentStatus:
    """One environment; `id` is stable ("transformers-5.5")."""

    id: str
    title: str
    state: EnvironmentState
    used_for: str  # which models, in words
    size_bytes: int  # on disk, what it shares with others counted once
    needed_bytes: int  # of disk, to install it
    is_development: bool = False  # from source and nightly builds
    detail: str = ""
