"""The pictures that go with the message that is being written, in an order that can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from dflash_desktop.ui.pictures.attachment_card import AttachmentCard, AttachmentState
from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY
from dflash_desktop.ui.widgets.flow_row import FlowRow

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from dflash_desktop.ui.theme import Theme

MAX_LINES: Final = 2
"""More scroll: the message itself must stay in sight."""

_CARD_WIDTH_PX: Final = 220


class AttachmentBar(QScrollArea):
    """Hidden while there are none.

    Signals: `opened(int)`, `removed(int)` with the key, `moved(int, int)` with key and new place.
    """

    opened = Signal(int)
    removed = Signal(int)
    moved = Signal(int, int)

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cards: dict[int, AttachmentCard] = {}
        self._order: tuple[int, ...] = ()
        self._max_lines = MAX_LINES
        self._row = FlowRow()
        self._inside = QWidget()
        self._inside.setProperty("surface", "none")
        self._inside.setLayout(self._row)
        self.setWidget(self._inside)
        self.setWidgetResizable(True)
        self.setProperty("kind", "bare")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Attached pictures")
        self.hide()

    def show_attachments(self, states: tuple[AttachmentState, ...]) -> None:
        """Show these, in this order; a card stays itself, and keeps the focus."""
        keys = tuple(state.key for state in states)
        for gone in set(self._cards) - set(keys):
            card = self._cards.pop(gone)
            self._row.removeWidget(card)
            card.hide()
            card.deleteLater()
        for state in states:
            if state.key in self._cards:
                self._cards[state.key].show_state(state)
            else:
                self._cards[state.key] = self._made(state)
        if keys != self._order:
            self._arrange(keys)
        self.setVisible(bool(keys))

    def limit_lines(self, lines: int) -> None:
        """How many lines of cards there is room for."""
        if lines != self._max_lines:
            self._max_lines = lines
            self._fit()

    def focus_key(self, key: int) -> None:
        """Put the focus on a card, if it is there."""
        if key in self._cards:
            self._cards[key].thumbnail.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(self._cards[key], 0, 0)

    @property
    def cards(self) -> tuple[AttachmentCard, ...]:
        """The cards in their order."""
        return tuple(self._cards[key] for key in self._order)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many columns as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if not self._order:
            return
        count, gap = len(self._order), GAP_SMALL
        width = self.width()
        columns = max(1, (width + gap) // (_CARD_WIDTH_PX + gap))
        lines = -(-count // columns)
        if lines > self._max_lines:
            width -= self.verticalScrollBar().sizeHint().width()
        card_width = (width - (columns - 1) * gap) // columns
        for card in self._cards.values():
            card.setFixedWidth(card_width)
        height = max(card.sizeHint().height() for card in self._cards.values())
        shown = min(lines, self._max_lines)
        self.setFixedHeight(shown * height + (shown - 1) * gap + GAP_TINY)

    def _made(self, state: AttachmentState) -> AttachmentCard:
        card, key = AttachmentCard(state, theme=self._theme), state.key
        card.opened.connect(lambda: self.opened.emit(key))
        card.removed.connect(lambda: self._on_removed(key))
        card.moved.connect(lambda step: self._on_moved(key, step))
        card.dragged.connect(lambda at: self._on_dragged(key, at))
        return card

    def _arrange(self, keys: tuple[int, ...]) -> None:
        for card in self._cards.values():
            self._row.removeWidget(card)
        self._order = keys
        last: QWidget | None = None
        for key in keys:
            card = self._cards[key]
            self._row.addWidget(card)
            card.show()
            if last is not None:
                QWidget.setTabOrder(last, card.thumbnail)
            last = card.thumbnail
        self._row.invalidate()
        self._fit()

    def _on_removed(self, key: int) -> None:
        """The focus goes to the neighbour, so that several can be removed by key."""
        place = self._order.index(key)
        others = [one for one in self._order if one != key]
        self.removed.emit(key)
        if others:
            self.focus_key(others[min(place, len(others) - 1)])

    def _on_moved(self, key: int, step: int) -> None:
        place = self._order.index(key) + step
        if 0 <= place < len(self._order):
            self.moved.emit(key, place)
            self.focus_key(key)

    def _on_dragged(self, key: int, at: QPoint) -> None:
        """The dragged card takes the place of the one that it is over, at once."""
        here = self._inside.mapFromGlobal(at)
        for place, other in enumerate(self._order):
            if other != key and self._cards[other].geometry().contains(here):
                self.moved.emit(key, place)
                return
