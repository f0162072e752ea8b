"""What `pull` tells on its way: lines of JSON for programs, one moving line for a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.progress import Tenths
from dflash_desktop.cli.result import print_event, problem_form
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.domain.units import format_byte_rate, format_bytes, format_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.transfer import Transfer, TransferPlan, TransferRequest

_JSON_SECONDS: Final = 0.5
_BAR_CELLS: Final = 24
_STATE_WORDS: Final = {
    TransferState.WAITING: "Waiting",
    TransferState.PLANNING: "Asking the hub",
    TransferState.STALLED: "Waiting for the hub",
    TransferState.CHECKING: "Checking",
}


class PullOutput:
    """Prints each thing once, and progress as often as its reader can use it."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._is_terminal = not as_json and sys.stderr.isatty()
        self._told_at = 0.0
        self._told_state: tuple[object, ...] = ()
        self._tenths = Tenths()
        self._notice = ""

    def planned(self, request: TransferRequest, plan: TransferPlan) -> None:
        """What will come."""
        if self._as_json:
            print_event(
                "planned",
                {
                    "id": request.id,
                    "title": request.title,
                    "repos": [
                        {
                            "repo": repo.repo_id,
                            "commit": repo.commit,
                            "files": len(repo.files),
                            "size_bytes": repo.size_bytes,
                            "licence": repo.licence or None,
                            "is_gated": repo.is_gated,
                        }
                        for repo in plan.repos
                    ],
                    "total_bytes": plan.total_bytes,
                    "missing_bytes": plan.missing_bytes,
                    "needed_disk_bytes": plan.needed_disk_bytes,
                    "free_disk_bytes": plan.free_disk_bytes,
                },
            )
            return
        for repo in plan.repos:
            licence = f", {repo.licence}" if repo.licence else ""
            size = format_bytes(repo.size_bytes)
            count = "1 file" if len(repo.files) == 1 else f"{len(repo.files)} files"
            _say(f"{repo.repo_id}: {count}, {size}{licence}")
            _say(f"  commit {repo.commit}")

    def progress(self, transfer: Transfer) -> None:
        """How far it is."""
        if self._as_json:
            self._json_progress(transfer)
        elif self._is_terminal:
            columns = shutil.get_terminal_size().columns - 1
            # Blanks, and no escape sequence: older consoles of Windows would show it.
            print(f"\r{progress_line(transfer)[:columns]:<{columns}}", end="", file=sys.stderr)
            sys.stderr.flush()
        else:
            self._plain_progress(transfer)

    def done(self, request: TransferRequest, models: Sequence[InstalledModel | None]) -> None:
        """It is in the library."""
        found = [model for model in models if model is not None]
        if self._as_json:
            print_event(
                "done",
                {
                    "id": request.id,
                    "models": [
                        {
                            "id": model.id,
                            "path": str(model.path),
                            "size_bytes": model.manifest.size_bytes,
                            "commit": model.manifest.commit,
                        }
                        for model in found
                    ],
                },
            )
            return
        self._end_line()
        for model in found:
            print(f"{model.id} is in the library, every byte verified: {model.path}")

    def failed(self, problem: Problem) -> None:
        """Why not, and what to do next."""
        if self._as_json:
            print_event("failed", problem_form(problem))
            return
        self._end_line()
        _say(problem.headline)
        _say(problem.advice)
        if Remedy.ENTER_TOKEN in problem.remedies:
            _say("To give a token: the same command with --login or --token-from-stdin.")

    def _json_progress(self, transfer: Transfer) -> None:
        state = (transfer.state, transfer.attempt)
        now = time.monotonic()
        if state == self._told_state and now - self._told_at < _JSON_SECONDS:
            return
        self._told_state, self._told_at = state, now
        print_event(
            "progress",
            {
                "id": transfer.id,
                "state": transfer.state.value,
                "done_bytes": transfer.done_bytes,
                "total_bytes": transfer.total_bytes,
                "bytes_per_second": transfer.bytes_per_second,
                "seconds_left": transfer.seconds_left,
                "attempt": transfer.attempt,
                "notice": transfer.notice,
            },
        )

    def _plain_progress(self, transfer: Transfer) -> None:
        """A line for every tenth, and for what is new."""
        notice = transfer.notice.partition(" Next attempt")[0]
        if notice != self._notice and not notice.startswith("Nothing has arrived for"):
            self._notice = notice
            if notice:
                _say(notice)
        percent = 100 * transfer.done_bytes // transfer.total_bytes if transfer.total_bytes else 0
        if self._tenths.is_new(percent):
            _say(f"  {progress_line(transfer)}")

    def _end_line(self) -> None:
        if self._is_terminal:
            print(file=sys.stderr)


def progress_line(transfer: Transfer) -> str:
    """One line: "45 %  1.20 of 2.60 GB  12.0 MB/s  2 min left", with a bar before it."""
    total = transfer.total_bytes
    if not total:
        return f"{_STATE_WORDS.get(transfer.state, 'Starting')} … {transfer.notice}".rstrip()
    share = transfer.done_bytes / total
    cells = int(share * _BAR_CELLS)
    parts = [
        f"[{'#' * cells}{'.' * (_BAR_CELLS - cells)}] {100 * share:3.0f} %",
        f"{format_bytes(transfer.done_bytes)} of {format_bytes(total)}",
    ]
    if transfer.state is not TransferState.RUNNING:
        parts.append(transfer.notice or _STATE_WORDS.get(transfer.state, transfer.state.value))
    elif transfer.bytes_per_second:
        parts.append(format_byte_rate(transfer.bytes_per_second))
        if transfer.seconds_left is not None:
            parts.append(f"{format_seconds(transfer.seconds_left)} left")
    return "  ".join(parts)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
