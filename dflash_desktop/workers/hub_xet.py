"""Files that the hub keeps in its newer storage, through huggingface_hub and hf_xet.

Only what this program needs around it: counting, a folder of its own, and no cache. What arrives
is verified like everything else. There is no such storage to test against, so the transfer itself
was never run; after a stall the next attempt goes without it (`use_xet=False`).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.transfer import PlannedFile, RepoPlan
    from dflash_desktop.workers.hub_sources import XetFetcher
    from dflash_desktop.workers.protocol import HubAccess


def is_xet_installed() -> bool:
    """hf_xet has no build for some processors."""
    return importlib.util.find_spec("hf_xet") is not None


def xet_fetcher(access: HubAccess, endpoint: str) -> XetFetcher:
    """For one hub."""

    def fetch(
        plan: RepoPlan, file: PlannedFile, folder: Path, count: Callable[[int], None]
    ) -> Path:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]  # is public

        class Counter(tqdm):
            """Takes the place of a progress bar."""

            def update(self, n: float | None = 1) -> bool | None:
                """May raise to stop."""
                count(int(n or 0))
                return None

        return Path(
            hf_hub_download(
                plan.repo_id,
                file.path,
                revision=plan.commit,
                local_dir=folder,
                endpoint=endpoint,
                token=access.token or False,
                tqdm_class=Counter,
            )
        )

    return fetch
