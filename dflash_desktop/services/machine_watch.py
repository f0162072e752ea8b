"""Notices that the machine slept, or that its network is another one than before."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable

SLEEP_SECONDS: Final = 10.0
"""The wall clock runs on while the machine sleeps and no program runs."""

NETWORK_LOOK_SECONDS: Final = 5.0


class MachineChange(StrEnum):
    """What makes an attempt at once worth while."""

    WOKE = "woke"
    NETWORK = "network"


def network_addresses() -> frozenset[str]:
    """The addresses of this machine that are not its own loop."""
    return frozenset(
        address.address
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if not address.address.startswith(("127.", "::1"))
    )


class MachineWatch:
    """Compares the machine with how it was at the last look; look at it about once a second."""

    def __init__(
        self,
        *,
        steady: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        addresses: Callable[[], frozenset[str]] = network_addresses,
    ) -> None:
        self._steady, self._wall, self._addresses = steady, wall, addresses
        self._steady_at, self._wall_at = steady(), wall()
        self._known_addresses = addresses()
        self._network_at = self._steady_at

    def look(self) -> MachineChange | None:
        """What has changed since the last look.

        Linux stops the steady clock in sleep, so the wall clock runs ahead of it. Windows does
        not, so there a look that comes far too late says the same.
        """
        steady, wall = self._steady(), self._wall()
        wall_passed, steady_passed = wall - self._wall_at, steady - self._steady_at
        self._steady_at, self._wall_at = steady, wall
        if steady - self._network_at >= NETWORK_LOOK_SECONDS:
            self._network_at = steady
            before, self._known_addresses = self._known_addresses, self._addresses()
            if self._known_addresses - before:  # less of a network is no reason to try
                return MachineChange.NETWORK
        if wall_passed - steady_passed >= SLEEP_SECONDS or steady_passed >= 3 * SLEEP_SECONDS:
            return MachineChange.WOKE
        return None
