"""The look as one system: grid, type scale, colours by role, and what the system asks for."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from string import Template
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPalette

from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.paths import resources_dir
from dflash_desktop.ui.colours import (
    DARK,
    LIGHT,
    ColourRole,
    Colours,
    luminance,
    with_accent,
    with_high_contrast,
)
from dflash_desktop.ui.icons import IconName, Icons

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QWidget

# The 4 px grid.
GAP_TINY = 4
GAP_SMALL = 8
GAP_MEDIUM = 12
GAP = 16
GAP_LARGE = 24
GAP_HUGE = 32

CONTROL_HEIGHT = 32
ICON_SIZE = 16
CARD_RADIUS = 8

# The type scale in px.
SIZE_CAPTION = 12
SIZE_INTERFACE = 13
SIZE_READING = 15
SIZE_HEADING = 20
SIZE_NUMBER = 32

READING_COLUMNS = 72
"""At most so many characters in a line of reading text."""

READING_LINE_HEIGHT_PERCENT = 150


class TextRole(StrEnum):
    """What a label's words are for; `set_text_role` styles it."""

    INTERFACE = "interface"
    CAPTION = "caption"
    MUTED = "muted"
    OVERLINE = "overline"  # the small heading of a block
    STRONG = "strong"
    READING = "reading"
    HEADING = "heading"
    NUMBER = "number"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


STATE_COLOURS = {
    TextRole.MUTED: ColourRole.TEXT_MUTED,
    TextRole.GOOD: ColourRole.GOOD,
    TextRole.WARN: ColourRole.WARN,
    TextRole.BAD: ColourRole.BAD,
}
"""What is painted beside the words of a state, or instead of a label with them."""


class Theme(QObject):
    """Applies the look to an application and follows the system's wishes while it runs.

    Signals: `changed` after the colours changed; widgets that paint themselves update then.
    """

    changed = Signal()

    def __init__(
        self, application: QApplication, *, choice: ThemeChoice = ThemeChoice.SYSTEM
    ) -> None:
        super().__init__(application)
        self._application = application
        self._choice = choice
        self._template = Template((resources_dir() / "theme.qss.in").read_text(encoding="utf-8"))
        self._icons = Icons(folder=resources_dir() / "icons")
        self._colours = LIGHT
        application.setStyle("Fusion")
        application.setFont(interface_font(SIZE_INTERFACE))
        hints = application.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        hints.accessibility().contrastPreferenceChanged.connect(self._on_system_changed)
        self._apply()

    @property
    def colours(self) -> Colours:
        """The colours that are shown now."""
        return self._colours

    def colour(self, role: ColourRole) -> QColor:
        """The colour of a role, for painting."""
        return QColor(self._colours.of(role))

    def icon(
        self, name: IconName, role: ColourRole = ColourRole.TEXT, *, gap_share: float = 0.0
    ) -> QIcon:
        """An icon in the colour that a role has now; ask again after `changed`."""
        return self._icons.icon(
            name,
            colour=self._colours.of(role),
            disabled_colour=self._colours.disabled,
            gap_share=gap_share,
        )

    @property
    def choice(self) -> ThemeChoice:
        """What the person chose."""
        return self._choice

    def choose(self, choice: ThemeChoice) -> None:
        """Show light or dark, or follow the system, from now on."""
        if choice is not self._choice:
            self._choice = choice
            self._apply()

    def _on_system_changed(self) -> None:
        self._apply()

    def _apply(self) -> None:
        hints = self._application.styleHints()
        is_dark = hints.colorScheme() == Qt.ColorScheme.Dark
        if self._choice is not ThemeChoice.SYSTEM:
            is_dark = self._choice is ThemeChoice.DARK
        colours = DARK if is_dark else LIGHT
        accent = _system_accent(self._application)
        if accent is not None:
            colours = with_accent(colours, accent)
        if hints.accessibility().contrastPreference() == _HIGH_CONTRAST:
            colours = with_high_contrast(colours)
        if colours == self._colours and self._application.styleSheet():
            return
        self._colours = colours
        self._application.setPalette(palette_of(colours))
        self._application.setStyleSheet(self._style_sheet())
        self.changed.emit()

    def _style_sheet(self) -> str:
        colours = self._colours
        return self._template.substitute(
            asdict(colours),
            hover=colours.hover,
            pressed=colours.pressed,
            control_border=colours.control_border,
            accent_hover=colours.accent_hover,
            disabled=colours.disabled,
            size_caption=SIZE_CAPTION,
            size_interface=SIZE_INTERFACE,
            size_reading=SIZE_READING,
            size_heading=SIZE_HEADING,
            size_number=SIZE_NUMBER,
            on_accent="white" if luminance(colours.accent_text) > _HALF else "black",
            icons=(resources_dir() / "icons").as_posix(),
        )


_HALF = 0.5
_HIGH_CONTRAST = Qt.ContrastPreference.HighContrast


def _system_accent(application: QApplication) -> str | None:
    """The accent that the person chose in their system, or None when it names none."""
    standard = application.style().standardPalette().color(QPalette.ColorRole.Accent)
    application.setPalette(QPalette())  # shows the platform's own palette again
    accent = application.palette().color(QPalette.ColorRole.Accent)
    return None if accent == standard else accent.name().upper()


def palette_of(colours: Colours) -> QPalette:
    """The palette for what a style sheet does not reach: selections, native dialogs, Fusion."""
    role = QPalette.ColorRole
    palette = QPalette()
    for palette_role, colour in (
        (role.Window, colours.surface),
        (role.WindowText, colours.text),
        (role.Base, colours.surface),
        (role.AlternateBase, colours.surface_raised),
        (role.Text, colours.text),
        (role.PlaceholderText, colours.text_muted),
        (role.Button, colours.surface_raised),
        (role.ButtonText, colours.text),
        (role.BrightText, colours.bad),
        (role.ToolTipBase, colours.surface_raised),
        (role.ToolTipText, colours.text),
        (role.Highlight, colours.accent),
        (role.HighlightedText, colours.accent_text),
        (role.Accent, colours.accent),
        (role.Link, colours.accent),
        (role.LinkVisited, colours.accent),
        (role.Light, colours.surface),
        (role.Midlight, colours.surface_raised),
        (role.Mid, colours.border),
        (role.Dark, colours.control_border),
        (role.Shadow, colours.control_border),
    ):
        palette.setColor(palette_role, QColor(colour))
    for text_role in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, text_role, QColor(colours.disabled))
    return palette


def interface_font(size_px: int, *, tabular: bool = False, semibold: bool = False) -> QFont:
    """The system's own font; `tabular` keeps changing numbers from jumping."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(size_px)
    if tabular:
        font.setFeature(QFont.Tag("tnum"), 1)
    if semibold:
        font.setWeight(QFont.Weight.DemiBold)
    return font


def code_font(size_px: int = SIZE_INTERFACE) -> QFont:
    """The system's font with letters of one width."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(size_px)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def set_text_role(widget: QWidget, role: TextRole) -> None:
    """Style a label by what its words are for; may be called again when that changes."""
    if widget.property("text_role") != role.value:
        widget.setProperty("text_role", role.value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
