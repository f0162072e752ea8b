"""One thing that the self-test looked at, and what to do if it is not as it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """`code` is stable and for programs; `detail` says what was found, or what to do."""

    code: str
    passed: bool
    detail: str


def all_passed(checks: Iterable[SelfCheck]) -> bool:
    """Whether nothing is missing; nothing looked at is nothing proven."""
    found = tuple(checks)
    return bool(found) and all(check.passed for check in found)
