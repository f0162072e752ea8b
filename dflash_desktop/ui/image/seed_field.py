"""The seed: a number that can be kept, or thrown anew for each picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRegularExpression
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from dflash_desktop.domain.picture_request import MAX_SEED, new_seed
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_TINY
from dflash_desktop.ui.widgets.buttons import IconButton

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

_KEPT: Final = "The seed stays: the same settings make the same picture again"
_THROWN: Final = "A new seed for each picture; press to keep this one"


class SeedField(QWidget):
    """A spin box cannot hold 32 bits, so it is a line of digits."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self.field = QLineEdit(str(new_seed()))
        self.field.setAccessibleName("Seed")
        self.field.setAccessibleDescription("A number that decides the chances in a picture")
        digits = QRegularExpression("[0-9]{1,10}")
        self.field.setValidator(QRegularExpressionValidator(digits, self.field))
        self.field.textEdited.connect(lambda _: self.keep(True))
        self._dice = IconButton(IconName.DICES, "Throw a new seed", theme=theme)
        self._dice.setProperty("kind", "outlined")
        self._dice.clicked.connect(self._throw)
        self._lock = IconButton(IconName.LOCK_OPEN, _THROWN, theme=theme)
        self._lock.setProperty("kind", "outlined")
        self._lock.setCheckable(True)
        self._lock.toggled.connect(self._on_locked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP_TINY)
        row.addWidget(self.field, 1)
        row.addWidget(self._dice)
        row.addWidget(self._lock)

    @property
    def value(self) -> int:
        """The seed, as it is written; an empty field is 0."""
        return int(self.field.text() or 0)

    @property
    def is_kept(self) -> bool:
        """Whether the next picture gets the same one."""
        return self._lock.isChecked()

    def keep(self, is_kept: bool) -> None:
        """Keep this seed, or throw one for each picture."""
        self._lock.setChecked(is_kept)

    def show_seed(self, seed: int, *, is_kept: bool) -> None:
        """Write a seed into it."""
        self.field.setText(str(min(seed, MAX_SEED)))
        self.keep(is_kept)

    def use(self) -> int:
        """The seed for what is asked for now; throws the next one unless it is kept."""
        seed = self.value
        if not self.is_kept:
            self.field.setText(str(new_seed()))
        return seed

    def _throw(self) -> None:
        self.field.setText(str(new_seed()))

    def _on_locked(self, is_locked: bool) -> None:
        self._lock.show_icon(IconName.LOCK if is_locked else IconName.LOCK_OPEN)
        self._lock.show_label(_KEPT if is_locked else _THROWN)
