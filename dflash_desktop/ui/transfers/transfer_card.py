"""One transfer: what it brings, how far it is, and what can be done with it now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import (
    GAP,
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    SIZE_CAPTION,
    STATE_COLOURS,
    TextRole,
    interface_font,
)
from dflash_desktop.ui.transfers.file_list import FileList
from dflash_desktop.ui.transfers.words import (
    STATE_LOOKS,
    files_button_words,
    numbers_line,
    share_of,
    spoken,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.question import Answer, Question
from dflash_desktop.ui.widgets.state_icon import StateIcon
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.theme import Theme

_BAR_STEPS: Final = 1000
_CAN_PAUSE: Final = frozenset(
    {
        TransferState.WAITING,
        TransferState.PLANNING,
        TransferState.RUNNING,
        TransferState.STALLED,
        TransferState.CHECKING,
    }
)
_RESUME_WORDS: Final = {
    TransferState.PAUSED: "Resume",
    TransferState.FAILED: "Try again",
    TransferState.STALLED: "Try now",
}
_KEEP: Final = Answer(
    "keep", "Keep what arrived", "A later download of the same model goes on from here."
)
_DELETE: Final = Answer("delete", "Delete")


class TransferCard(SurfaceFrame):
    """Shows one transfer and is told of each change; it is never built anew.

    Signals, each with the transfer's id first: `pause_requested`, `resume_requested` (also tries
    a failed one again, or a stalled one at once), `removed(id, keep_files)`, `moved(id, steps)`
    with -1 for up, `remedy_chosen(id, Remedy)`, `library_requested`.
    """

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    removed = Signal(str, bool)
    moved = Signal(str, int)
    remedy_chosen = Signal(str, object)
    library_requested = Signal(str)

    def __init__(
        self,
        transfer: Transfer,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        has_order: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._has_order = has_order
        self._transfer = transfer
        self._title = ElidedLabel(role=TextRole.STRONG)
        self._icon = StateIcon(theme=theme)
        self._state = Label()
        self._bar = QProgressBar()
        self._bar.setRange(0, _BAR_STEPS)
        self._bar.setTextVisible(False)
        self._numbers = Label(role=TextRole.CAPTION, wraps=True)
        self._numbers.setFont(interface_font(SIZE_CAPTION, tabular=True))
        self._notice = Label(role=TextRole.MUTED, wraps=True)
        self._problem = ProblemView(theme=theme, report=report, can_dismiss=False)
        self._problem.remedy_chosen.connect(lambda r: self.remedy_chosen.emit(self.id, r))
        self._question = Question(_KEEP, _DELETE, no="Do not cancel", theme=theme)
        self._question.answered.connect(lambda key: self.removed.emit(self.id, key == _KEEP.key))
        self._question.closed.connect(self._on_question_closed)
        self._files: FileList | None = None
        self._buttons = self._built_buttons()
        self._lay_out()
        self._bind_keys()
        self.show_transfer(transfer)

    @property
    def id(self) -> str:
        """The transfer's."""
        return self._transfer.id

    def show_transfer(self, transfer: Transfer) -> None:
        """Show the transfer as it is now."""
        self._transfer = transfer
        word, role, icon = STATE_LOOKS[transfer.state]
        self._title.show_text(transfer.request.title)
        self._state.show_text(word, role=role)
        self._icon.setVisible(icon is not None)
        if icon is not None:
            self._icon.show_state(icon, STATE_COLOURS[role])
        self._bar.setValue(round(share_of(transfer) * _BAR_STEPS))
        self._bar.setAccessibleName(f"Progress of {transfer.request.title}")
        self._set_bar_tone(role)
        numbers = numbers_line(transfer)
        self._numbers.show_text(numbers)
        self._numbers.setVisible(bool(numbers))
        self._notice.show_text(transfer.notice)
        self._notice.setVisible(bool(transfer.notice))
        self.setAccessibleName(spoken(transfer))
        self._problem.follow(transfer.problem)
        self._show_buttons(transfer)
        if self._files is not None and not self._files.isHidden():
            self._files.show_files(transfer.files)

    def show_order(self, *, is_first: bool, is_last: bool) -> None:
        """Which way this transfer can still be moved."""
        self._up.setEnabled(not is_first)
        self._down.setEnabled(not is_last)
        is_movable = self._has_order and self._transfer.is_open and not (is_first and is_last)
        self._up.setVisible(is_movable)
        self._down.setVisible(is_movable)

    def _built_buttons(self) -> FlowRow:
        self._pause = Button("Pause", theme=self._theme, icon=IconName.PAUSE)
        self._pause.clicked.connect(lambda: self.pause_requested.emit(self.id))
        self._resume = Button("Resume", theme=self._theme, kind=ButtonKind.PRIMARY)
        self._resume.clicked.connect(lambda: self.resume_requested.emit(self.id))
        self._show_in_library = Button("Show in Models", theme=self._theme)
        self._show_in_library.clicked.connect(lambda: self.library_requested.emit(self.id))
        self._cancel = Button("Cancel…", theme=self._theme, kind=ButtonKind.QUIET)
        self._cancel.clicked.connect(self._on_cancel_clicked)
        self._fold = Button(
            "Files", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_DOWN
        )
        self._fold.setCheckable(True)
        self._fold.setToolTip("Show or hide each file")
        self._fold.toggled.connect(self._on_fold_toggled)
        self._up = IconButton(IconName.ARROW_UP, "Download earlier (Alt+Up)", theme=self._theme)
        self._up.clicked.connect(lambda: self.moved.emit(self.id, -1))
        self._down = IconButton(
            IconName.ARROW_DOWN, "Download later (Alt+Down)", theme=self._theme
        )
        self._down.clicked.connect(lambda: self.moved.emit(self.id, 1))
        for button in (self._up, self._down):
            button.hide()
        return FlowRow(self._pause, self._resume, self._show_in_library, self._cancel, self._fold)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GAP_SMALL)
        top.addWidget(self._title, 1)
        top.addWidget(self._icon)
        top.addWidget(self._state)
        top.addWidget(self._up)
        top.addWidget(self._down)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        self._column.setSpacing(GAP_SMALL)
        self._column.addLayout(top)
        self._column.addWidget(self._bar)
        self._column.addWidget(self._numbers)
        self._column.addWidget(self._notice)
        self._column.addWidget(self._problem)
        self._column.addSpacing(GAP_TINY)
        self._column.addWidget(self._question)
        self._column.addLayout(self._buttons)

    def _bind_keys(self) -> None:
        for sequence, steps in (("Alt+Up", -1), ("Alt+Down", 1)):
            shortcut = QShortcut(QKeySequence(sequence), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda s=steps: self._on_move_key(s))

    def _show_buttons(self, transfer: Transfer) -> None:
        state = transfer.state
        is_asking = not self._question.isHidden()
        if is_asking:
            self._word_question(transfer)
        had_focus = self._pause.hasFocus() or self._resume.hasFocus()
        self._pause.setVisible(not is_asking and state in _CAN_PAUSE)
        # A problem that offers to try again has the button already.
        has_retry = transfer.problem is not None and Remedy.RETRY in transfer.problem.remedies
        can_go_on = state in _RESUME_WORDS and not has_retry
        self._resume.setText(_RESUME_WORDS.get(state, ""))
        keeps_focus = can_go_on and (state not in _CAN_PAUSE or self._resume.hasFocus())
        self._resume.setVisible(not is_asking and can_go_on)
        if had_focus and not is_asking:  # else Qt would move on to what cancels the download
            (self._resume if keeps_focus else self._pause).setFocus()
        self._show_in_library.setVisible(state is TransferState.DONE)
        self._cancel.setVisible(not is_asking)
        self._cancel.setText("Cancel…" if transfer.is_open else "Take off this list")
        self._fold.setVisible(not is_asking and bool(transfer.files))
        self._fold.setText(files_button_words(transfer))
        # On a page of many cards a button's word alone does not say what it is about.
        for button in (self._pause, self._resume, self._show_in_library, self._cancel, self._fold):
            button.setAccessibleName(f"{button.text()}: {transfer.request.title}")

    def _set_bar_tone(self, role: TextRole) -> None:
        is_calm = role is TextRole.MUTED and self._transfer.state is not TransferState.PAUSED
        tone = "" if is_calm else role.value
        if self._bar.property("tone") != tone:
            self._bar.setProperty("tone", tone)
            self._bar.style().unpolish(self._bar)
            self._bar.style().polish(self._bar)

    def _on_cancel_clicked(self) -> None:
        if not self._transfer.is_open or not self._transfer.done_bytes:
            self.removed.emit(self.id, self._transfer.state is TransferState.DONE)
            return
        self._question.ask(self._word_question(self._transfer))
        self._show_buttons(self._transfer)

    def _word_question(self, transfer: Transfer) -> str:
        arrived = format_bytes(transfer.done_bytes)
        words = f"Cancel this download? {arrived} have arrived."
        self._question.show_words(words)
        self._question.show_label(_DELETE.key, f"Delete {arrived}")
        return words

    def _on_question_closed(self) -> None:
        self._question.hide()
        self._show_buttons(self._transfer)
        self._cancel.setFocus()

    def _on_fold_toggled(self, is_open: bool) -> None:
        if self._files is None:
            self._files = FileList()
            self._column.addWidget(self._files)
        self._fold.show_icon(IconName.CHEVRON_UP if is_open else IconName.CHEVRON_DOWN)
        self._files.setVisible(is_open)
        if is_open:
            self._files.show_files(self._transfer.files)

    def _on_move_key(self, steps: int) -> None:
        button = self._up if steps < 0 else self._down
        if button.isVisible() and button.isEnabled():
            self.moved.emit(self.id, steps)
