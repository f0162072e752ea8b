"""Transfers in every state, for the tests and the pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.transfer import (
    FileProgress,
    RepoRequest,
    Transfer,
    TransferRequest,
    TransferState,
)

if TYPE_CHECKING:
    from collections.abc import Callable

REPO = "OpenVINO/Qwen3-8B-int4-ov"
DRAFT_REPO = "z-lab/Qwen3-8B-DFlash-b16"
DISK_FULL = Problem(
    "disk_full",
    "The download stopped at 62 %: the disk is full.",
    "Free 2.4 GB or choose another folder. Nothing is lost.",
    detail="OSError: [Errno 28] No space left on device",
    remedies=(Remedy.RETRY,),
)


def request(
    transfer_id: str = "one", title: str = "Qwen3 8B int4 with DFlash draft"
) -> TransferRequest:
    return TransferRequest(transfer_id, title, (RepoRequest(REPO), RepoRequest(DRAFT_REPO)))


def files(verified: int = 3) -> tuple[FileProgress, ...]:
    names = (
        ("config.json", 1_200),
        ("openvino_tokenizer.xml", 22_100),
        ("openvino_tokenizer.bin", 5_690_000),
        ("openvino_model.xml", 3_120_000),
        ("openvino_model.bin", 4_800_000_000),
    )
    whole = tuple(
        FileProgress(REPO, name, size if i < verified else size // 3, size, i < verified)
        for i, (name, size) in enumerate(names)
    )
    return (*whole, FileProgress(DRAFT_REPO, "model.safetensors", 0, 1_790_000_000))


def transfer(
    state: TransferState = TransferState.RUNNING,
    *,
    transfer_id: str = "one",
    title: str = "Qwen3 8B int4 with DFlash draft",
    done_bytes: int = 4_100_000_000,
    total_bytes: int | None = 6_600_000_000,
    notice: str = "",
    problem: Problem | None = None,
    bytes_per_second: float | None = 38_200_000.0,
    seconds_left: float | None = 65.4,
) -> Transfer:
    return Transfer(
        request(transfer_id, title),
        state,
        done_bytes,
        total_bytes,
        bytes_per_second,
        seconds_left,
        files() if total_bytes else (),
        notice=notice,
        problem=problem,
    )


EVERY_STATE = (
    transfer(),
    transfer(
        TransferState.STALLED,
        transfer_id="stalled",
        title="Gemma 4 12B int4",
        notice="Nothing arrived for 60 s. A new attempt begins in 8 s, the second one.",
    ),
    transfer(
        TransferState.FAILED,
        transfer_id="failed",
        title="Qwen3 14B int4 with a draft whose long name does not fit into one line of the page",
        problem=DISK_FULL,
    ),
    transfer(TransferState.PAUSED, transfer_id="paused", title="Qwen3 4B int4"),
    transfer(
        TransferState.WAITING,
        transfer_id="waiting",
        title="Llama 3.1 8B Instruct",
        done_bytes=0,
        notice="Waits for the one above.",
    ),
    transfer(TransferState.DONE, transfer_id="done", title="SmolLM2 135M"),
)


class FakeQueue:
    """Keeps the transfers that it was given and notes what was asked of it."""

    def __init__(self, *transfers: Transfer) -> None:
        self.shown = transfers
        self.asked: list[tuple[object, ...]] = []
        self._listeners: list[Callable[[], None]] = []

    def transfers(self) -> tuple[Transfer, ...]:
        return self.shown

    def change(self, *transfers: Transfer) -> None:
        self.shown = transfers
        for listener in tuple(self._listeners):
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def pause(self, transfer_id: str) -> None:
        self.asked.append(("pause", transfer_id))

    def resume(self, transfer_id: str) -> None:
        self.asked.append(("resume", transfer_id))

    def remove(self, transfer_id: str, *, keep_files: bool) -> None:
        self.asked.append(("remove", transfer_id, keep_files))

    def move(self, transfer_id: str, position: int) -> None:
        self.asked.append(("move", transfer_id, position))
