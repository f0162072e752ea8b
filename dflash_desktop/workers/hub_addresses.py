"""Addresses from settings and from servers, neither of which need be any."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from dflash_desktop.workers.fetch_messages import HubAccess

DEFAULT_ENDPOINT: Final = "https://huggingface.co"
NOWHERE: Final = "nowhere://"


def endpoint_of(access: HubAccess) -> str:
    """Where the hub is, without a slash at the end."""
    return (access.endpoint or os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")


def joined(url: str, location: str) -> str:
    """Where a redirect leads; what cannot be read leads to an address that no client takes."""
    try:
        target = urljoin(url, location)
    except ValueError:
        return NOWHERE
    return target if target.isprintable() and origin(target)[1] else NOWHERE


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port; empty when it cannot be read."""
    try:
        split = urlsplit(url)
        port = split.port or (443 if split.scheme == "https" else 80)
    except ValueError:
        return "", "", 0
    return split.scheme, (split.hostname or "").lower(), port
