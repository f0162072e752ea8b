"""A download as it is asked for, planned, and shown while it runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from dflash_desktop.domain.problems import Problem


def incoming_folder_name(repo_id: str) -> str:
    """The folder of a repository inside a transfer's incoming folder; no commit is in it.

    So a new commit finds the files that did not change.
    """
    return repo_id.replace("/", "--")


def repo_id_of_folder(name: str) -> str:
    """The repository whose incoming folder has this name, or nothing if it is none."""
    owner, separator, rest = name.partition("--")
    return f"{owner}/{rest}" if owner and separator and rest else ""


@dataclass(frozen=True, slots=True)
class RepoRequest:
    """One repository of a hub; `revision` is a branch, a tag or a commit."""

    repo_id: str  # "owner/name"
    revision: str = "main"
    patterns: tuple[str, ...] = ()  # globs of the files that are wanted; none: all of them


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """What is brought in together: a target and its draft, or one model."""

    id: str
    title: str
    repos: tuple[RepoRequest, ...]


def request_id(repos: tuple[RepoRequest, ...]) -> str:
    """An id that is the same for the same wish, and another one for other files of a model."""
    parts = [f"{repo.repo_id}@{repo.revision}:{','.join(repo.patterns)}" for repo in repos]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file as the hub announces it; large files have a sha256, small ones git's blob id."""

    path: str  # inside the repository, with "/"
    size_bytes: int
    sha256: str | None = None
    git_blob_id: str | None = None
    present_bytes: int = 0  # what an earlier attempt or the hub's own cache already holds


@dataclass(frozen=True, slots=True)
class RepoPlan:
    """A repository with its revision resolved, so that all of it comes from one commit."""

    repo_id: str
    commit: str  # 40 hex digits
    files: tuple[PlannedFile, ...]
    licence: str = ""
    is_gated: bool = False

    @property
    def size_bytes(self) -> int:
        """The sum of all files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def present_bytes(self) -> int:
        """What need not be fetched again."""
        return sum(file.present_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """What a transfer will take, known before its first byte."""

    repos: tuple[RepoPlan, ...]
    needed_disk_bytes: int  # with whatever is held twice for a moment
    free_disk_bytes: int

    @property
    def total_bytes(self) -> int:
        """The size of all files of all repositories."""
        return sum(repo.size_bytes for repo in self.repos)

    @property
    def missing_bytes(self) -> int:
        """What still has to come over the network."""
        return self.total_bytes - sum(repo.present_bytes for repo in self.repos)


class TransferState(StrEnum):
    """Where a transfer is in its life."""

    WAITING = "waiting"  # another one runs
    PLANNING = "planning"
    RUNNING = "running"
    STALLED = "stalled"  # nothing arrives, or a new attempt waits for its time
    CHECKING = "checking"
    PAUSED = "paused"
    FAILED = "failed"  # a person must do something
    DONE = "done"


@dataclass(frozen=True, slots=True)
class FileProgress:
    """One file of a transfer."""

    repo_id: str
    path: str
    done_bytes: int
    total_bytes: int
    is_verified: bool = False


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer at one moment; None is what is not known yet."""

    request: TransferRequest
    state: TransferState
    done_bytes: int = 0
    total_bytes: int | None = None
    bytes_per_second: float | None = None
    seconds_left: float | None = None
    files: tuple[FileProgress, ...] = ()
    attempt: int = 1
    notice: str = ""  # one sentence beside the bar: why it waits, what will happen next
    problem: Problem | None = None  # of one that failed, or that a full disk has paused

    @property
    def id(self) -> str:
        """The request's."""
        return self.request.id

    @property
    def is_open(self) -> bool:
        """Whether anything is still to come."""
        return self.state is not TransferState.DONE
