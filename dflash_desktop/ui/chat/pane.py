"""The chat page: transcript, composer, and the speed panel beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from dflash_desktop.ui.chat.composer import Composer
from dflash_desktop.ui.chat.empty_view import EmptyView
from dflash_desktop.ui.chat.speed_line import SpeedLine
from dflash_desktop.ui.chat.speed_meter import SpeedMeter
from dflash_desktop.ui.chat.speed_widgets import NEARLY_FULL_SHARE
from dflash_desktop.ui.chat.text_view import BLEED_PX
from dflash_desktop.ui.chat.transcript import Transcript, reading_width_px
from dflash_desktop.ui.pictures.attachment_bar import MAX_LINES
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, GAP_TINY
from dflash_desktop.ui.widgets.drop_sheet import DropSheet
from dflash_desktop.ui.widgets.surfaces import Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QResizeEvent

    from dflash_desktop.domain.conversation import Message
    from dflash_desktop.domain.draft_policy import SpeedVerdict
    from dflash_desktop.domain.generation import (
        DraftUse,
        GenerationStats,
        SamplingParams,
        TextRun,
    )
    from dflash_desktop.domain.memory_use import MemoryUse
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.pictures.shown_picture import PictureFiles
    from dflash_desktop.ui.theme import Theme

PANEL_FROM_WINDOW_WIDTH: Final = 1100
LOW_PANE_HEIGHT: Final = 480
_DROP_WORDS: Final = "Pictures go with your next message. The files stay where they are."


class ChatPane(QWidget):
    """Widgets only; a presenter gives them values and answers their signals.

    Signals: `send_requested(str)`, `stop_requested`, `retry_requested`, `measure_requested`,
    `draft_toggled(bool)`, `show_draft_tokens_toggled(bool)`, `system_prompt_changed(str)`,
    `sampling_changed(SamplingParams)`, `remedy_chosen(Remedy)`, `setup_requested`,
    `models_requested`, `files_given(paths)` as strings, dropped, pasted or chosen.
    """

    send_requested = Signal(str)
    stop_requested = Signal()
    retry_requested = Signal()
    measure_requested = Signal()
    draft_toggled = Signal(bool)
    show_draft_tokens_toggled = Signal(bool)
    system_prompt_changed = Signal(str)
    sampling_changed = Signal(object)
    remedy_chosen = Signal(object)
    setup_requested = Signal()
    models_requested = Signal()
    files_given = Signal(tuple)

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        picture_files: PictureFiles,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.transcript = Transcript(theme=theme, picture_files=picture_files)
        self.composer = Composer(theme=theme)
        self.meter = SpeedMeter(theme=theme)
        self._line = SpeedLine(theme=theme)
        self._empty = EmptyView(theme=theme)
        self._problem = ProblemView(theme=theme, report=report)
        self._separator = Line(Qt.Orientation.Vertical)
        self._middle = QStackedWidget()
        self._middle.addWidget(self._empty)
        self._middle.addWidget(self.transcript)
        self._middle.setMinimumHeight(1)  # a problem and pictures need the room in a small window
        self._connect()
        self._lay_out()
        self._drop_sheet = DropSheet(self, explanation=_DROP_WORDS, theme=theme)
        self._drop_sheet.dropped.connect(self.files_given)
        self.files_given.connect(self.focus_composer)

    def _connect(self) -> None:
        self.composer.send_requested.connect(self.send_requested)
        self.composer.stop_requested.connect(self.stop_requested)
        self.composer.system_prompt_changed.connect(self.system_prompt_changed)
        self.composer.sampling_changed.connect(self.sampling_changed)
        self.composer.files_given.connect(self.files_given)
        self.composer.models_requested.connect(self.models_requested)
        self._empty.question_chosen.connect(self.send_requested)
        self._empty.setup_requested.connect(self.setup_requested)
        self.transcript.retry_requested.connect(self.retry_requested)
        self.transcript.link_clicked.connect(_open_in_browser)
        self._problem.remedy_chosen.connect(self.remedy_chosen)
        for source in (self.meter, self._line):
            source.draft_toggled.connect(self.draft_toggled)
            source.measure_requested.connect(self.measure_requested)
            source.show_draft_tokens_toggled.connect(self.show_draft_tokens_toggled)
        self.meter.reading_changed.connect(self._line.show_reading)

    def _lay_out(self) -> None:
        below = QWidget()
        below.setMaximumWidth(reading_width_px() - 2 * BLEED_PX)
        column = QVBoxLayout(below)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._problem)
        column.addWidget(self._line)
        column.addWidget(self.composer)
        centred = QHBoxLayout()
        left_margin, right_margin = self.transcript.side_margins()
        centred.setContentsMargins(left_margin, GAP_TINY, right_margin, GAP_MEDIUM)
        centred.addStretch(1)
        centred.addWidget(below, 1000)
        centred.addStretch(1)
        left = QVBoxLayout()
        left.setSpacing(0)
        left.addWidget(self._middle, 1)
        left.addLayout(centred)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(left, 1)
        whole.addWidget(self._separator)
        whole.addWidget(self.meter)
        self._middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_messages(self, messages: tuple[Message, ...]) -> None:
        """Another conversation."""
        self.transcript.show_messages(messages)
        self._show_middle()
        self.clear_problem()

    def show_model(self, title: str, note: str, *, sees_pictures: bool = False) -> None:
        """Which model answers; without a title nothing can be sent, and `note` says why."""
        self._empty.show_model(title, note)
        self.composer.show_blocked("" if title else note)
        self.composer.show_sight(title, sees_pictures=sees_pictures)

    def show_pictures(self, count: int, is_preparing: bool) -> None:
        """How many pictures go with the next message."""
        self.composer.show_pictures(count, is_preparing=is_preparing)
        self._empty.show_has_pictures(count > 0)

    def show_question(self, question: Message) -> None:
        """The person's message was taken."""
        self.transcript.add_question(question)
        self.composer.clear()
        self._show_middle()

    def restore_question(self, question: Message) -> None:
        """The message was refused: it goes back to where it was written."""
        self.composer.restore(question.text)

    def remove_last_turn(self) -> None:
        """The last question is asked again."""
        self.transcript.remove_last_turn()

    def begin_answer(self, author: str) -> None:
        """An answer is on its way."""
        self.clear_problem()
        self.transcript.begin_answer(author).show_waiting("Reading your message…")
        self.composer.show_answering(True)
        self.meter.begin_answer()

    def show_prompt_read(self, done_tokens: int, total_tokens: int) -> None:
        """How far the model has read."""
        if (answer := self.transcript.answer) is not None:
            answer.show_waiting(f"Reading {done_tokens:,} of {total_tokens:,} tokens…")

    def show_notice(self, notice: str) -> None:
        """What had to be changed or left out for this answer."""
        if (answer := self.transcript.answer) is not None:
            answer.show_notice(notice)

    def append(self, runs: tuple[TextRun, ...], thinking: str, stats: GenerationStats) -> None:
        """More of the answer, and the counts so far."""
        if (answer := self.transcript.answer) is not None:
            answer.append(runs, thinking)
        self.meter.take(stats)

    def show_waiting(self, words: str) -> None:
        """What the answer waits for."""
        if (answer := self.transcript.answer) is not None:
            answer.show_waiting(words)

    def finish_answer(self, message: Message, verdict: SpeedVerdict | None) -> None:
        """The answer is complete, or was cut."""
        if (answer := self.transcript.answer) is not None:
            answer.finish(message, verdict.speedup if verdict else None)
        if message.stats is not None:
            self.meter.take(message.stats)
        if verdict is not None:
            self.show_verdict(verdict)
        self.end_answer()

    def drop_answer(self) -> None:
        """The answer failed before its first word; the question stays."""
        self.transcript.remove_answer()
        self.end_answer()

    def end_answer(self) -> None:
        """Nothing is on its way any more."""
        self.transcript.end_answer()
        self.composer.show_answering(False)
        self.meter.end_answer()

    def show_verdict(self, verdict: SpeedVerdict) -> None:
        """What the speed compares with."""
        self.meter.show_verdict(verdict)
        self._line.show_is_measured(verdict.baseline_tokens_per_second is not None)

    def show_draft(self, draft: DraftUse, *, is_attached: bool) -> None:
        """What the draft will do in the next answer, and why."""
        self.meter.show_draft(draft, is_attached=is_attached)
        self._line.show_draft(draft, is_attached=is_attached)

    def show_draft_tokens(self, is_shown: bool) -> None:
        """Whether the draft's words are tinted."""
        self.meter.show_draft_tokens(is_shown)
        self._line.show_draft_tokens(is_shown)
        self.transcript.mark_draft(is_shown)

    def show_context(self, used_tokens: int | None, context_tokens: int | None) -> None:
        """How full the context is; None while it is not known."""
        self.meter.show_context(used_tokens, context_tokens)
        share = used_tokens / context_tokens if used_tokens and context_tokens else 0.0
        is_nearly_full = share >= NEARLY_FULL_SHARE
        self._line.show_nearly_full(f"context {min(share, 1):.0%} full" if is_nearly_full else "")

    def show_memory(self, use: MemoryUse | None) -> None:
        """What is taken of the memory; None while that is not known."""
        self.meter.show_memory(use)

    def show_system_prompt(self, text: str) -> None:
        """The instructions of this chat."""
        self.composer.show_system_prompt(text)

    def show_sampling(self, params: SamplingParams, draft: DraftUse, *, can_think: bool) -> None:
        """How words are chosen."""
        self.composer.show_sampling(params, draft, can_think=can_think)

    def show_problem(self, problem: Problem) -> None:
        """What went wrong with the last message."""
        self._problem.show_problem(problem)

    def clear_problem(self) -> None:
        """It is over."""
        self._problem.clear()

    def focus_composer(self) -> None:
        """Ready to write."""
        self.composer.focus_field()

    def _show_middle(self) -> None:
        self._middle.setCurrentWidget(self._empty if self.transcript.is_empty else self.transcript)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The panel folds into one line where the window has no room for it."""
        super().resizeEvent(event)
        has_room = self.window().width() >= PANEL_FROM_WINDOW_WIDTH
        self.meter.setVisible(has_room)
        self._separator.setVisible(has_room)
        self._line.setVisible(not has_room)
        is_low = self.height() < LOW_PANE_HEIGHT
        self.composer.attachments.limit_lines(1 if is_low else MAX_LINES)


def _open_in_browser(target: str) -> None:
    QDesktopServices.openUrl(QUrl(target))
