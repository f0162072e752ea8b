"""The bar at the top: which model, on what device, what the draft does, colours and help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QIcon
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu

from dflash_desktop.domain.generation import DraftState
from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.domain.units import format_speedup
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.ui.theme import Theme

_HEIGHT = 52
_LOGO_SIZE = 24
_PICKER_WIDTH = 236
_NAME_FROM_WIDTH = 900
_DEVICE_FROM_WIDTH = 1000
NO_MODEL = "No model loaded"


@dataclass(frozen=True, slots=True)
class DraftBadge:
    """What the draft does for the next answer, and the measured speed-up if there is one."""

    state: DraftState
    reason: str
    speedup: float | None = None

    @property
    def text(self) -> str:
        """The badge's words: "draft on · 2.40x"."""
        words = f"draft {self.state.value}"
        if self.state is DraftState.ON and self.speedup is not None:
            return f"{words} · {format_speedup(self.speedup)}"
        return words


_BADGE_LOOK = {
    DraftState.ON: (IconName.ZAP, ColourRole.GOOD),
    DraftState.RESTING: (IconName.PAUSE, ColourRole.TEXT_MUTED),
    DraftState.OFF: (IconName.ZAP_OFF, ColourRole.TEXT_MUTED),
}
_THEME_LABELS = {
    ThemeChoice.SYSTEM: ("Like the system", IconName.MONITOR),
    ThemeChoice.LIGHT: ("Light", IconName.SUN),
    ThemeChoice.DARK: ("Dark", IconName.MOON),
}


class Header(SurfaceFrame):
    """The bar at the top of the window.

    Signals: `pair_chosen(id)`, `models_requested`, `setup_requested`, `measure_requested`,
    `theme_chosen(Theme)`, `about_requested`, `sidebar_requested` (show or hide the left side).
    """

    pair_chosen = Signal(str)
    models_requested = Signal()
    setup_requested = Signal()
    measure_requested = Signal()
    theme_chosen = Signal(ThemeChoice)
    about_requested = Signal()
    sidebar_requested = Signal()

    def __init__(self, *, theme: Theme, logo: QIcon, parent: QWidget | None = None) -> None:
        super().__init__(Surface.PANEL, parent)
        self._theme = theme
        self._pairs: tuple[PairFolders, ...] = ()
        self._current_id = ""
        self._badge: DraftBadge | None = None
        fold = IconButton(IconName.PANEL_LEFT, "Show or hide the conversations", theme=theme)
        fold.clicked.connect(self.sidebar_requested)
        mark = QLabel()
        mark.setPixmap(logo.pixmap(_LOGO_SIZE, _LOGO_SIZE))
        self._name = Label("DFlash Desktop", role=TextRole.STRONG)
        self._picker = Button(NO_MODEL, theme=theme, icon=IconName.CHEVRON_DOWN)
        # The icon stands behind the words, where a drop-down has it.
        self._picker.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._picker.setMaximumWidth(_PICKER_WIDTH)
        self._picker.setAccessibleName("Model")
        self._picker.clicked.connect(self._open_picker)
        self._device = ElidedLabel(role=TextRole.CAPTION)
        self._badge_button = Button("", theme=theme, kind=ButtonKind.QUIET)
        self._badge_button.clicked.connect(self.measure_requested)
        self._theme_button = IconButton(IconName.MONITOR, "Colours", theme=theme)
        self._theme_button.clicked.connect(self._open_theme_menu)
        about = IconButton(IconName.HELP, "About and help", theme=theme)
        about.clicked.connect(self.about_requested)

        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_SMALL, 0, GAP, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(fold)
        row.addWidget(mark)
        row.addWidget(self._name)
        row.addSpacing(GAP)
        row.addWidget(self._picker)
        row.addWidget(self._device, 3)
        row.addStretch(1)
        row.addWidget(self._badge_button)
        row.addWidget(self._theme_button)
        row.addWidget(about)
        self.setFixedHeight(_HEIGHT)
        theme.changed.connect(self._draw)
        self.show_badge(None)
        self._draw()

    def show_pairs(self, pairs: tuple[PairFolders, ...], current_id: str) -> None:
        """The pairs that can be chosen, and which of them is loaded ("" for none)."""
        self._pairs = pairs
        self._current_id = current_id
        title = next((p.title for p in pairs if p.id == current_id), NO_MODEL)
        shown = self._picker.fontMetrics().elidedText(
            title, Qt.TextElideMode.ElideMiddle, _PICKER_WIDTH - 64
        )
        self._picker.setText(shown)
        self._picker.setToolTip(f"{title}. Choose another model." if current_id else "")
        self._picker.setAccessibleDescription(title)

    def show_device(self, name: str) -> None:
        """The device of the loaded model, or "" for none."""
        self._device.show_text(name)

    def show_badge(self, badge: DraftBadge | None) -> None:
        """What the draft does; None when no model is loaded."""
        self._badge = badge
        self._badge_button.setVisible(badge is not None)
        if badge is not None:
            self._badge_button.setText(badge.text)
            self._badge_button.setToolTip(f"{badge.reason}\nOpen the measurements.".strip())
            self._badge_button.setAccessibleDescription(badge.reason)
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what can be read elsewhere when there is no room."""
        super().resizeEvent(event)
        self._name.setVisible(self.width() >= _NAME_FROM_WIDTH)
        self._device.setVisible(self.width() >= _DEVICE_FROM_WIDTH)

    def picker_menu(self) -> QMenu:
        """The menu of pairs, as it is now."""
        menu = QMenu(self)
        for pair in self._pairs:
            action = menu.addAction(pair.title.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(pair.id == self._current_id)
            action.setToolTip(pair.note)
            action.triggered.connect(lambda _, pair_id=pair.id: self.pair_chosen.emit(pair_id))
        if self._pairs:
            menu.addSeparator()
        menu.addAction("All models…", self.models_requested.emit)
        menu.addAction("Set up…", self.setup_requested.emit)
        return menu

    def theme_menu(self) -> QMenu:
        """The menu of colour sets, as it is now."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        for choice, (label, icon) in _THEME_LABELS.items():
            action = QAction(self._theme.icon(icon), label, group)
            action.setCheckable(True)
            action.setChecked(choice is self._theme.choice)
            action.triggered.connect(lambda _, choice=choice: self.theme_chosen.emit(choice))
            menu.addAction(action)
        return menu

    def _open_picker(self) -> None:
        _popup_below(self.picker_menu(), self._picker)

    def _open_theme_menu(self) -> None:
        _popup_below(self.theme_menu(), self._theme_button)

    def _draw(self) -> None:
        self._theme_button.show_icon(_THEME_LABELS[self._theme.choice][1])
        if self._badge is not None:
            icon, role = _BADGE_LOOK[self._badge.state]
            self._badge_button.setIcon(self._theme.icon(icon, role))


def _popup_below(menu: QMenu, button: QWidget) -> None:
    menu.setMinimumWidth(button.width())
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
