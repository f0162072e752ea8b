"""What the image page says while no model here makes pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

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


class EmptyView(QWidget):
    """Signals: `get_requested(pair_id)`, `add_requested` for a folder of one's own."""

    get_requested = Signal(str)
    add_requested = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
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
        empty_layout(self._offers)
        for pair in offers:
            self._offers.addWidget(self._card(pair))

    def show_faults(self, faults: tuple[tuple[str, Problem], ...]) -> None:
        """Models for pictures that are here and cannot be used: titles and why."""
        self._faults.setVisible(bool(faults))
        words = (f"{title}: {problem.headline} {problem.advice}" for title, problem in faults)
        self._faults.show_text("\n".join(words))

    def _card(self, pair: CataloguePair) -> SurfaceFrame:
        card = SurfaceFrame(Surface.CARD)
        target = pair.target
        facts = [target.repository or "", f"runs with OpenVINO GenAI {pair.requires.runtime}"]
        if target.content_label:
            facts.append(f"content: {target.content_label}")
        if target.weights_bytes is None:
            facts.append("its size is told before anything is downloaded")
        get = Button("Get it…", theme=self._theme, kind=ButtonKind.PRIMARY)
        get.clicked.connect(lambda: self.get_requested.emit(pair.id))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(target.title, role=TextRole.STRONG))
        words.addWidget(Label(" · ".join(filter(None, facts)), role=TextRole.CAPTION, wraps=True))
        row = QHBoxLayout(card)
        row.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        row.setSpacing(GAP_SMALL)
        row.addLayout(words, 1)
        row.addWidget(get)
        return card
