"""The models page: the pairs, what is on this disk, where they run, and the form for one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.library_view import LibraryView
from dflash_desktop.ui.models.own_pair_form import OwnPairForm
from dflash_desktop.ui.models.pair_card import PairCard
from dflash_desktop.ui.models.run_form import RunForm
from dflash_desktop.ui.models.storage_card import StorageCard
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.drop_sheet import DropSheet
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.models.words import PairCardContent
    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 760
_DROP_WORDS: Final = "A GGUF file is imported. The folder of a model is used where it is."
_CARDS_AT_FIRST: Final = 5
_CARDS_MORE: Final = 25
"""A card takes some milliseconds to build: so many at once are still built in one go."""


class ModelsPane(PageColumn):
    """The models page; its parts `library`, `storage`, `run_form` and `own_pair_form` have
    signals of their own.

    Signals: `load_requested(id, with_draft)`, `remove_requested(id)`, `starter_requested`,
    `get_requested` for more models, `export_requested` to make one from a checkpoint,
    `check_requested(id)` to see whether a pair works.
    """

    load_requested = Signal(str, bool)
    remove_requested = Signal(str)
    starter_requested = Signal()
    get_requested = Signal()
    export_requested = Signal()
    check_requested = Signal(str)

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
        self._card_limit = _CARDS_AT_FIRST
        self._built: list[tuple[PairCardContent, PairCard]] = []
        self._cards = QVBoxLayout()
        self._cards.setSpacing(GAP_MEDIUM)
        self._more = Button("", theme=theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_DOWN)
        self._more.clicked.connect(self._on_more_clicked)
        self.library = LibraryView(theme=theme, report=report)
        self.library.get_requested.connect(self.get_requested)
        self.library.export_requested.connect(self.export_requested)
        # Once the card has grown by what there is to read.
        self.library.card.asks_for_view.connect(
            lambda: QTimer.singleShot(0, self.library.card, self._show_card)
        )
        self.library.importing.asks_for_view.connect(
            lambda: QTimer.singleShot(0, self.library.importing, self.show_import)
        )
        self.drop_sheet = DropSheet(self.viewport(), explanation=_DROP_WORDS, theme=theme)
        self.drop_sheet.dropped.connect(self._on_dropped)
        self.storage = StorageCard(theme=theme, report=report)
        self.run_form = RunForm(theme=theme)
        self.own_pair_form = OwnPairForm(theme=theme, report=report)
        get = Button("Get more models", theme=theme, icon=IconName.DOWNLOAD)
        get.clicked.connect(self.get_requested)
        heading = QHBoxLayout()
        heading.addWidget(Label("Models", role=TextRole.HEADING), 1)
        heading.addWidget(get)
        self.column.addLayout(heading)
        self.column.addWidget(
            Label(
                "A pair is a target, the model that answers, and a draft, a small model that "
                "proposes words so that the target needs fewer steps.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        self.column.addLayout(self._cards)
        more = QHBoxLayout()
        more.addWidget(self._more)
        more.addStretch(1)
        self.column.addLayout(more)
        self.column.addSpacing(GAP_SMALL)
        self.column.addWidget(self.library)
        self._add_section("Room on the disk", self.storage)
        self._add_section("Use your own pair", self.own_pair_form)
        self._add_section("How models run", self.run_form)
        self.column.addStretch(1)
        self._show_more_button()

    def show_cards(self, contents: tuple[PairCardContent, ...]) -> None:
        """Show these pairs; a card of which nothing has changed stays as it is."""
        if contents != self._contents:
            self._contents = contents
            self._build_cards()

    def show_own_pair_form(self) -> None:
        """Bring the form for one's own pair into view."""
        self.ensureWidgetVisible(self.own_pair_form)
        self.own_pair_form.focus_target()

    def show_run_form(self) -> None:
        """Bring the choice of the device into view."""
        self.ensureWidgetVisible(self.run_form)
        self.run_form.focus_device()

    def show_model(self, model_id: str) -> None:
        """Bring a model on this disk into view."""
        self.library.choose(model_id)
        self.ensureWidgetVisible(self.library.card)

    def show_library(self) -> None:
        """Bring what is on this disk into view, with what is said above the list."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.library.mapTo(self, QPoint()).y() - GAP)

    def show_import(self) -> None:
        """Bring what is said about an import into view."""
        self.ensureWidgetVisible(self.library.importing)
        self.ensureWidgetVisible(self.library.importing.first_part)  # if not all of it has room

    def show_storage(self) -> None:
        """Bring the library's place into view."""
        self.ensureWidgetVisible(self.storage)
        self.storage.take_focus()

    def _on_dropped(self, paths: tuple[str, ...]) -> None:
        self.show_library()
        self.library.paths_dropped.emit(paths)

    def _show_card(self) -> None:
        self.ensureWidgetVisible(self.library.card)

    def _build_cards(self) -> None:
        wanted = self._contents[: self._card_limit]
        kept = {content: card for content, card in self._built if content in wanted}
        for content, card in self._built:
            if kept.get(content) is not card:
                self._cards.removeWidget(card)
                card.hide()
                card.deleteLater()
        self._built = []
        for position, content in enumerate(wanted):
            card = kept.get(content) or self._built_card(content)
            self._built.append((content, card))
            if self._cards.indexOf(card) != position:
                self._cards.insertWidget(position, card)
        self._show_more_button()
        self.order_tabs()

    def _built_card(self, content: PairCardContent) -> PairCard:
        card = PairCard(content, theme=self._theme)
        card.load_requested.connect(self.load_requested)
        card.remove_requested.connect(self.remove_requested)
        card.starter_requested.connect(self.starter_requested)
        card.check_requested.connect(self.check_requested)
        return card

    def _show_more_button(self) -> None:
        left = len(self._contents) - len(self._built)
        self._more.setVisible(left > 0)
        self._more.setText(f"Show {min(left, _CARDS_MORE)} more of {len(self._contents)} pairs")

    def _on_more_clicked(self) -> None:
        first_new = len(self._built)
        self._card_limit += _CARDS_MORE
        self._build_cards()
        if first_new < len(self._built):
            self._built[first_new][1].take_focus()

    def _add_section(self, title: str, content: QWidget) -> None:
        self.column.addSpacing(GAP_SMALL)
        self.column.addWidget(Label(title, role=TextRole.STRONG))
        self.column.addWidget(content)
