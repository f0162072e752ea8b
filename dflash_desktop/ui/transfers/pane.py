"""The transfers page: what is on its way, what waits, what stopped, and what has arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.transfers.transfer_card import TransferCard
from dflash_desktop.ui.transfers.words import summary_line
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 760
_INTRO: Final = (
    "Models that are on their way to this disk. One arrives at a time; every byte is checked, and "
    "what has arrived is kept if something stops it."
)


class TransfersPane(PageColumn):
    """The page.

    Signals: those of `TransferCard`, and `models_requested`, `connection_requested`,
    `done_cleared`, `retry_requested` after a problem of the page.
    """

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    removed = Signal(str, bool)
    moved = Signal(str, int)
    remedy_chosen = Signal(str, object)
    library_requested = Signal(str)
    models_requested = Signal()
    connection_requested = Signal()
    done_cleared = Signal()
    retry_requested = Signal()

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(width=_WIDTH, parent=parent)
        self._theme = theme
        self._report = report
        self._cards: dict[str, TransferCard] = {}
        self.connection = Button(
            "Connection", theme=theme, kind=ButtonKind.QUIET, icon=IconName.SLIDERS
        )
        self.connection.setToolTip("Server, proxy, certificates, speed limit, access token")
        self.connection.clicked.connect(self.connection_requested)
        self._summary = Label(role=TextRole.MUTED, wraps=True)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_problem_remedy_chosen)
        self._open, self._open_cards = _card_column()
        self._done, self._done_cards = _card_column()
        self._empty = self._built_empty()
        self._done_heading = self._built_done_heading()
        heading = QHBoxLayout()
        heading.addWidget(Label("Transfers", role=TextRole.HEADING), 1)
        heading.addWidget(self.connection)
        self.column.addLayout(heading)
        for part in (
            self._summary,
            self._problem,
            self._empty,
            self._open,
            self._done_heading,
            self._done,
        ):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.show_transfers(())

    def show_transfers(self, transfers: tuple[Transfer, ...]) -> None:
        """Show the transfers in their order; cards that are there already only change."""
        gone = self._cards.keys() - {transfer.id for transfer in transfers}
        for transfer_id in gone:
            self._drop(transfer_id)
        for transfer in transfers:
            if transfer.id in self._cards:
                self._cards[transfer.id].show_transfer(transfer)
            else:
                self._cards[transfer.id] = self._built_card(transfer)
        still_open = [t for t in transfers if t.is_open]
        done = [t for t in transfers if not t.is_open]
        was_moved = self._place(self._open_cards, still_open)
        was_moved |= self._place(self._done_cards, done)
        if was_moved:
            self.order_tabs()
        for number, transfer in enumerate(still_open):
            self._cards[transfer.id].show_order(
                is_first=number == 0, is_last=number == len(still_open) - 1
            )
        self._empty.setVisible(not transfers)
        self._open.setVisible(bool(still_open))
        self._done.setVisible(bool(done))
        self._done_heading.setVisible(bool(done))
        self._summary.show_text(summary_line(transfers) or _INTRO)

    def show_problem(self, problem: Problem) -> None:
        """Say why something that was asked for here could not be done."""
        self._problem.show_problem(problem)

    def focus_transfer(self, transfer_id: str) -> None:
        """Bring a transfer into view."""
        if transfer_id in self._cards:
            self.ensureWidgetVisible(self._cards[transfer_id])

    def _built_card(self, transfer: Transfer) -> TransferCard:
        card = TransferCard(transfer, theme=self._theme, report=self._report, has_order=True)
        card.pause_requested.connect(self.pause_requested)
        card.resume_requested.connect(self.resume_requested)
        card.removed.connect(self.removed)
        card.moved.connect(self.moved)
        card.remedy_chosen.connect(self.remedy_chosen)
        card.library_requested.connect(self.library_requested)
        return card

    def _place(self, column: QVBoxLayout, transfers: list[Transfer]) -> bool:
        """Put the cards in this order; whether any of them was elsewhere."""
        was_moved = False
        for position, transfer in enumerate(transfers):
            card = self._cards[transfer.id]
            if column.indexOf(card) == position:
                continue
            was_moved = True
            focused = self.focusWidget()
            column.insertWidget(position, card)
            if focused is not None and card.isAncestorOf(focused):
                focused.setFocus()  # it loses it when its card changes its parent
                self.ensureWidgetVisible(card)
        return was_moved

    def _drop(self, transfer_id: str) -> None:
        card = self._cards.pop(transfer_id)
        # Keeps the keyboard on the page: hiding the focused card would pass it to the sidebar.
        if card.isAncestorOf(self.focusWidget() or self):
            self.connection.setFocus()
        card.hide()
        card.deleteLater()

    def _on_problem_remedy_chosen(self, remedy: Remedy) -> None:
        self._problem.clear()
        if remedy is Remedy.RETRY:
            self.retry_requested.emit()

    def _built_empty(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(Label("Nothing is on its way.", role=TextRole.STRONG))
        get = Button("Get models", theme=self._theme, kind=ButtonKind.PRIMARY)
        get.clicked.connect(self.models_requested)
        column.addLayout(FlowRow(get))
        return part

    def _built_done_heading(self) -> QWidget:
        part = QWidget()
        row = QHBoxLayout(part)
        row.setContentsMargins(0, GAP_SMALL, 0, 0)
        row.addWidget(Label("Done", role=TextRole.STRONG), 1)
        clear = Button("Clear list", theme=self._theme, kind=ButtonKind.QUIET)
        clear.setToolTip("Take what is done off this list. The models stay.")
        clear.clicked.connect(self.done_cleared)
        row.addWidget(clear)
        return part


def _card_column() -> tuple[QWidget, QVBoxLayout]:
    part = QWidget()
    column = QVBoxLayout(part)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GAP_MEDIUM)
    return part, column
