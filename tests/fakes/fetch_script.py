"""A fetch process that does what a script says: one script for each process that is started.

As a program it reads its script from the environment; `ScriptedFetch` is the launcher.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import msgspec

from dflash_desktop.domain.library import ModelFile
from dflash_desktop.domain.transfer import PlannedFile, RepoPlan, RepoRequest, TransferPlan
from dflash_desktop.services.worker_launch import WorkerCommand, WorkerLauncher, worker_environment
from dflash_desktop.workers import fetch_messages, frames, protocol

SCRIPT_VARIABLE = "FAKE_FETCH_SCRIPT"
JOB_VARIABLE = "FAKE_FETCH_JOB"
COMMIT = "a" * 40


class Plan(msgspec.Struct, tag="plan"):
    """Answer `PlanRepos` with a file of `size_bytes` in each repository."""

    size_bytes: int = 1000
    commit: str = COMMIT


class Arrive(msgspec.Struct, tag="arrive"):
    """Tell that so much of the first file of the first repository is here."""

    done_bytes: int


class Wait(msgspec.Struct, tag="wait"):
    seconds: float


class Stall(msgspec.Struct, tag="stall"):
    """Say nothing more, until killed."""


class Fail(msgspec.Struct, tag="fail"):
    code: str
    facts: dict[str, int] = {}


class Deliver(msgspec.Struct, tag="deliver"):
    """Write all files and answer `ReposFetched`."""


class Die(msgspec.Struct, tag="die"):
    """End without a word."""


Step = Plan | Arrive | Wait | Stall | Fail | Deliver | Die


class ScriptedFetch(WorkerLauncher):
    """Gives each fetch process the next script; `jobs` are what they were asked for."""

    def __init__(self, folder: Path, *scripts: tuple[Step, ...]) -> None:
        super().__init__(log_dir=folder / "logs")
        self._folder = folder
        self._scripts = list(scripts)
        self.starts = 0
        folder.mkdir(parents=True, exist_ok=True)

    def then(self, *scripts: tuple[Step, ...]) -> None:
        """More processes may come."""
        self._scripts += scripts

    def fetch(self) -> WorkerCommand:
        """The next process; one more than there are scripts is a fault of the test."""
        script = self._scripts.pop(0)
        self.starts += 1
        return WorkerCommand(
            argv=(sys.executable, "-P", __file__),
            env=worker_environment()
            | {
                SCRIPT_VARIABLE: msgspec.json.encode(script).decode(),
                JOB_VARIABLE: str(self._folder / f"job-{self.starts}.json"),
            },
            log_file=self._folder / "logs" / "fetch.log",
        )

    def job(self, number: int) -> protocol.Command:
        """What process `number`, from 1, was asked."""
        return frames.decode_command((self._folder / f"job-{number}.json").read_bytes())

    @property
    def left(self) -> int:
        """Scripts that nobody has needed."""
        return len(self._scripts)


def planned(repos: tuple[RepoRequest, ...], step: Plan) -> TransferPlan:
    """What the script's hub would bring."""
    return TransferPlan(
        tuple(
            RepoPlan(repo.repo_id, step.commit, (PlannedFile("weights.bin", step.size_bytes),))
            for repo in repos
        ),
        needed_disk_bytes=step.size_bytes,
        free_disk_bytes=10**12,
    )


def _deliver(job: fetch_messages.FetchRepos) -> fetch_messages.ReposFetched:
    all_files = []
    for plan in job.plans:
        folder = job.incoming_dir / plan.repo_id.replace("/", "--")
        folder.mkdir(parents=True, exist_ok=True)
        for file in plan.files:
            (folder / file.path).write_bytes(b"x" * file.size_bytes)
        all_files.append(tuple(ModelFile(f.path, f.size_bytes, "0" * 64) for f in plan.files))
    return fetch_messages.ReposFetched(job.job, tuple(all_files))


def _answer(job: protocol.Command, step: Plan | Arrive | Fail | Deliver) -> protocol.Event:
    match job, step:
        case fetch_messages.PlanRepos(), Plan():
            return fetch_messages.ReposPlanned(job.job, planned(job.repos, step))
        case fetch_messages.FetchRepos(), Arrive(done_bytes=done):
            file = fetch_messages.FileState(0, job.plans[0].files[0].path, done)
            return fetch_messages.FilesProgress(job.job, (file,))
        case fetch_messages.FetchRepos(), Deliver():
            return _deliver(job)
        case fetch_messages.PlanRepos() | fetch_messages.FetchRepos(), Fail(
            code=code, facts=facts
        ):
            return protocol.Failed(job.job, code, f"raw {code}", facts=facts)
        case _:
            pass
    raise ValueError(f"{step} for {job}")


def main() -> None:
    out, incoming = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")

    def send(event: protocol.Event) -> None:
        out.write(frames.pack(event))
        out.flush()

    send(protocol.Hello(protocol.PROTOCOL_VERSION, "fetch", os.getpid()))
    frame = frames.read_frame(incoming)
    if frame is None:
        return
    Path(os.environ[JOB_VARIABLE]).write_bytes(frame[0])
    job = frames.decode_command(frame[0])
    if not isinstance(job, fetch_messages.PlanRepos | fetch_messages.FetchRepos):
        raise TypeError(f"{job} is no job of these tests")
    for step in msgspec.json.decode(os.environ[SCRIPT_VARIABLE], type=list[Step]):
        if isinstance(step, Stall):
            break
        if isinstance(step, Die):
            return
        if isinstance(step, Wait):
            time.sleep(step.seconds)
        else:
            send(_answer(job, step))
    # As the real one, it ends when it is told to, by a frame or by the end of the stream.
    if frames.read_frame(incoming) is not None:
        send(protocol.Failed(job.job, "cancelled", ""))


if __name__ == "__main__":
    main()
