"""The models page: the pairs, where they run, and the form for one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout

from dflash_desktop.ui.models.own_pair_form import OwnPairForm
from dflash_desktop.ui.models.pair_card import PairCard
from dflash_desktop.ui.models.run_form import RunForm
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.models.words import PairCardContent
    from dflash_desktop.ui.theme import Theme

_WIDTH = 760


class ModelsPane(PageColumn):
    """The models page; its parts `run_form` and `own_pair_form` have signals of their own.

    Signals: `load_requested(id, with_draft)`, `remove_requested(id)`, `starter_requested`.
    """

    load_requested = Signal(str, bool)
    remove_requested = Signal(str)
    starter_requested = Signal()

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(width=_WIDTH, parent=parent)
        self._theme = theme
        self._contents: tuple[PairCardContent, ...] = ()
        self._cards = QVBoxLayout()
        self._cards.setSpacing(GAP_MEDIUM)
        self.run_form = RunForm()
        self.own_pair_form = OwnPairForm(theme=theme, report=report)
        self.column.addWidget(Label("Models", role=TextRole.HEADING))
        self.column.addWidget(
            Label(
                "A pair is a target, the model that answers, and a draft, a small model that "
                "proposes words so that the target needs fewer steps.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        self.column.addLayout(self._cards)
        self._add_section("Use your own pair", self.own_pair_form)
        self._add_section("How models run", self.run_form)
        self.column.addStretch(1)

    def show_cards(self, contents: tuple[PairCardContent, ...]) -> None:
        """Replace the cards, unless nothing has changed."""
        if contents == self._contents:
            return
        self._contents = contents
        while (item := self._cards.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for content in contents:
            card = PairCard(content, theme=self._theme)
            card.load_requested.connect(self.load_requested)
            card.remove_requested.connect(self.remove_requested)
            card.starter_requested.connect(self.starter_requested)
            self._cards.addWidget(card)

    def show_own_pair_form(self) -> None:
        """Bring the form for one's own pair into view."""
        self.ensureWidgetVisible(self.own_pair_form)
        self.own_pair_form.focus_target()

    def _add_section(self, title: str, content: QWidget) -> None:
        self.column.addSpacing(GAP_SMALL)
        self.column.addWidget(Label(title, role=TextRole.STRONG))
        self.column.addWidget(content)
