"""The second page of the setup: the starter pair, three that fit best, all others on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox
from dflash_desktop.ui.wizard.choice_card import ChoiceCard
from dflash_desktop.ui.wizard.choice_row import ChoiceRow
from dflash_desktop.ui.wizard.machine_page import PAGE_WIDTH

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme
    from dflash_desktop.ui.wizard.choices import Choices

CONTEXT_LENGTHS: Final = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
_ROWS_MORE: Final = 50
_WORDS_PER_TOKEN: Final = 0.75
_WORDS_PER_PAGE: Final = 400


class ChoosePage(PageColumn):
    """Signals: `pair_chosen(pair_id)`, `context_chosen(tokens)`, `own_pair_requested`."""

    pair_chosen = Signal(str)
    context_chosen = Signal(int)
    own_pair_requested = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__(width=PAGE_WIDTH)
        self._theme = theme
        self._choices: Choices | None = None
        self._limit = 0  # of the others, so many are shown
        self._cards: list[ChoiceCard] = []
        self._rows: list[ChoiceRow] = []
        self._group = QButtonGroup(self)
        self._context = ChoiceBox()
        self._best = QVBoxLayout()
        self._best.setSpacing(GAP_MEDIUM)
        self._none = Label(role=TextRole.WARN, wraps=True)
        self._all = Button("Show all", theme=theme, icon=IconName.CHEVRON_DOWN)
        self._all.clicked.connect(self.show_more)
        self._list = QVBoxLayout()
        self._list.setSpacing(GAP_SMALL)
        own = Button("Use your own pair", theme=theme, kind=ButtonKind.LINK)
        own.clicked.connect(self.own_pair_requested)
        self.column.addWidget(Label("Choose a model", role=TextRole.HEADING))
        self.column.addWidget(
            Label(
                "Each is a target, the model that answers, mostly with a draft, a small model "
                "that proposes words so that answers come faster. Best for this machine first.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        self.column.addLayout(self._built_context())
        self.column.addWidget(self._none)
        self.column.addLayout(self._best)
        bottom = QHBoxLayout()
        bottom.setSpacing(GAP_SMALL)
        bottom.addWidget(self._all)
        bottom.addWidget(own)
        bottom.addStretch(1)
        self.column.addLayout(self._list)
        self.column.addLayout(bottom)
        self.column.addStretch(1)

    def show_choices(self, choices: Choices) -> None:
        """The cards and the folded rest; without a larger one that fits this is said."""
        best, none_fits = choices.best, choices.none_fits
        self._choices = choices
        while len(self._cards) > len(best):
            _drop(self._group, self._cards.pop())
        while len(self._cards) < len(best):
            card = ChoiceCard(theme=self._theme)
            card.chosen.connect(self.pair_chosen)
            # The arrow keys choose without scrolling to what they chose.
            card.radio.clicked.connect(lambda _=False, c=card: self.ensureWidgetVisible(c))
            self._group.addButton(card.radio)
            self._best.addWidget(card)
            self._cards.append(card)
        for card, content in zip(self._cards, best, strict=True):
            card.show_content(content)
        self._none.show_text(none_fits)
        self._none.setVisible(bool(none_fits))
        position = choices.position(choices.chosen_id)
        if position is not None:
            self._limit = max(self._limit, position + 1)
        self._show_rows(choices)

    def show_context(self, tokens: int) -> None:
        """Which length of conversations the fit is counted for."""
        self._context.setCurrentIndex(max(0, self._context.findData(tokens)))

    def focus_first(self) -> None:
        """Where the keyboard begins: on what is chosen."""
        chosen = self._group.checkedButton()
        (chosen or self._context).setFocus()
        card = None if chosen is None else chosen.parentWidget()
        if card is not None:  # once it has its place: it may be the last of a long list
            QTimer.singleShot(0, card, lambda: self.ensureWidgetVisible(card))

    def _built_context(self) -> QHBoxLayout:
        for tokens in CONTEXT_LENGTHS:
            pages = tokens * _WORDS_PER_TOKEN / _WORDS_PER_PAGE
            self._context.addItem(f"{tokens:,} tokens, about {pages:.0f} pages", tokens)
        self._context.setAccessibleName("Length of conversations")
        self._context.activated.connect(
            lambda: self.context_chosen.emit(self._context.currentData())
        )
        label = Label("Conversations of up to")
        label.setBuddy(self._context)
        tip = (
            "How much text a model has in view at once. Longer conversations take more memory "
            "for the KV cache."
        )
        label.setToolTip(tip)
        self._context.setToolTip(tip)
        row = QHBoxLayout()
        row.setSpacing(GAP_SMALL)
        row.addWidget(label)
        row.addWidget(self._context)
        row.addStretch(1)
        return row

    def show_more(self) -> None:
        """Unfold more of the others, also what is too big, and go on there."""
        if self._choices is None:
            return
        first_new = len(self._rows)
        self._limit = first_new + _ROWS_MORE
        self._show_rows(self._choices)
        if first_new < len(self._rows):
            self._rows[first_new].radio.setFocus(Qt.FocusReason.TabFocusReason)

    def _show_rows(self, choices: Choices) -> None:
        wanted = min(self._limit, len(choices.others))
        while len(self._rows) > wanted:
            _drop(self._group, self._rows.pop())
        while len(self._rows) < wanted:
            row = ChoiceRow(theme=self._theme)
            row.chosen.connect(self.pair_chosen)
            row.radio.clicked.connect(lambda _=False, r=row: self.ensureWidgetVisible(r))
            self._group.addButton(row.radio)
            self._list.addWidget(row)
            self._rows.append(row)
        for position, row in enumerate(self._rows):
            row.show_content(choices.row(position))
        left = len(choices.others) - wanted
        self._all.setVisible(left > 0)
        every = len(choices.best) + len(choices.others)
        is_last = left <= _ROWS_MORE
        self._all.setText(f"Show all {every}" if is_last else f"Show {_ROWS_MORE} more of {every}")
        self._mark_chosen(choices.chosen_id)

    def _mark_chosen(self, pair_id: str) -> None:
        shown: list[ChoiceCard | ChoiceRow] = [*self._cards, *self._rows]
        for card in shown:
            if card.pair_id == pair_id:
                card.radio.setChecked(True)


def _drop(group: QButtonGroup, card: ChoiceCard | ChoiceRow) -> None:
    group.removeButton(card.radio)
    card.hide()
    card.deleteLater()
