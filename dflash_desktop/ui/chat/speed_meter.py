"""The speed panel: how fast, compared with what, and what the draft does and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from dflash_desktop.domain.generation import DraftState
from dflash_desktop.domain.units import significant
from dflash_desktop.ui.chat.answer_words import DRAFT_WORDS, UNKNOWN
from dflash_desktop.ui.chat.meter_blocks import ContextBlock, MemoryBlock, block, value_label
from dflash_desktop.ui.chat.speed_history import SpeedHistory
from dflash_desktop.ui.chat.speed_widgets import Sparkline
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import (
    GAP,
    GAP_SMALL,
    GAP_TINY,
    SIZE_NUMBER,
    TextRole,
    interface_font,
)
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Line, Surface, SurfaceFrame
from dflash_desktop.ui.widgets.switch import Switch

if TYPE_CHECKING:
    from dflash_desktop.domain.draft_policy import SpeedVerdict
    from dflash_desktop.domain.generation import DraftUse, GenerationStats
    from dflash_desktop.domain.memory_use import MemoryUse
    from dflash_desktop.ui.theme import Theme

PANEL_WIDTH: Final = 256
UPDATE_MS: Final = 200
_TOKENS_PER_STEP_HELP: Final = (
    "How many tokens each pass of the target brings: one of its own, and those of the draft "
    "that it accepts."
)
_ACCEPTED_HELP: Final = "How many of the tokens that the draft proposed the target accepted."
_DRAFT_HELP: Final = (
    "A small model that proposes the next words. The target checks them in one pass, so the "
    "text stays the target's own."
)


class SpeedMeter(SurfaceFrame):
    """Signals: `measure_requested`, `draft_toggled(bool)`, `show_draft_tokens_toggled(bool)`.

    Counts may come as often as they like; the numbers change five times a second.
    """

    measure_requested = Signal()
    draft_toggled = Signal(bool)
    show_draft_tokens_toggled = Signal(bool)
    reading_changed = Signal(str)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.PANEL, parent)
        self._history = SpeedHistory()
        self._stats: GenerationStats | None = None
        self._verdict: SpeedVerdict | None = None
        self._is_live = False
        self._can_compare = True  # a target without a draft is its own speed
        self._number = Label(UNKNOWN, role=TextRole.NUMBER)
        self._number.setFont(interface_font(SIZE_NUMBER, tabular=True, semibold=True))
        self._unit = Label("tok/s", role=TextRole.MUTED)
        self._unit.setContentsMargins(0, 0, 0, GAP_TINY)  # onto the number's base line
        self._average = Label(role=TextRole.CAPTION)
        self._ratio = Label(role=TextRole.HEADING)
        self._compared = Label(role=TextRole.CAPTION, wraps=True)
        self._measure = Button("Measure", theme=theme, icon=IconName.GAUGE)
        self._measure.setToolTip(
            "Compare with and without the draft on this machine; takes less than a minute"
        )
        self._measure.clicked.connect(self.measure_requested)
        self._per_step = value_label()
        self._accepted = value_label()
        self._line = Sparkline(theme=theme)
        self._draft_state = Label(role=TextRole.STRONG)
        self._draft_switch = Switch("Use the draft", theme=theme)
        self._draft_switch.setToolTip("Use the draft for the next answers")
        self._draft_switch.clicked.connect(self.draft_toggled)
        self._draft_reason = Label(role=TextRole.CAPTION, wraps=True)
        self._marks = Button("Show draft tokens", theme=theme, icon=IconName.HIGHLIGHTER)
        self._marks.setCheckable(True)
        self._marks.setToolTip("Tint the words that the draft proposed and the target accepted")
        self._marks.clicked.connect(self.show_draft_tokens_toggled)
        self._context = ContextBlock(theme=theme)
        self._memory = MemoryBlock(theme=theme)
        self._timer = QTimer(self)
        self._timer.setInterval(UPDATE_MS)
        self._timer.timeout.connect(self._on_tick)
        self._lay_out()
        self._show_numbers()

    def _lay_out(self) -> None:
        content = SurfaceFrame(Surface.PANEL)
        rows = QVBoxLayout(content)
        rows.setContentsMargins(GAP, GAP, GAP, GAP)
        rows.setSpacing(GAP)
        for upper in (self._speed_block(), self._draft_block()):
            rows.addLayout(upper)
            rows.addWidget(Line(Qt.Orientation.Horizontal))
        rows.addWidget(self._context)
        rows.addWidget(self._memory)
        rows.addStretch()
        area = QScrollArea()
        area.setWidget(content)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)
        self.setFixedWidth(PANEL_WIDTH)

    def _speed_block(self) -> QVBoxLayout:
        rows = block("SPEED")
        number = QHBoxLayout()
        number.setSpacing(GAP_SMALL)
        number.addWidget(self._number)
        number.addWidget(self._unit, alignment=Qt.AlignmentFlag.AlignBottom)
        number.addStretch()
        rows.addLayout(number)
        rows.addWidget(self._average)
        rows.addSpacing(GAP_TINY)
        rows.addWidget(self._ratio)
        rows.addWidget(self._compared)
        rows.addWidget(self._measure)
        rows.addSpacing(GAP_TINY)
        rows.addWidget(self._line)
        rows.addSpacing(GAP_TINY)
        pairs = QGridLayout()
        pairs.setVerticalSpacing(GAP_TINY)
        pairs.setColumnStretch(0, 1)
        for row, (words, value, tip) in enumerate(
            (
                ("Tokens per step", self._per_step, _TOKENS_PER_STEP_HELP),
                ("Accepted", self._accepted, _ACCEPTED_HELP),
            )
        ):
            label = Label(words, role=TextRole.MUTED)
            label.setToolTip(tip)
            value.setToolTip(tip)
            pairs.addWidget(label, row, 0)
            pairs.addWidget(value, row, 1, Qt.AlignmentFlag.AlignRight)
        rows.addLayout(pairs)
        return rows

    def _draft_block(self) -> QVBoxLayout:
        rows = block("DRAFT", tip=_DRAFT_HELP)
        state = QHBoxLayout()
        state.addWidget(self._draft_state, 1)
        state.addWidget(self._draft_switch)
        rows.addLayout(state)
        rows.addWidget(self._draft_reason)
        rows.addSpacing(GAP_TINY)
        rows.addWidget(self._marks)
        return rows

    def begin_answer(self) -> None:
        """A new answer: the live line starts anew."""
        self._history.restart()
        self._stats = None
        self._is_live = True
        self._timer.start()
        self._show_numbers()

    def take(self, stats: GenerationStats) -> None:
        """Counts of the answer that is on its way."""
        self._stats = stats
        self._history.take(stats)

    def end_answer(self) -> None:
        """The answer is over: from now on the average stands."""
        self._is_live = False
        self._timer.stop()
        self._history.keep_point()
        self._show_numbers()

    def show_verdict(self, verdict: SpeedVerdict) -> None:
        """What the speed compares with."""
        self._verdict = verdict
        self._show_numbers()

    def show_draft(self, draft: DraftUse, *, is_attached: bool) -> None:
        """What the draft will do, and why."""
        words = DRAFT_WORDS[draft.state].capitalize()
        if draft.state is DraftState.ON:
            words += f" · {draft.assistant_tokens} tokens ahead"
        self._draft_state.show_text(words)
        self._draft_reason.show_text(draft.reason)
        self._draft_switch.setChecked(draft.state is not DraftState.OFF)
        self._draft_switch.setEnabled(is_attached)
        tip = "Use the draft for the next answers" if is_attached else draft.reason
        self._draft_switch.setToolTip(tip)
        self._can_compare = is_attached
        self._show_marks_button()
        self._show_numbers()

    def show_draft_tokens(self, is_shown: bool) -> None:
        """Whether the draft's words are tinted."""
        self._marks.setChecked(is_shown)
        self._show_marks_button()

    def show_context(self, used_tokens: int | None, context_tokens: int | None) -> None:
        """How full the context is; None while it is not known."""
        self._context.show_context(used_tokens, context_tokens)

    def show_memory(self, use: MemoryUse | None) -> None:
        """What is taken of the memory; None while that is not known."""
        self._memory.show_use(use)

    def _show_marks_button(self) -> None:
        # Earlier answers in the chat may be tinted: it stays until that is off.
        self._marks.setVisible(self._can_compare or self._marks.isChecked())

    def _on_tick(self) -> None:
        self._history.keep_point()
        self._show_numbers()

    def _show_numbers(self) -> None:
        stats, verdict = self._stats, self._verdict
        average = stats.tokens_per_second if stats else None
        rate = (self._history.rate_now if self._is_live else None) or average
        baseline = verdict.baseline_tokens_per_second if verdict else None
        self._number.show_text(UNKNOWN if rate is None else significant(rate))
        self._average.show_text(
            f"{'average ' + significant(average) if average else 'waiting for the first words'}"
            if self._is_live
            else "average of the last answer"
            if average
            else "no answer yet"
        )
        ratio = _ratio(rate, stats, verdict, is_live=self._is_live)
        self._ratio.show_text(UNKNOWN if ratio is None else f"{significant(ratio)}x")
        self._ratio.setVisible(self._can_compare and baseline is not None)
        self._compared.setVisible(self._can_compare)
        if verdict is None or baseline is None:
            self._compared.show_text("Not compared yet with the model's own speed here.")
        else:
            self._compared.show_text(_compared_with(verdict, baseline))
            self._compared.setToolTip(verdict.comparison)
        self._measure.setVisible(self._can_compare and baseline is None)
        per_step = stats.tokens_per_step if stats and stats.assistant_tokens else None
        share = stats.accepted_share if stats else None
        self._per_step.show_text(UNKNOWN if per_step is None else f"{per_step:.2f}")
        self._accepted.show_text(UNKNOWN if share is None else f"{share:.0%}")
        self._line.show_points(self._history.points, baseline)
        self.reading_changed.emit(
            UNKNOWN
            if rate is None
            else f"{significant(rate)} tok/s"
            + ("" if ratio is None else f" · {significant(ratio)}x")
        )


def _ratio(
    rate: float | None,
    stats: GenerationStats | None,
    verdict: SpeedVerdict | None,
    *,
    is_live: bool,
) -> float | None:
    """The speed-up to show: while the answer streams from its rate, then the final verdict."""
    if verdict is None or not verdict.baseline_tokens_per_second or stats is None:
        return None
    if not is_live:
        return verdict.speedup
    if rate is None or not stats.assistant_tokens:
        return None
    return rate / verdict.baseline_tokens_per_second


def _compared_with(verdict: SpeedVerdict, baseline: float) -> str:
    when = f" on {verdict.measured_at:%d %b}" if verdict.measured_at else ""
    return f"vs {significant(baseline)} tok/s without the draft, measured here{when}"
