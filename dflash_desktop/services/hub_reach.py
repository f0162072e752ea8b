"""The way to the hub as it is set now: address, proxy, certificates, token, caches, speed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.services.token_store import hf_home, login_token
from dflash_desktop.workers.fetch_messages import HubAccess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.services.token_store import TokenStore


class SettingsHubReach:
    """Reads the settings anew for each attempt; what is given here goes before them."""

    def __init__(
        self,
        *,
        settings: SettingsStore,
        tokens: TokenStore,
        endpoint: str = "",
        max_bytes_per_second: int | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._endpoint = endpoint
        self._max_bytes_per_second = max_bytes_per_second
        self._environment = environment

    async def access(self) -> HubAccess:
        """Address, proxy, certificates and token of now."""
        value = self._settings.value
        token = await self._tokens.token()
        if not token and value.use_hf_login:
            token = await asyncio.to_thread(login_token, self._environment)
        return HubAccess(
            endpoint=self.endpoint,
            token=token,
            proxy=value.hub_proxy,
            ca_file="" if value.hub_ca_file is None else str(value.hub_ca_file),
        )

    @property
    def endpoint(self) -> str:
        """The address; empty means the Hugging Face hub."""
        return (
            self._endpoint
            or self._settings.value.hub_endpoint
            or self._environment.get("HF_ENDPOINT", "").strip()
        )

    def cache_dirs(self) -> tuple[Path, ...]:
        """The hub's own caches that are there and may be read."""
        return hf_cache_dirs(self._environment) if self._settings.value.use_hf_cache else ()

    @property
    def use_xet(self) -> bool:
        """Whether the hub's newer storage may be used."""
        return self._settings.value.use_xet

    @property
    def max_bytes_per_second(self) -> int | None:
        """How fast a download may be; None: as fast as it goes."""
        return self._max_bytes_per_second or self._settings.value.download_limit_bytes_per_second


def hf_cache_dirs(environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Every folder in which the hub's own tools may keep models, if it is there."""
    named = [environment.get(name) for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")]
    places = [Path(name).expanduser() for name in named if name]
    places.append(hf_home(environment) / "hub")
    places.append(Path("~/.cache/huggingface/hub").expanduser())
    # Each once: the variables often say what is the default.
    return tuple(folder for folder in dict.fromkeys(places) if folder.is_dir())
