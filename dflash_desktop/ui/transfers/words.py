"""How a transfer is told: one word for its state, one line of numbers, a name for the bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.domain.units import format_byte_rate, format_bytes, format_seconds_left
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import TextRole

if TYPE_CHECKING:
    from dflash_desktop.domain.transfer import FileProgress, Transfer

STATE_LOOKS: Final = {
    TransferState.WAITING: ("waiting", TextRole.MUTED, None),
    TransferState.PLANNING: ("asking the server", TextRole.MUTED, None),
    TransferState.RUNNING: ("downloading", TextRole.MUTED, IconName.DOWNLOAD),
    TransferState.STALLED: ("stalled", TextRole.WARN, IconName.TRIANGLE_ALERT),
    TransferState.CHECKING: ("checking", TextRole.MUTED, None),
    TransferState.PAUSED: ("paused", TextRole.MUTED, IconName.PAUSE),
    TransferState.FAILED: ("stopped", TextRole.BAD, IconName.CIRCLE_ALERT),
    TransferState.DONE: ("done", TextRole.GOOD, IconName.CIRCLE_CHECK),
}
"""The word beside the title, its role, and an icon where the word alone could be missed."""


def share_of(transfer: Transfer) -> float:
    """How much has arrived, 0 to 1; 0 while the size is not known."""
    if transfer.state is TransferState.DONE:
        return 1.0
    if not transfer.total_bytes:
        return 0.0
    return max(0.0, min(1.0, transfer.done_bytes / transfer.total_bytes))


def numbers_line(transfer: Transfer) -> str:
    """What is known: "4.10 GB of 6.60 GB · 62 % · 38.2 MB/s · 1 min 5 s left"."""
    if transfer.total_bytes is None:
        return format_bytes(transfer.done_bytes) if transfer.done_bytes else ""
    if transfer.state is TransferState.DONE:
        return format_bytes(transfer.total_bytes)
    parts = [
        f"{format_bytes(transfer.done_bytes)} of {format_bytes(transfer.total_bytes)}",
        # Rounded down: 100 % is what is complete.
        f"{int(share_of(transfer) * 100)} %",
    ]
    if transfer.state is TransferState.RUNNING:
        if transfer.bytes_per_second is not None:
            parts.append(format_byte_rate(transfer.bytes_per_second))
        if transfer.seconds_left is not None:
            parts.append(format_seconds_left(transfer.seconds_left))
    return " · ".join(parts)


def spoken(transfer: Transfer) -> str:
    """Everything in one sentence, for screen readers."""
    word, _, _ = STATE_LOOKS[transfer.state]
    return ", ".join(
        part for part in (transfer.request.title, word, numbers_line(transfer)) if part
    )


def file_words(file: FileProgress) -> str:
    """How far one file is."""
    if file.is_verified:
        return f"{format_bytes(file.total_bytes)}, checked"
    if not file.done_bytes:
        return format_bytes(file.total_bytes)
    return f"{format_bytes(file.done_bytes)} of {format_bytes(file.total_bytes)}"


def files_button_words(transfer: Transfer) -> str:
    """What unfolds the files: "12 of 40 files"."""
    count = len(transfer.files)
    if count == 1:
        return "1 file"
    done = sum(file.is_verified for file in transfer.files)
    return f"{count} files" if done in (0, count) else f"{done} of {count} files"


def summary_line(transfers: tuple[Transfer, ...]) -> str:
    """The whole list in one line: "2 open · 8.20 GB still to come"; empty if nothing is open."""
    still_open = [transfer for transfer in transfers if transfer.is_open]
    if not still_open:
        return ""
    left = sum(max(0, (t.total_bytes or 0) - t.done_bytes) for t in still_open)
    words = f"{len(still_open)} open"
    return f"{words} · {format_bytes(left)} still to come" if left else words
