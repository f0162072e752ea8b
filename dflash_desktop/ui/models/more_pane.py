"""Where one gets more models: recommended pairs for this machine, and any by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.name_form import NameForm
from dflash_desktop.ui.models.offer_card import OfferCard
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.models.offer_words import Offer
    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 760
_CARDS_AT_FIRST: Final = 5
_CARDS_MORE: Final = 15


class MorePane(PageColumn):
    """The page; its part `name_form` has signals of its own.

    Signals: `back_requested`, `more_requested` after `wanted` grew, `remedy_chosen(Remedy)` and
    those of `OfferCard`.
    """

    back_requested = Signal()
    more_requested = Signal()
    remedy_chosen = Signal(object)
    download_requested = Signal(str)
    export_requested = Signal(str)
    transfer_requested = Signal(str)
    page_requested = Signal(str)

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(width=_WIDTH, parent=parent)
        self._theme = theme
        self._offers: tuple[Offer, ...] = ()
        self._count = 0
        self.wanted = _CARDS_AT_FIRST
        """So many pairs are to be shown: an own catalogue may hold a thousand."""
        self._cards: dict[str, OfferCard] = {}
        self._back = Button(
            "Models", theme=theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_LEFT
        )
        self._back.setAccessibleName("Back to your models")
        self._back.clicked.connect(self.back_requested)
        self._machine = Label(role=TextRole.MUTED, wraps=True)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self.remedy_chosen)
        self._column = QVBoxLayout()
        self._column.setSpacing(GAP_MEDIUM)
        self._more = Button("", theme=theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_DOWN)
        self._more.clicked.connect(self._on_more_clicked)
        self.name_form = NameForm(theme=theme, report=report)
        self._lay_out()
        self._show_more_button()

    def show_machine(self, words: str) -> None:
        """What the pairs are judged by."""
        self._machine.show_text(words)

    def show_offers(self, offers: tuple[Offer, ...], *, count: int) -> None:
        """Show these of `count` pairs, the best first; cards of the same pairs only change."""
        before = [offer.content for offer in self._offers]
        is_same_list = [offer.content for offer in offers][: len(before)] == before
        self._offers, self._count = offers, count
        if not is_same_list:
            for card in self._cards.values():
                self._column.removeWidget(card)
                card.hide()
                card.deleteLater()
            self._cards = {}
        self._build_cards()

    def show_problem(self, problem: Problem) -> None:
        """Say why something could not be done."""
        self._problem.show_problem(problem)

    def clear_problem(self) -> None:
        """It is over."""
        self._problem.clear()

    def take_focus(self) -> None:
        """Put the keyboard at the page's beginning."""
        self._back.setFocus()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self._back)
        top.addStretch(1)
        more = QHBoxLayout()
        more.addWidget(self._more)
        more.addStretch(1)
        self.column.addLayout(top)
        self.column.addWidget(Label("Get more models", role=TextRole.HEADING))
        self.column.addWidget(self._machine)
        self.column.addWidget(self._problem)
        self.column.addLayout(self._column)
        self.column.addLayout(more)
        self.column.addSpacing(GAP_SMALL)
        self.column.addWidget(Label("Get a model by its name", role=TextRole.STRONG))
        self.column.addWidget(self.name_form)
        self.column.addStretch(1)

    def _build_cards(self) -> None:
        for offer in self._offers:
            card = self._cards.get(offer.pair_id)
            if card is not None:
                card.show_offer(offer)
                continue
            card = OfferCard(offer, theme=self._theme)
            card.download_requested.connect(self.download_requested)
            card.export_requested.connect(self.export_requested)
            card.transfer_requested.connect(self.transfer_requested)
            card.page_requested.connect(self.page_requested)
            self._cards[offer.pair_id] = card
            self._column.addWidget(card)
        self._show_more_button()
        self.order_tabs()

    def _show_more_button(self) -> None:
        left = self._count - len(self._cards)
        self._more.setVisible(left > 0)
        self._more.setText(f"Show {min(left, _CARDS_MORE)} more of {self._count} pairs")

    def _on_more_clicked(self) -> None:
        shown = len(self._cards)
        self.wanted += _CARDS_MORE
        self.more_requested.emit()
        if shown < len(self._offers):
            self._cards[self._offers[shown].pair_id].take_focus()
