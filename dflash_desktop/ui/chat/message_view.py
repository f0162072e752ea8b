"""One message of the transcript: a question in a card, or an answer with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from dflash_desktop.domain.generation import FinishReason
from dflash_desktop.ui.chat.answer_words import cut_words, speed_explanation, speed_line
from dflash_desktop.ui.chat.markdown_stream import MarkdownView
from dflash_desktop.ui.chat.plain_view import PlainView
from dflash_desktop.ui.chat.text_view import BLEED_PX
from dflash_desktop.ui.chat.thinking_view import ThinkingView
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pictures.picture_row import PictureRow
from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.domain.conversation import Message
    from dflash_desktop.domain.generation import GenerationStats, TextRun
    from dflash_desktop.ui.chat.drawing import Drawing
    from dflash_desktop.ui.pictures.shown_picture import PictureFiles

SHOWN_QUESTION_CHARACTERS: Final = 4000
MORE_QUESTION_CHARACTERS: Final = 20_000
_COPIED_MS: Final = 2000


class QuestionView(QWidget):
    """What the person said, as it is; of a very long text only the beginning until asked.

    Its pictures stand above the text.
    """

    def __init__(self, message: Message, *, drawing: Drawing, picture_files: PictureFiles) -> None:
        super().__init__()
        self.text = message.text
        self._shown = 0
        self._view = PlainView(drawing=drawing)
        self._view.setAccessibleName("Your message")
        self._more = Button("", theme=drawing.theme, kind=ButtonKind.QUIET)
        self._more.clicked.connect(self._on_more)
        self._copy = CopyButton("Copy message", drawing=drawing)
        self._copy.copy_requested.connect(self._on_copy)
        card = SurfaceFrame(Surface.CARD)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(GAP_SMALL, GAP_SMALL, GAP_SMALL, GAP_TINY)
        is_blank = bool(message.pictures) and not message.text.strip()
        if message.pictures:
            row = PictureRow(message.pictures, files=picture_files, theme=drawing.theme)
            inside.addWidget(row)
            inside.addSpacing(GAP_TINY if is_blank else 0)
        inside.addWidget(self._view)
        inside.addWidget(self._more)
        self._view.setHidden(is_blank)
        keeps_its_place = self._copy.sizePolicy()
        keeps_its_place.setRetainSizeWhenHidden(True)
        self._copy.setSizePolicy(keeps_its_place)
        if is_blank:  # to show it before it has a parent would open a window
            self._copy.hide()
        head = QHBoxLayout()
        head.setContentsMargins(BLEED_PX, 0, BLEED_PX, 0)
        head.addWidget(Label("You", role=TextRole.STRONG), 1)
        head.addWidget(self._copy)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(GAP_TINY)
        rows.addLayout(head)
        body = QHBoxLayout()
        body.setContentsMargins(BLEED_PX, 0, BLEED_PX, 0)
        body.addWidget(card)
        rows.addLayout(body)
        self._show_up_to(SHOWN_QUESTION_CHARACTERS)

    def _show_up_to(self, end: int) -> None:
        self._view.append(self.text[self._shown : end])
        self._shown = min(end, len(self.text))
        left = len(self.text) - self._shown
        self._more.setVisible(left > 0)
        more = min(left, MORE_QUESTION_CHARACTERS)
        self._more.setText(f"Show {more:,} of {left:,} more characters")

    def _on_more(self) -> None:
        self._show_up_to(self._shown + MORE_QUESTION_CHARACTERS)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)


class AnswerView(QWidget):
    """An answer, growing or kept.

    Signals: `link_clicked(str)`, `retry_requested`.
    """

    link_clicked = Signal(str)
    retry_requested = Signal()

    def __init__(self, author: str, *, drawing: Drawing, marks_draft: bool) -> None:
        super().__init__()
        self._drawing = drawing
        self._runs: list[TextRun] = []
        self._has_text = False
        self._author = Label(author or "Model", role=TextRole.STRONG)
        self._thinking = ThinkingView(drawing=drawing)
        self._waiting = Label(role=TextRole.MUTED)
        self._waiting.hide()
        self._markdown = MarkdownView(drawing=drawing)
        self._markdown.link_clicked.connect(self.link_clicked)
        self._marked: PlainView | None = None
        self._notice = Label(role=TextRole.CAPTION, wraps=True)
        self._notice.hide()
        self._cut = Label(role=TextRole.WARN, wraps=True)
        self._cut.hide()
        self._speed = ElidedLabel(role=TextRole.CAPTION, has_own_tip=True)
        # As wide as its words where there is room, so that the buttons stand right behind them.
        self._speed.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._copy = CopyButton("Copy answer", drawing=drawing)
        self._copy.copy_requested.connect(self._on_copy)
        self._retry = IconButton(IconName.RETRY, "Try again", theme=drawing.theme)
        self._retry.clicked.connect(self.retry_requested)
        self._retry.hide()
        self._copy.hide()
        self._lay_out()
        if marks_draft:
            self.mark_draft(marks_draft)

    def _lay_out(self) -> None:
        self._body = QVBoxLayout()
        self._body.setSpacing(0)
        self._body.addWidget(self._markdown)
        inset = QVBoxLayout()
        inset.setContentsMargins(BLEED_PX, 0, BLEED_PX, 0)
        inset.setSpacing(GAP_SMALL)
        inset.addWidget(self._waiting)
        inset.addWidget(self._cut)
        inset.addWidget(self._notice)
        foot = QHBoxLayout()
        foot.setSpacing(GAP_TINY)
        foot.addWidget(self._speed)
        foot.addSpacing(GAP_SMALL)
        foot.addWidget(self._copy)
        foot.addWidget(self._retry)
        foot.addStretch()
        inset.addLayout(foot)
        head = QHBoxLayout()
        head.setContentsMargins(BLEED_PX, 0, BLEED_PX, 0)
        head.addWidget(self._author)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addLayout(head)
        rows.addSpacing(GAP_SMALL)
        rows.addWidget(self._thinking)
        rows.addLayout(self._body)
        rows.addLayout(inset)

    @property
    def text(self) -> str:
        """The answer as the model wrote it."""
        return self._markdown.source

    def show_waiting(self, words: str) -> None:
        """What happens before the first word; "" when it is here."""
        self._waiting.show_text(words)
        self._waiting.setVisible(bool(words))

    def append(self, runs: tuple[TextRun, ...], thinking: str) -> None:
        """More of the answer."""
        self._thinking.append(thinking)
        if thinking or runs:
            self.show_waiting("")
        if not runs:
            return
        if not self._has_text and any(run.text.strip() for run in runs):
            self._has_text = True
            self._thinking.finish()
        self._runs += runs
        self._markdown.append("".join(run.text for run in runs))
        if self._marked is not None:
            self._marked.append_runs(runs)

    def show_speed(self, stats: GenerationStats, speedup: float | None) -> None:
        """The numbers under the answer."""
        self._speed.show_text(speed_line(stats, speedup))
        self._speed.setToolTip(speed_explanation(stats))

    def show_notice(self, notice: str) -> None:
        """Something the person should know about this answer."""
        self._notice.show_text(notice)
        self._notice.setVisible(bool(notice))

    def finish(self, message: Message, speedup: float | None) -> None:
        """The answer is complete, or was cut."""
        self._thinking.finish()
        self._markdown.finish()
        self.show_waiting("")
        words = cut_words(message)
        is_wish = message.finish is FinishReason.CANCELLED
        self._cut.show_text(words, role=TextRole.MUTED if is_wish else TextRole.WARN)
        self._cut.setVisible(bool(words))
        self.show_notice(message.notice)
        if message.stats is not None:
            self.show_speed(message.stats, speedup)
            self._speed.setToolTip(speed_explanation(message.stats, message))
        self._copy.setVisible(bool(message.text))

    def show_stored(self, message: Message) -> None:
        """An answer of an earlier session."""
        self._runs = list(message.runs)
        self._has_text = True
        self._thinking.show_stored(message.thinking)
        self._markdown.append(message.text)
        if self._marked is not None:
            self._marked.append_runs(message.runs)
        self.finish(message, None)

    def show_can_retry(self, can_retry: bool) -> None:
        """Only the last answer offers it."""
        self._retry.setVisible(can_retry)

    def mark_draft(self, is_marked: bool) -> None:
        """Show plain text with the draft's words tinted, or Markdown again.

        An answer without kept runs has nothing to mark and stays as it is.
        """
        if is_marked and self._marked is None:
            self._marked = PlainView(drawing=self._drawing)
            self._marked.setAccessibleName("Answer with the draft's words marked")
            self._body.addWidget(self._marked)
            self._marked.append_runs(self._runs)
        if self._marked is not None:
            shows_marks = is_marked and (bool(self._runs) or not self.text)
            self._marked.setVisible(shows_marks)
            self._markdown.setVisible(not shows_marks)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)


class CopyButton(IconButton):
    """A copy button that shows for a moment that it has copied. Signals: `copy_requested`."""

    copy_requested = Signal()

    def __init__(self, label: str, *, drawing: Drawing) -> None:
        super().__init__(IconName.COPY, label, theme=drawing.theme)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        self.copy_requested.emit()
        self.show_icon(IconName.CHECK)
        QTimer.singleShot(_COPIED_MS, self, lambda: self.show_icon(IconName.COPY))
