"""Asks whether a repository's own code may run; the answer is never given beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.export.plan_words import consent_words
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.icon_line import IconLine
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

_LOOK = (IconName.TRIANGLE_ALERT, ColourRole.WARN)


class ConsentCard(SurfaceFrame):
    """Hidden while there is nothing to agree to. Signal: `changed`."""

    changed = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._repos: tuple[str, ...] = ()
        self.setProperty("severity", "warning")
        self._words = IconLine(_LOOK, "", theme=theme, role=TextRole.INTERFACE)
        self._agree = QCheckBox("Run their code for this export")
        self._agree.toggled.connect(self.changed)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._words)
        column.addWidget(self._agree)
        self.hide()

    @property
    def is_agreed(self) -> bool:
        """Whether nothing stands against it any more."""
        return not self._repos or self._agree.isChecked()

    def ask_for(self, repos: tuple[str, ...]) -> None:
        """Ask for the code of these; what was agreed to before does not count."""
        self._repos = repos
        self._agree.setChecked(False)
        self.setVisible(bool(repos))
        if repos:
            words = consent_words(repos)
            self._words.show_line(_LOOK, words)
            self._agree.setAccessibleDescription(words)
