"""What an export made: the models, what their check said, what was measured, where to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.export.result_words import contract_look, pair_look
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.icon_line import IconLine
from dflash_desktop.ui.pair.words import breakable
from dflash_desktop.ui.theme import (
    GAP,
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    STATE_COLOURS,
    TextRole,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.export_run import ExportedModel, ExportResult
    from dflash_desktop.ui.theme import Theme

_ROLES: Final = {"target": "Model", "draft": "Draft"}
_NOT_MEASURED: Final = "Whether the draft makes it faster was not measured. The pair's page does."
_BLOCKED: Final = "blocked"


class ResultView(SurfaceFrame):
    """Signals: `chat_requested`, `pair_requested`, `library_requested(model_id)`, and
    `card_requested(path)`, `record_requested(path)` and `folder_requested(path)` of one model.
    """

    chat_requested = Signal()
    pair_requested = Signal()
    library_requested = Signal(str)
    card_requested = Signal(object)
    record_requested = Signal(object)
    folder_requested = Signal(object)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._result: ExportResult | None = None
        self._column = QVBoxLayout()
        self._column.setSpacing(GAP_SMALL)
        self._chat = Button("Chat with it", theme=theme, kind=ButtonKind.PRIMARY)
        self._chat.clicked.connect(self.chat_requested)
        self._pair = Button("Open the pair's page", theme=theme)
        self._pair.clicked.connect(self.pair_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_MEDIUM)
        column.addLayout(self._column)
        column.addLayout(FlowRow(self._chat, self._pair))
        self.hide()

    @property
    def is_shown(self) -> bool:
        """Whether there is a result."""
        return self._result is not None

    def show_result(self, result: ExportResult | None) -> None:
        """Show what came out; None hides it."""
        if result == self._result:
            return
        self._result = result
        self.setVisible(result is not None)
        if result is None:
            return
        empty_layout(self._column)
        self._column.addWidget(self._built_verdict(result))
        for model in result.models:
            self._column.addWidget(_ModelLines(model, view=self, theme=self._theme))
        for note in result.notes:
            look = (IconName.INFO, ColourRole.TEXT_MUTED)
            line = IconLine(look, note, theme=self._theme, role=TextRole.INTERFACE)
            self._column.addWidget(line)
        roles = {model.role for model in result.models}
        is_sound = all(model.contract_verdict != _BLOCKED for model in result.models)
        self._chat.setVisible("target" in roles and is_sound)
        self._pair.setVisible("target" in roles)

    def take_focus(self) -> None:
        """Put the keyboard on what comes next."""
        (self._chat if self._chat.isVisibleTo(self) else self._pair).setFocus()

    def _built_verdict(self, result: ExportResult) -> QWidget:
        look = pair_look(result)
        if look is not None:
            words, role, icon = look
            return IconLine((icon, STATE_COLOURS[role]), words, theme=self._theme)
        names = " and ".join(_ROLES.get(m.role, m.role).lower() for m in result.models)
        words = f"Made and in your library: {names}."
        if len(result.models) > 1:
            words = f"{words} {_NOT_MEASURED}"
        return IconLine((IconName.CIRCLE_CHECK, ColourRole.GOOD), words, theme=self._theme)


class _ModelLines(SurfaceFrame):
    def __init__(self, model: ExportedModel, *, view: ResultView, theme: Theme) -> None:
        super().__init__(Surface.PANEL)
        words, role, icon = contract_look(model)
        title = f"{_ROLES.get(model.role, model.role)}: {model.model_id}"
        self.setAccessibleName(f"{title}, {words}")
        name = ElidedLabel(title, role=TextRole.STRONG)
        verdict = IconLine(
            (icon, STATE_COLOURS[role]), words, theme=theme, role=TextRole.INTERFACE
        )
        buttons = []
        for label, tip, wish in (
            ("Show in Models", "", lambda: view.library_requested.emit(model.model_id)),
            (
                "Model card",
                "A README for people who publish the model, with what it was made from",
                lambda: view.card_requested.emit(model.path),
            ),
            (
                "Record",
                "The commands and versions that it was made with",
                lambda: view.record_requested.emit(model.path),
            ),
            ("Open folder", "", lambda: view.folder_requested.emit(model.path)),
        ):
            button = Button(label, theme=theme, kind=ButtonKind.LINK)
            button.setToolTip(tip)
            button.setAccessibleName(f"{label}: {model.model_id}")
            button.clicked.connect(wish)
            buttons.append(button)
        path = Label(breakable(str(model.path)), role=TextRole.CAPTION, wraps=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GAP_TINY, 0, GAP_TINY)
        column.setSpacing(GAP_TINY)
        column.addWidget(name)
        column.addWidget(verdict)
        column.addWidget(path)
        column.addLayout(FlowRow(*buttons))
