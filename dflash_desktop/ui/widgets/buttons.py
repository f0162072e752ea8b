"""Buttons in the kinds that the style sheet knows; their icons follow the theme."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QToolButton

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import GAP_SMALL, ICON_SIZE

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.icons import IconName
    from dflash_desktop.ui.theme import Theme


_ICON_GAP_SHARE = 0.25
"""Qt puts words right beside an icon, and style sheets cannot change that."""


_ICON_AND_GAP = QSize(ICON_SIZE + GAP_SMALL, ICON_SIZE)
"""The style leaves 2 px between icon and words; an icon drawn in the middle of this leaves 6."""


class ButtonKind(StrEnum):
    """How much a button asks for attention; one primary button at most in a view."""

    NORMAL = "normal"
    PRIMARY = "primary"
    QUIET = "quiet"
    LINK = "link"


class Button(QPushButton):
    """A button with words, and an icon if one is given."""

    def __init__(
        self,
        text: str,
        *,
        theme: Theme,
        kind: ButtonKind = ButtonKind.NORMAL,
        icon: IconName | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._icon = icon
        self._ink = _ink_of(kind)
        self.setProperty("kind", kind.value)
        # Without this Qt lets Enter press the focused button in dialogs only, not in a page.
        self.setAutoDefault(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(round(ICON_SIZE * (1 + _ICON_GAP_SHARE)), ICON_SIZE))
        self._draw_icon()
        theme.changed.connect(self._draw_icon)

    def show_icon(self, icon: IconName) -> None:
        """Change the icon."""
        self._icon = icon
        self._draw_icon()

    def _draw_icon(self) -> None:
        if self._icon is not None:
            self.setIcon(self._theme.icon(self._icon, self._ink, gap_share=_ICON_GAP_SHARE))


class IconButton(QToolButton):
    """A button with only an icon; `label` is its name for screen readers and its tooltip."""

    def __init__(
        self,
        icon: IconName,
        label: str,
        *,
        theme: Theme,
        role: ColourRole = ColourRole.TEXT_MUTED,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = icon
        self._role = role
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        self.show_label(label)
        self._draw_icon()
        theme.changed.connect(self._draw_icon)

    def show_label(self, label: str) -> None:
        """Change the name and the tooltip."""
        self.setAccessibleName(label)
        self.setToolTip(label)

    def show_icon(self, icon: IconName, *, role: ColourRole | None = None) -> None:
        """Change the icon, and its colour if one is given."""
        self._icon = icon
        self._role = role or self._role
        self._draw_icon()

    def _draw_icon(self) -> None:
        self.setIcon(self._theme.icon(self._icon, self._role))


def _ink_of(kind: ButtonKind) -> ColourRole:
    match kind:
        case ButtonKind.PRIMARY:
            return ColourRole.ACCENT_TEXT
        case ButtonKind.LINK:
            return ColourRole.ACCENT
        case ButtonKind.NORMAL | ButtonKind.QUIET:
            return ColourRole.TEXT
