"""One pair on the models page: what it is, how far it is, what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.words import CardState, PairCardContent
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.memory_bar import LabelledMemoryBar
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

FACT_NAMES_WIDTH: Final = 88

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

    Signals: `load_requested(id, with_draft)`, `remove_requested(id)`, `starter_requested`,
    `check_requested(id)` to see whether the pair works.
    """

    load_requested = Signal(str, bool)
    remove_requested = Signal(str)
    starter_requested = Signal()
    check_requested = Signal(str)

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
            column.addWidget(FactGrid(content.facts))
        if content.parts:
            bar = LabelledMemoryBar("Memory that it takes", theme=theme)
            bar.show_parts(content.parts, limit_bytes=content.usable_bytes)
            column.addSpacing(GAP_TINY)
            column.addWidget(bar)
        column.addSpacing(GAP_TINY)
        buttons = self._buttons()
        self._first_button = buttons[0]
        for button in buttons:
            button.setAccessibleName(f"{button.text()}: {content.title}")
        column.addLayout(FlowRow(*buttons))

    def take_focus(self) -> None:
        """Put the keyboard on what is done first."""
        self._first_button.setFocus()

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
                return [load, self._alone_button(), self._check_button()]
            case CardState.LOADED:
                again = Button("Load again", theme=self._theme)
                again.setToolTip("After you changed the device or the KV cache below")
                again.clicked.connect(lambda: self.load_requested.emit(content.pair_id, True))
                if not content.has_draft:
                    return [again]
                return [again, self._alone_button(), self._check_button()]
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

    def _check_button(self) -> Button:
        check = Button("Does this pair work?", theme=self._theme, kind=ButtonKind.QUIET)
        check.setToolTip("Read its files, check it by running it, repair what can be repaired")
        check.clicked.connect(lambda: self.check_requested.emit(self._content.pair_id))
        return check


class FactGrid(QWidget):
    """Names and values in two columns, small; long values are cut in their middle."""

    def __init__(
        self, facts: tuple[tuple[str, str], ...] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._rows: list[tuple[Label, ElidedLabel]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(GAP_TINY)
        self._grid.setColumnMinimumWidth(0, FACT_NAMES_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self.show_facts(facts)

    def show_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        """Show these; rows that are there already only change their words."""
        while len(self._rows) < len(facts):
            self._add_row()
        for number, (name, value) in enumerate(self._rows):
            is_used = number < len(facts)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                name.show_text(facts[number][0])
                value.show_text(facts[number][1])
                value.setAccessibleName(": ".join(facts[number]))

    def _add_row(self) -> None:
        name = Label(role=TextRole.CAPTION, parent=self)
        value = ElidedLabel(role=TextRole.CAPTION, mode=Qt.TextElideMode.ElideMiddle, parent=self)
        self._grid.addWidget(name, len(self._rows), 0)
        self._grid.addWidget(value, len(self._rows), 1)
        self._rows.append((name, value))
