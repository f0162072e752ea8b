"""What the image page says while no model here makes pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

_INTRO = (
    "A model for pictures makes them out of your words, on this machine. None is here yet. What "
    "runs: Stable Diffusion, SDXL, SD 3, Flux, Z-Image and Qwen-Image, exported for OpenVINO."
)


_ASK: Final = "How large is it?"


class EmptyView(QWidget):
    """Signals: `plan_requested(pair_id)` to learn what a model takes, then
    `download_requested(pair_id)`, and `add_requested` for a folder of one's own.
    """

    plan_requested = Signal(str)
    download_requested = Signal(str)
    add_requested = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cards: dict[str, OfferCard] = {}
        self._offers = QVBoxLayout()
        self._offers.setSpacing(GAP_MEDIUM)
        self._faults = Label(role=TextRole.WARN, wraps=True)
        add = Button("Add a folder…", theme=theme, icon=IconName.FOLDER_OPEN)
        add.setToolTip("Use an exported model that is on this disk, where it is")
        add.clicked.connect(self.add_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(Label("Make pictures", role=TextRole.HEADING))
        column.addWidget(Label(_INTRO, wraps=True))
        column.addWidget(self._faults)
        column.addLayout(self._offers)
        column.addLayout(FlowRow(add))

    def show_offers(self, offers: tuple[CataloguePair, ...]) -> None:
        """What the catalogue knows, each with what must be known before it is chosen."""
        if tuple(self._cards) == tuple(pair.id for pair in offers):
            return  # what was learnt of them stays in view
        empty_layout(self._offers)
        self._cards = {pair.id: OfferCard(pair, theme=self._theme) for pair in offers}
        for card in self._cards.values():
            card.plan_requested.connect(self.plan_requested)
            card.download_requested.connect(self.download_requested)
            self._offers.addWidget(card)

    def show_asking(self, pair_id: str) -> None:
        """The hub is being asked what it takes."""
        self._cards[pair_id].show_asking()

    def show_plan(self, pair_id: str, size_bytes: int) -> None:
        """It is known now how much would come."""
        self._cards[pair_id].show_plan(size_bytes)

    def show_unknown(self, pair_id: str) -> None:
        """The hub did not tell; it can be asked again."""
        self._cards[pair_id].show_unknown()

    def show_faults(self, faults: tuple[tuple[str, Problem], ...]) -> None:
        """Models for pictures that are here and cannot be used: titles and why."""
        self._faults.setVisible(bool(faults))
        words = (f"{title}: {problem.headline} {problem.advice}" for title, problem in faults)
        self._faults.show_text("\n".join(words))


class OfferCard(SurfaceFrame):
    """A model that can be had. Signals: `plan_requested(id)`, `download_requested(id)`."""

    plan_requested = Signal(str)
    download_requested = Signal(str)

    def __init__(self, pair: CataloguePair, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._pair_id = pair.id
        self._is_planned = False
        target = pair.target
        facts = [target.repository or "", f"runs with OpenVINO GenAI {pair.requires.runtime}"]
        if target.content_label:
            facts.append(f"content: {target.content_label}")
        self._get = Button(_ASK, theme=theme, kind=ButtonKind.PRIMARY)
        self._get.clicked.connect(self._on_get)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(target.title, role=TextRole.STRONG))
        words.addWidget(Label(" · ".join(filter(None, facts)), role=TextRole.CAPTION, wraps=True))
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        row.setSpacing(GAP_SMALL)
        row.addLayout(words, 1)
        row.addWidget(self._get)

    def show_asking(self) -> None:
        """Wait for the hub."""
        self._get.setText("Asking the hub…")
        self._get.setEnabled(False)

    def show_plan(self, size_bytes: int) -> None:
        """Offer what would come, with its size."""
        self._is_planned = True
        self._get.setText(f"Download {format_bytes(size_bytes)}")
        self._get.setEnabled(True)

    def show_unknown(self) -> None:
        """Offer to ask again."""
        self._get.setText(_ASK)
        self._get.setEnabled(True)

    def _on_get(self) -> None:
        signal = self.download_requested if self._is_planned else self.plan_requested
        signal.emit(self._pair_id)
