"""A program that only downloads, as the window does when it starts: made to be killed.

`python -m tests.fakes.download_program HUB REPO` adds the repository once, goes on with what an
earlier run left, and ends with 0 when it is in the library, with 1 when it failed.
"""

from __future__ import annotations

import asyncio
import sys

from dflash_desktop.domain.transfer import RepoRequest, TransferRequest, TransferState, request_id
from dflash_desktop.log import log_to_file
from dflash_desktop.paths import app_paths
from dflash_desktop.services.downloads import open_downloads
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import HubAccess
from tests.fakes.download_world import PlainReach, until


async def main(url: str, repo_id: str) -> int:
    paths = app_paths()
    log_to_file(paths.log_dir / "window.log")
    library = ModelLibrary(paths=paths)
    downloads = open_downloads(
        paths=paths,
        launcher=WorkerLauncher(log_dir=paths.log_dir),
        models=library,
        hub=PlainReach(HubAccess(endpoint=url)),
    )
    if downloads.transfers():
        downloads.begin()
    elif library.find(repo_id) is None:
        repos = (RepoRequest(repo_id),)
        downloads.add(TransferRequest(request_id(repos), "A model", repos))
    else:
        return 0
    last = await until(
        downloads,
        lambda t: t.state is TransferState.DONE or t.problem is not None,
        patience_seconds=600,
    )
    await downloads.close()
    if last.problem is not None:
        sys.stderr.write(f"{last.problem}\n")
    return 0 if last.problem is None else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
