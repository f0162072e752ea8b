"""The lower blocks of the panel beside the chat: how full the context and the memory are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.domain.memory_parts import PartKind, parts_of_use
from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.chat.answer_words import UNKNOWN
from dflash_desktop.ui.chat.speed_widgets import NEARLY_FULL_SHARE, ShareBar
from dflash_desktop.ui.engine_words import short_device_name
from dflash_desktop.ui.theme import GAP, GAP_TINY, SIZE_INTERFACE, TextRole, interface_font
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.memory_bar import LabelledMemoryBar
from dflash_desktop.ui.widgets.surfaces import Line

if TYPE_CHECKING:
    from dflash_desktop.domain.memory_use import MemoryUse
    from dflash_desktop.ui.theme import Theme

_CONTEXT_HELP: Final = "How much of the model's memory of this chat is used, in tokens."
_MEMORY_HELP: Final = (
    "What the loaded models take of the device's memory, beside everything else in it."
)
_NEARLY_FULL_BYTES: Final = 500_000_000
_POOL_WORDS: Final = {
    PoolKind.SHARED: "shared with the system",
    PoolKind.CARD: "of the card's own",
    PoolKind.SYSTEM: "of the system",
}


class ContextBlock(QWidget):
    """How full the model's view of this chat is."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._words = value_label()
        self._bar = ShareBar("Context", theme=theme)
        self._notice = Label(role=TextRole.WARN, wraps=True)
        rows = block("CONTEXT", tip=_CONTEXT_HELP)
        rows.addWidget(self._bar)
        rows.addWidget(self._words)
        rows.addWidget(self._notice)
        rows.setContentsMargins(0, 0, 0, 0)
        self.setLayout(rows)
        self.show_context(None, None)

    def show_context(self, used_tokens: int | None, context_tokens: int | None) -> None:
        """How full the context is; None while it is not known."""
        if used_tokens is None or not context_tokens:
            self._words.show_text(UNKNOWN)
            self._bar.show_share(0, "not known yet")
            self._notice.hide()
            return
        share = used_tokens / context_tokens
        words = f"{used_tokens:,} of {context_tokens:,} tokens"
        self._words.show_text(words)
        self._bar.show_share(share, words)
        self._notice.setVisible(share >= NEARLY_FULL_SHARE)
        self._notice.show_text(
            f"{min(share, 1):.0%} full. Soon the oldest messages will not fit any more."
        )


class MemoryBlock(QWidget):
    """What the loaded pair takes of the memory; not there until something is known."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._words = value_label()
        self._words.setWordWrap(True)
        self._bar = LabelledMemoryBar("Memory", theme=theme)
        self._notice = Label(role=TextRole.WARN, wraps=True)
        rows = block("MEMORY", tip=_MEMORY_HELP)
        rows.addWidget(self._words)
        rows.addWidget(self._bar)
        rows.addWidget(self._notice)
        rows.setContentsMargins(0, 0, 0, 0)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(GAP)
        whole.addWidget(Line(Qt.Orientation.Horizontal))
        whole.addLayout(rows)
        self.show_use(None)

    def show_use(self, use: MemoryUse | None) -> None:
        """What is taken now; None takes the block away."""
        self.setVisible(use is not None)
        if use is None:
            return
        parts = parts_of_use(use)
        self._bar.show_parts(parts)
        taken = use.pool_bytes - use.free_bytes - use.reserve_bytes
        about = "about " if use.is_estimated else ""
        device = f" · {short_device_name(use.device_name)}" if use.device_name else ""
        self._words.show_text(
            f"{about}{format_bytes(max(0, taken))} of {format_bytes(use.pool_bytes)} "
            f"{_POOL_WORDS[use.pool]}{device}"
        )
        free = next((p.size_bytes for p in parts if p.kind is PartKind.FREE), 0)
        self._notice.setVisible(free < _NEARLY_FULL_BYTES)
        self._notice.show_text(
            "Hardly anything is free. Close programs, or answers may become slow."
        )


def block(title: str, *, tip: str = "") -> QVBoxLayout:
    """Rows under a small heading."""
    rows = QVBoxLayout()
    rows.setSpacing(GAP_TINY)
    heading = Label(title, role=TextRole.OVERLINE)
    heading.setToolTip(tip)
    rows.addWidget(heading)
    rows.addSpacing(GAP_TINY)
    return rows


def value_label() -> Label:
    """A value whose digits do not jump when it changes."""
    label = Label(UNKNOWN)
    label.setFont(interface_font(SIZE_INTERFACE, tabular=True))
    return label
