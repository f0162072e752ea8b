"""One pair that can be downloaded: what it is, whether it fits, and what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.offer_words import OfferState
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.memory_bar import MemoryBar
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.models.offer_words import Offer
    from dflash_desktop.ui.theme import Theme


class OfferCard(SurfaceFrame):
    """Signals: `download_requested(pair_id)`, `export_requested(pair_id)`,
    `transfer_requested(pair_id)`,
    `page_requested(url)`.
    """

    download_requested = Signal(str)
    export_requested = Signal(str)
    transfer_requested = Signal(str)
    page_requested = Signal(str)

    def __init__(self, offer: Offer, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._offer = offer
        content = offer.content
        self.setAccessibleName(f"{content.title}, {content.fit}")
        self._action = Button("", theme=theme)
        self._action.clicked.connect(self._on_action)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_TINY)
        column.addLayout(self._built_top())
        column.addWidget(Label(content.good_at, role=TextRole.MUTED, wraps=True))
        if content.parts:
            bar = MemoryBar("Memory that it takes", theme=theme)
            bar.show_parts(content.parts, limit_bytes=content.usable_bytes)
            column.addSpacing(GAP_TINY)
            column.addWidget(bar)
        column.addWidget(
            Label(content.fit, role=TextRole.BAD if content.is_too_big else TextRole.INTERFACE)
        )
        for words, role in (
            (content.speed, TextRole.CAPTION),
            (content.origin, TextRole.CAPTION),
            ("" if content.is_too_big else content.why_not, TextRole.WARN),
        ):
            if words:
                column.addWidget(Label(words, role=role, wraps=True))
        column.addSpacing(GAP_TINY)
        column.addLayout(self._built_bottom())
        self.show_offer(offer)

    def show_offer(self, offer: Offer) -> None:
        """The same pair, of which something else can be done now."""
        self._offer = offer
        self._action.setText(offer.action)
        self._action.setVisible(offer.state is not OfferState.HERE)
        self._here.setVisible(offer.state is OfferState.HERE)
        self._action.setEnabled(offer.state is not OfferState.NOT_TO_BE_HAD)
        self._action.setToolTip(offer.tip)
        kind = ButtonKind.PRIMARY if offer.is_best else ButtonKind.NORMAL
        if self._action.property("kind") != kind.value:
            self._action.setProperty("kind", kind.value)
            self._action.style().unpolish(self._action)
            self._action.style().polish(self._action)
        self._action.setAccessibleName(f"{offer.action}: {offer.content.title}")

    def take_focus(self) -> None:
        """Put the keyboard on what can be done."""
        self._action.setFocus()

    def _built_top(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GAP_SMALL)
        row.addWidget(ElidedLabel(self._offer.content.title, role=TextRole.STRONG), 1)
        for words in self._offer.content.badges:
            badge = Label(words, role=TextRole.CAPTION)
            badge.setProperty("kind", "badge")
            row.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)
        return row

    def _built_bottom(self) -> QHBoxLayout:
        self._here = Label("In your library", role=TextRole.GOOD)
        row = QHBoxLayout()
        row.setSpacing(GAP_SMALL)
        row.addWidget(self._action)
        row.addWidget(self._here)
        link = self._offer.content.link
        if link:
            page = Button(
                "Its page", theme=self._theme, kind=ButtonKind.LINK, icon=IconName.EXTERNAL_LINK
            )
            page.setToolTip(link)
            page.setAccessibleName(f"Open the page of {self._offer.content.title}")
            page.clicked.connect(lambda: self.page_requested.emit(link))
            row.addWidget(page)
        row.addStretch(1)
        return row

    def _on_action(self) -> None:
        if self._offer.state is OfferState.COMING:
            self.transfer_requested.emit(self._offer.pair_id)
        elif self._offer.state is OfferState.TO_EXPORT:
            self.export_requested.emit(self._offer.pair_id)
        else:
            self.download_requested.emit(self._offer.pair_id)
