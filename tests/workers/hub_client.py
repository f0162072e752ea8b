"""The fetch process's jobs against the fake hub, run in this process."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.transfer import RepoPlan, RepoRequest, incoming_folder_name
from dflash_desktop.workers import hub_file
from dflash_desktop.workers.fetch_messages import (
    FetchRepos,
    FilesProgress,
    HubAccess,
    PlanRepos,
    ReposFetched,
    ReposPlanned,
)
from dflash_desktop.workers.frames import pack
from dflash_desktop.workers.hub_jobs import answer_hub_job
from dflash_desktop.workers.protocol import Failed
from tests.fakes.fake_hub import FakeHub, HubFile, HubRepo, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Client:
    """Asks one hub; `access` may be replaced."""

    hub: FakeHub
    incoming: Path
    access: HubAccess
    cache_dirs: tuple[Path, ...] = ()
    stall_seconds: float = 5.0
    answer_seconds: float = 5.0
    progress: list[FilesProgress] = field(default_factory=list)

    def ask_plan(self, *requests: RepoRequest) -> ReposPlanned | ReposFetched | Failed:
        """All repositories of the hub, unless told otherwise."""
        requests = requests or tuple(RepoRequest(repo.repo_id) for repo in self.hub.repos)
        command = PlanRepos(
            1, requests, self.access, self.incoming, self.cache_dirs, self.answer_seconds
        )
        answer = answer_hub_job(command, send=self.progress.append, is_cancelled=lambda: False)
        pack(answer)  # what cannot travel would be a fault of its own
        return answer

    def plan(self, *requests: RepoRequest) -> tuple[RepoPlan, ...]:
        """A plan that must succeed."""
        answer = self.ask_plan(*requests)
        assert isinstance(answer, ReposPlanned), answer
        return answer.plan.repos

    def fetch(
        self,
        plans: tuple[RepoPlan, ...] | None = None,
        *,
        max_bytes_per_second: int | None = None,
        only_paths: tuple[str, ...] = (),
        use_xet: bool = False,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> ReposPlanned | ReposFetched | Failed:
        """Of what is planned now, unless told otherwise."""
        command = FetchRepos(
            2,
            self.plan() if plans is None else plans,
            self.access,
            self.incoming,
            self.cache_dirs,
            use_xet=use_xet,
            max_bytes_per_second=max_bytes_per_second,
            only_paths=only_paths,
            stall_seconds=self.stall_seconds,
        )
        answer = answer_hub_job(command, send=self.progress.append, is_cancelled=is_cancelled)
        pack(answer)
        return answer

    def fetch_well(self, plans: tuple[RepoPlan, ...] | None = None) -> ReposFetched:
        """A fetch that must succeed."""
        answer = self.fetch(plans)
        assert isinstance(answer, ReposFetched), answer
        return answer

    def fetch_badly(self, plans: tuple[RepoPlan, ...] | None = None) -> Failed:
        """A fetch that must fail."""
        answer = self.fetch(plans)
        assert isinstance(answer, Failed), answer
        return answer

    def folder(self, repo: HubRepo | None = None) -> Path:
        """Where a repository's files are; the first one's unless told otherwise."""
        repo = repo or self.hub.repos[0]
        return self.incoming / incoming_folder_name(repo.repo_id)

    def assert_whole(self) -> None:
        """Exactly the files of the hub, byte for byte, and nothing else."""
        for repo in self.hub.repos:
            folder = self.folder(repo)
            here = {
                path.relative_to(folder).as_posix(): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
            assert here == {file.path: file.content for file in repo.files}


@contextmanager
def _quick_retries() -> Iterator[None]:
    waits = hub_file.RETRY_SECONDS
    hub_file.RETRY_SECONDS = (0.01, 0.01, 0.01)  # type: ignore[misc]  # tests do not wait
    try:
        yield
    finally:
        hub_file.RETRY_SECONDS = waits  # type: ignore[misc]


@contextmanager
def client(
    folder: Path, *repos: HubRepo, token: str = "", cert_file: Path | None = None
) -> Iterator[Client]:
    """A running hub with these repositories, and somebody who asks it."""
    before = dict(os.environ)
    try:
        with _quick_retries(), serve(FakeHub(list(repos)), cert_file=cert_file) as hub:
            access = HubAccess(endpoint=hub.url, token=token)
            yield Client(hub, folder / "incoming", access)
    finally:
        # The jobs set what huggingface_hub reads, as they may in a process of their own.
        os.environ.clear()
        os.environ.update(before)


def one_file(**faults: object) -> HubRepo:
    """A repository of one large file of 400,000 bytes with these faults."""
    file = HubFile("openvino_model.bin", random_bytes=400_000, seed=7, **faults)  # type: ignore[arg-type]
    return HubRepo("team/model", [file])
