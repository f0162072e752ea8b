"""One way out of a plan that does not fit, with the button that takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.export_plan import ExportAlternative
    from dflash_desktop.ui.theme import Theme


class AlternativeCard(SurfaceFrame):
    """Signals: `pair_requested(pair_id)`, `request_chosen(ExportRequest)`."""

    pair_requested = Signal(str)
    request_chosen = Signal(object)

    def __init__(
        self, alternative: ExportAlternative, *, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._alternative = alternative
        self._theme = theme
        self.setAccessibleName(alternative.title)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_TINY)
        column.addWidget(Label(alternative.title, role=TextRole.STRONG, wraps=True))
        column.addWidget(Label(alternative.advice, wraps=True))
        buttons = self._built_buttons()
        if buttons:
            column.addSpacing(GAP_TINY)
            column.addLayout(FlowRow(*buttons))

    def _built_buttons(self) -> list[Button]:
        one = self._alternative
        buttons = []
        if one.pair_id:
            get = Button("Get it", theme=self._theme, icon=IconName.DOWNLOAD)
            get.clicked.connect(lambda: self.pair_requested.emit(one.pair_id))
            buttons.append(get)
        if one.request is not None:
            take = Button("See what that takes", theme=self._theme)
            take.clicked.connect(lambda: self.request_chosen.emit(one.request))
            buttons.append(take)
        if one.commands:
            copy = Button("Copy the commands", theme=self._theme, icon=IconName.COPY)
            copy.clicked.connect(lambda: self._on_copy_clicked(copy))
            buttons.append(copy)
        for button in buttons:
            button.setAccessibleName(f"{button.text()}: {one.title}")
        return buttons

    def _on_copy_clicked(self, button: Button) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._alternative.commands))
        button.setText("Copied")
