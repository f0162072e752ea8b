"""What is told when the network is switched off in this program."""

from __future__ import annotations

from typing import Final

from dflash_desktop.domain.problems import Problem, Remedy

NETWORK_OFF: Final = "network_off"
"""The code of a transfer that was not begun, or was ended, for that."""


def network_off(detail: str = "") -> Problem:
    """Something would have to come over the network."""
    return Problem(
        code=NETWORK_OFF,
        headline="The network is switched off in this program, so nothing was fetched.",
        advice="Switch it on under Transfers, Connection. If DFLASH_NO_NETWORK is set, whoever "
        "looks after this machine wants it off. What has arrived is kept.",
        detail=detail,
        remedies=(Remedy.NETWORK_SETTINGS, Remedy.RETRY),
    )
