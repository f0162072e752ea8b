"""Text without Markdown: questions, thinking, and answers with the draft's words marked."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QTextCharFormat, QTextCursor

from dflash_desktop.domain.generation import TextOrigin
from dflash_desktop.ui.chat.text_view import TextView
from dflash_desktop.ui.colours import ColourRole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.generation import TextRun
    from dflash_desktop.ui.chat.drawing import Drawing

_STEP_CHARACTERS: Final = 600
_STEP_RUNS: Final = 60
_MAX_BLOCK_CHARACTERS: Final = 2000
"""A longer line is broken on the screen: the layout of one block takes time with its length."""


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    is_marked: bool
    tip: str


class PlainView(TextView):
    """Grows by `append`, or by `append_runs` with the draft's words marked."""

    def __init__(
        self,
        *,
        drawing: Drawing,
        role: ColourRole = ColourRole.TEXT,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme=drawing.theme, parent=parent)
        self._drawing = drawing
        self._role = role
        self._parts: list[_Part] = []
        self._waiting: deque[_Part] = deque()
        self._block_length = 0
        drawing.theme.changed.connect(self._on_theme_changed)

    @property
    def widget(self) -> QWidget:
        """For the render clock."""
        return self

    def append(self, text: str) -> None:
        """Add text in the view's own colour."""
        self._add(_Part(text, is_marked=False, tip=""))

    def append_runs(self, runs: Iterable[TextRun]) -> None:
        """Add text of an answer; words from the draft are tinted, tooltips tell the step."""
        for run in runs:
            is_draft = run.origin is TextOrigin.DRAFT
            who = "proposed by the draft, accepted" if is_draft else "from the target itself"
            self._add(_Part(run.text, is_marked=is_draft, tip=f"Step {run.step + 1}: {who}"))

    def _add(self, part: _Part) -> None:
        if part.text:
            self._parts.append(part)
            self._queue(part)
            self._drawing.clock.request(self)

    def _queue(self, part: _Part) -> None:
        text = part.text.replace("\r\n", "\n").replace("\r", "\n")
        for start in range(0, len(text), _STEP_CHARACTERS):
            self._waiting.append(
                _Part(text[start : start + _STEP_CHARACTERS], part.is_marked, part.tip)
            )

    def draw_some(self) -> bool:
        """Take in one bounded piece of what waits."""
        cursor = self.end_cursor()
        cursor.beginEditBlock()
        taken = 0
        for _ in range(_STEP_RUNS):
            if not self._waiting or taken >= _STEP_CHARACTERS:
                break
            part = self._waiting.popleft()
            taken += len(part.text)
            self._insert(cursor, part)
        cursor.endEditBlock()
        return bool(self._waiting)

    def _insert(self, cursor: QTextCursor, part: _Part) -> None:
        made = self._format_of(part)
        block = self._drawing.writer.formats.block(below=0)
        if cursor.atStart():
            cursor.setBlockFormat(block)
        for index, line in enumerate(part.text.split("\n")):
            if index:
                cursor.insertBlock(block, self._format_of(_Part("", False, "")))
                self._block_length = 0
            rest = line
            while rest:
                room = _MAX_BLOCK_CHARACTERS - self._block_length
                if room <= 0:
                    cursor.insertBlock(block)
                    self._block_length, room = 0, _MAX_BLOCK_CHARACTERS
                cursor.insertText(rest[:room], made)
                self._block_length += len(rest[:room])
                rest = rest[room:]

    def _format_of(self, part: _Part) -> QTextCharFormat:
        made = QTextCharFormat(self._drawing.writer.formats.text)
        if self._role is not ColourRole.TEXT:
            made.setForeground(self.theme.colour(self._role))
        if part.is_marked:
            made.setBackground(self.theme.colour(ColourRole.DRAFT_TINT))
        if part.tip:
            made.setToolTip(part.tip)
        return made

    def _on_theme_changed(self) -> None:
        self.clear()
        self._waiting.clear()
        self._block_length = 0
        for part in self._parts:
            self._queue(part)
        self._drawing.clock.request(self)
