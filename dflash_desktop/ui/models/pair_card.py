"""One pair on the models page: what it is, how far it is, what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.words import CardState, PairCardContent
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

_STATE_ROLES = {
    CardState.AVAILABLE: TextRole.MUTED,
    CardState.LOADING: TextRole.MUTED,
    CardState.LOADED: TextRole.GOOD,
    CardState.ABSENT: TextRole.BAD,
    CardState.NOT_INSTALLED: TextRole.MUTED,
    CardState.INSTALLING: TextRole.MUTED,
    CardState.NEEDS_REPAIR: TextRole.WARN,
}


class PairCard(SurfaceFrame):
    """A card.

    Signals: `load_requested(id, with_draft)`, `remove_requested(id)`, `starter_requested`.
    """

    load_requested = Signal(str, bool)
    remove_requested = Signal(str)
    starter_requested = Signal()

    def __init__(
        self, content: PairCardContent, *, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._content = content
        self._theme = theme
        self.setAccessibleName(f"{content.title}, {content.state.value}".rstrip(", "))
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP)
        column.setSpacing(GAP_SMALL)
        column.addLayout(self._built_top())
        if content.note:
            column.addWidget(Label(content.note, role=TextRole.MUTED, wraps=True))
        if content.facts:
            column.addLayout(_fact_grid(content.facts))
        column.addSpacing(GAP_TINY)
        column.addLayout(FlowRow(*self._buttons()))

    def _built_top(self) -> QHBoxLayout:
        content = self._content
        row = QHBoxLayout()
        row.setSpacing(GAP_SMALL)
        row.addWidget(ElidedLabel(content.title, role=TextRole.STRONG), 1)
        row.addWidget(Label(content.state.value, role=_STATE_ROLES[content.state]))
        if content.is_own:
            remove = IconButton(
                IconName.CLOSE,
                "Take this pair off the list. Its files stay.",
                theme=self._theme,
            )
            remove.clicked.connect(lambda: self.remove_requested.emit(content.pair_id))
            row.addWidget(remove)
        return row

    def _buttons(self) -> list[Button]:
        content = self._content
        match content.state:
            case CardState.AVAILABLE:
                load = Button("Load", theme=self._theme, kind=ButtonKind.PRIMARY)
                load.clicked.connect(lambda: self.load_requested.emit(content.pair_id, True))
                if not content.has_draft:
                    return [load]
                return [load, self._alone_button()]
            case CardState.LOADED:
                again = Button("Load again", theme=self._theme)
                again.setToolTip("After you changed the device or the KV cache below")
                again.clicked.connect(lambda: self.load_requested.emit(content.pair_id, True))
                return [again, self._alone_button()] if content.has_draft else [again]
            case CardState.NOT_INSTALLED | CardState.NEEDS_REPAIR | CardState.INSTALLING:
                words = {
                    CardState.NOT_INSTALLED: "Get the starter model",
                    CardState.NEEDS_REPAIR: "Repair",
                    CardState.INSTALLING: "Show progress",
                }[content.state]
                get = Button(words, theme=self._theme, kind=ButtonKind.PRIMARY)
                get.clicked.connect(self.starter_requested)
                return [get]
            case CardState.LOADING:
                waiting = Button("Load", theme=self._theme)
                waiting.setEnabled(False)
                waiting.setToolTip("This model is being loaded.")
                return [waiting]
            case CardState.ABSENT:
                gone = Button("Load", theme=self._theme)
                gone.setEnabled(False)
                gone.setToolTip("Its folder is not there. Is a drive missing?")
                return [gone]

    def _alone_button(self) -> Button:
        alone = Button("Load without draft", theme=self._theme, kind=ButtonKind.QUIET)
        alone.clicked.connect(lambda: self.load_requested.emit(self._content.pair_id, False))
        return alone


def _fact_grid(facts: tuple[tuple[str, str], ...]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(GAP)
    grid.setVerticalSpacing(GAP_TINY)
    grid.setColumnMinimumWidth(0, 88)
    grid.setColumnStretch(1, 1)
    for number, (name, value) in enumerate(facts):
        grid.addWidget(Label(name, role=TextRole.CAPTION), number, 0)
        words = ElidedLabel(value, role=TextRole.CAPTION, mode=Qt.TextElideMode.ElideMiddle)
        words.setAccessibleName(f"{name}: {value}")
        grid.addWidget(words, number, 1)
    return grid
