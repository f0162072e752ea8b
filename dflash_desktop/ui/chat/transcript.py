"""The messages of a conversation, one under the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from dflash_desktop.domain.generation import Role
from dflash_desktop.ui.chat.drawing import Drawing
from dflash_desktop.ui.chat.message_view import AnswerView, QuestionView
from dflash_desktop.ui.chat.text_view import BLEED_PX, KEYBOARD_REASONS
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import (
    GAP,
    GAP_LARGE,
    READING_COLUMNS,
    SIZE_READING,
    interface_font,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent, QWheelEvent

    from dflash_desktop.domain.conversation import Message
    from dflash_desktop.ui.pictures.shown_picture import PictureFiles
    from dflash_desktop.ui.theme import Theme

SHOWN_MESSAGES: Final = 20
"""Of an earlier conversation the last ones are drawn; the others when asked for."""

_NEAR_END_PX: Final = 24
_RING_PX: Final = 2
_SCROLL_STEP_PX: Final = 24


def reading_width_px() -> int:
    """The width of `READING_COLUMNS` average letters."""
    metrics = QFontMetricsF(interface_font(SIZE_READING))
    return round(READING_COLUMNS * metrics.averageCharWidth()) + 2 * BLEED_PX


class Transcript(QScrollArea):
    """Stays at the end while text arrives if the person was there, else where the person is.

    Signals: `link_clicked(str)`, `retry_requested`.
    """

    link_clicked = Signal(str)
    retry_requested = Signal()

    def __init__(
        self, *, theme: Theme, picture_files: PictureFiles, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.drawing = Drawing(theme, self)
        self._picture_files = picture_files
        self._follows = True
        self._kept_distance: int | None = None
        self._marks_draft = False
        self._hidden: tuple[Message, ...] = ()
        self._answer: AnswerView | None = None
        self._column = QWidget()
        self._column.setMaximumWidth(reading_width_px())
        self._rows = QVBoxLayout(self._column)
        self._rows.setContentsMargins(0, GAP_LARGE, 0, GAP_LARGE)
        self._rows.setSpacing(GAP_LARGE)
        self._earlier = Button("", theme=theme, kind=ButtonKind.QUIET, icon=IconName.HISTORY)
        self._earlier.clicked.connect(self._on_earlier)
        self._earlier.hide()
        self._rows.addWidget(self._earlier, alignment=Qt.AlignmentFlag.AlignHCenter)
        self._rows.addStretch()
        inside = QWidget()
        inside.setProperty("surface", "none")
        self._centred = QHBoxLayout(inside)
        self._centred.addStretch(1)
        self._centred.addWidget(self._column, 1000)
        self._centred.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("kind", "transcript")
        self.setAccessibleName("Conversation")
        self._latest = Button("Jump to latest", theme=theme, icon=IconName.ARROW_DOWN, parent=self)
        self._latest.clicked.connect(self.follow)
        self._latest.hide()
        bar = self.verticalScrollBar()
        bar.setSingleStep(_SCROLL_STEP_PX)
        bar.rangeChanged.connect(self._on_range_changed)
        bar.valueChanged.connect(self._on_value_changed)
        self._centre()

    @property
    def follows_end(self) -> bool:
        """Whether new text keeps scrolling into view."""
        return self._follows

    @property
    def answer(self) -> AnswerView | None:
        """The last answer, growing or complete."""
        return self._answer

    @property
    def is_empty(self) -> bool:
        """Whether there is no message."""
        return not self._messages()

    def show_messages(self, messages: tuple[Message, ...]) -> None:
        """Show another conversation, from its end."""
        for view in self._messages():
            self._remove(view)
        self._answer = None
        self._hidden = messages[:-SHOWN_MESSAGES]
        for message in messages[-SHOWN_MESSAGES:]:
            self._insert(self._end_index(), self._view_of(message))
        self._offer_earlier()
        self._offer_retry()
        self.follow()

    def add_question(self, question: Message) -> None:
        """The person said something."""
        self._offer_retry(to_nobody=True)
        self._insert(self._end_index(), self._new_question(question))
        self.follow()

    def begin_answer(self, author: str) -> AnswerView:
        """An answer is on its way; it grows by its own methods."""
        self._offer_retry(to_nobody=True)
        self._answer = self._new_answer(author)
        self._insert(self._end_index(), self._answer)
        return self._answer

    def end_answer(self) -> None:
        """The last answer is complete and may be asked for again."""
        self._offer_retry()

    def remove_last_turn(self) -> None:
        """Take away the last question and what followed it: it is asked again, or was refused."""
        for view in reversed(self._messages()):
            self._remove(view)
            if isinstance(view, QuestionView):
                break
        self._find_answer()

    def remove_answer(self) -> None:
        """Take away an answer that never got a word."""
        if self._answer is not None:
            self._remove(self._answer)
            self._find_answer()

    def _remove(self, view: QWidget) -> None:
        self._rows.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _find_answer(self) -> None:
        answers = [view for view in self._messages() if isinstance(view, AnswerView)]
        self._answer = answers[-1] if answers else None
        self._offer_retry()

    def mark_draft(self, is_marked: bool) -> None:
        """Tint the draft's words in all answers."""
        self._marks_draft = is_marked
        for view in self._messages():
            if isinstance(view, AnswerView):
                view.mark_draft(is_marked)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._follows = True
        self._kept_distance = None
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._latest.hide()

    def _messages(self) -> list[QWidget]:
        items = (self._rows.itemAt(index) for index in range(1, self._rows.count() - 1))
        return [view for item in items if item is not None and (view := item.widget())]

    def _end_index(self) -> int:
        return self._rows.count() - 1

    def _insert(self, index: int, view: QWidget) -> None:
        self._rows.insertWidget(index, view)

    def _view_of(self, message: Message) -> QWidget:
        if message.role is Role.USER:
            return self._new_question(message)
        view = self._new_answer(message.model_title)
        view.show_stored(message)
        self._answer = view
        return view

    def _new_question(self, message: Message) -> QuestionView:
        return QuestionView(message, drawing=self.drawing, picture_files=self._picture_files)

    def _new_answer(self, author: str) -> AnswerView:
        view = AnswerView(author, drawing=self.drawing, marks_draft=self._marks_draft)
        view.link_clicked.connect(self.link_clicked)
        view.retry_requested.connect(self.retry_requested)
        return view

    def _offer_retry(self, *, to_nobody: bool = False) -> None:
        views = self._messages()
        for view in views:
            if isinstance(view, AnswerView):
                view.show_can_retry(view is views[-1] and not to_nobody)

    def _offer_earlier(self) -> None:
        count = min(len(self._hidden), SHOWN_MESSAGES)
        self._earlier.setVisible(count > 0)
        self._earlier.setText(f"Show {count} earlier messages")

    def _on_earlier(self) -> None:
        bar = self.verticalScrollBar()
        self._follows = False
        self._kept_distance = bar.maximum() - bar.value()
        last_answer = self._answer
        for message in reversed(self._hidden[-SHOWN_MESSAGES:]):
            self._insert(1, self._view_of(message))
        self._answer = last_answer
        self._hidden = self._hidden[:-SHOWN_MESSAGES]
        self._offer_earlier()
        self._offer_retry()

    def _centre(self) -> None:
        """Leave room for the scroll bar even without it, so that nothing moves when it comes."""
        bar = self.verticalScrollBar()
        room = 0 if bar.maximum() > 0 else bar.sizeHint().width()
        self._centred.setContentsMargins(GAP, 0, GAP + room, 0)

    def side_margins(self) -> tuple[int, int]:
        """What to leave free on the left and right of something that lines up with the text."""
        bar = self.verticalScrollBar().sizeHint().width()
        return _RING_PX + GAP + BLEED_PX, _RING_PX + GAP + BLEED_PX + bar

    def _on_range_changed(self, _low: int, high: int) -> None:
        self._centre()
        if self._follows:
            self.verticalScrollBar().setValue(high)
        elif self._kept_distance is not None:
            self.verticalScrollBar().setValue(high - self._kept_distance)
        self._place_latest()

    def _on_value_changed(self, value: int) -> None:
        distance = self.verticalScrollBar().maximum() - value
        if self._kept_distance is None or distance != self._kept_distance:
            self._kept_distance = None
            self._follows = distance <= _NEAR_END_PX
        self._place_latest()

    def _place_latest(self) -> None:
        self._latest.setVisible(not self._follows and self.verticalScrollBar().maximum() > 0)
        self._latest.adjustSize()
        area = self.viewport().geometry()
        self._latest.move(
            area.center().x() - self._latest.width() // 2,
            area.bottom() - self._latest.height() - GAP,
        )
        self._latest.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button in its place."""
        super().resizeEvent(event)
        self._place_latest()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring when the keyboard brought the focus here."""
        self._show_ring(event.reason() in KEYBOARD_REASONS)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        self._show_ring(False)
        super().focusOutEvent(event)

    def _show_ring(self, is_shown: bool) -> None:
        if self.property("ring") != is_shown:
            self.setProperty("ring", is_shown)
            self.style().unpolish(self)
            self.style().polish(self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The person scrolls: nothing holds the position any more."""
        self._kept_distance = None
        super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Home and End as well as the keys that Qt knows."""
        match event.key():
            case Qt.Key.Key_Home:
                self.verticalScrollBar().setValue(0)
            case Qt.Key.Key_End:
                self.follow()
            case _:
                super().keyPressEvent(event)
