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
    from dflash_desktop.workers.fetch_messages import HubAccess
    from dflash_desktop.workers.hub_sources import XetFetcher


def is_xet_installed() -> bool:
    """hf_xet has no build for some processors."""
    return importlib.util.find_spec("hf_xet") is not None


def xet_fetcher(access: HubAccess, endpoint: str) -> XetFetcher:
    """For one hub."""

    def fetch(
        plan: RepoPlan, file: PlannedFile, folder: Path, count: Callable[[int], None]
    ) -> Path:
        from huggingface_hub import hf_hub_download

        return Path(
            hf_hub_download(
                plan.repo_id,
                file.path,
                revision=plan.commit,
                local_dir=folder,
                endpoint=endpoint,
                token=access.token or False,
                tqdm_class=type("Counter", (_Counter,), {"count": staticmethod(count)}),
            )
        )

    return fetch


class _Counter:
    """What huggingface_hub asks of a progress bar, without one; `count` may raise to stop."""

    count: Callable[[int], None]

    def __init__(self, *arguments: object, **options: object) -> None:
        self.n = 0
        self.total: int | None = None
        self.format_dict: dict[str, object] = {}

    def __enter__(self) -> _Counter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def update(self, n: float | None = 1) -> None:
        """Bytes that are on the disk."""
        self.n += int(n or 0)
        self.count(int(n or 0))

    def update_transfer(self, n: float | None = 1) -> None:
        """Bytes that arrived: a sign of life. With this method there is one bar and not two."""
        self.count(0)

    def close(self) -> None:
        """Nothing to draw."""

    def refresh(self, *arguments: object, **options: object) -> None:
        """Nothing to draw."""

    set_postfix_str = set_transfer_postfix_str = refresh
