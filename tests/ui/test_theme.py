from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.paths import resources_dir
from dflash_desktop.ui import theme as theme_module
from dflash_desktop.ui.colours import DARK, LIGHT, ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import CONTROL_HEIGHT, TextRole, Theme
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.switch import Switch

if TYPE_CHECKING:
    import pytest
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot


def controls(theme: Theme) -> list[QWidget]:
    return [
        *(Button("Send", theme=theme, kind=kind) for kind in ButtonKind),
        IconButton(IconName.COPY, "Copy", theme=theme),
        Switch("Draft", theme=theme),
        QLineEdit(),
        QComboBox(),
        QDoubleSpinBox(),
        QCheckBox("On"),
        QSlider(Qt.Orientation.Horizontal),
    ]


def test_choosing_dark_changes_colours_palette_and_tells_the_widgets(
    qtbot: QtBot, qapp: QApplication, theme: Theme
) -> None:
    with qtbot.waitSignal(theme.changed):
        theme.choose(ThemeChoice.DARK)
    assert theme.colours == DARK
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(DARK.surface)
    assert DARK.surface_raised in qapp.styleSheet()
    assert LIGHT.surface_raised not in qapp.styleSheet()


def test_the_system_is_followed_live(
    qtbot: QtBot, qapp: QApplication, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hints:
        def colorScheme(self) -> Qt.ColorScheme:  # noqa: N802  # Qt's name
            return Qt.ColorScheme.Dark

        def accessibility(self) -> object:
            return real.accessibility()

    real = qapp.styleHints()
    theme.choose(ThemeChoice.SYSTEM)
    monkeypatch.setattr(qapp, "styleHints", Hints)
    real.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.colours == DARK


def test_the_accent_of_the_system_is_respected(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theme_module, "_system_accent", lambda _app: "#8A1C7C")
    theme.choose(ThemeChoice.DARK)
    theme.choose(ThemeChoice.LIGHT)
    accent = theme.colours.accent
    monkeypatch.undo()
    theme.choose(ThemeChoice.DARK)
    theme.choose(ThemeChoice.LIGHT)
    assert accent == "#8A1C7C"
    assert theme.colours.accent == LIGHT.accent


def test_the_template_is_filled_completely(qapp: QApplication, theme: Theme) -> None:
    assert "$" not in qapp.styleSheet()
    for path in re.findall(r'url\("([^"]+)"\)', qapp.styleSheet()):
        assert (resources_dir() / "icons").as_posix() in path


def test_every_icon_exists_and_is_drawn_in_its_role(theme: Theme) -> None:
    for name in IconName:
        image = theme.icon(name, ColourRole.BAD).pixmap(32, 32).toImage()
        inks = {
            image.pixelColor(x, y).name().upper()
            for x in range(image.width())
            for y in range(image.height())
            if image.pixelColor(x, y).alpha() == 255
        }
        assert LIGHT.bad in inks, name


def test_icons_carry_their_licence() -> None:
    assert "ISC License" in (resources_dir() / "licences" / "lucide.txt").read_text("utf-8")


def test_every_control_is_high_enough_and_shows_a_focus_ring(qtbot: QtBot, theme: Theme) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    all_controls = controls(theme)
    for control in all_controls:
        layout.addWidget(control)
    other = QLineEdit()
    layout.addWidget(other)
    page.show()
    qtbot.waitExposed(page)
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    accents = (QColor(LIGHT.accent), QColor(LIGHT.text))
    for control in all_controls:
        name = f"{type(control).__name__} {control.property('kind') or ''}"
        assert control.height() >= CONTROL_HEIGHT, name
        other.setFocus()
        before = control.grab().toImage()
        control.setFocus(Qt.FocusReason.TabFocusReason)
        after = control.grab().toImage()
        assert after.size() == before.size(), f"{name} jumps"
        changed = sum(
            before.pixelColor(x, y) != after.pixelColor(x, y)
            and any(_near(after.pixelColor(x, y), accent) for accent in accents)
            for y in range(after.height())
            for x in range(after.width())
        )
        assert changed > 40, name


def _near(one: QColor, other: QColor) -> bool:
    return (
        abs(one.red() - other.red())
        + abs(one.green() - other.green())
        + abs(one.blue() - other.blue())
        < 60
    )


def test_markup_in_a_label_stays_literal(qtbot: QtBot) -> None:
    label = Label("<b>x</b>", role=TextRole.CAPTION)
    qtbot.addWidget(label)
    assert label.textFormat() is Qt.TextFormat.PlainText


def test_a_label_that_does_not_fit_tells_all_in_its_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel("a model name that is far too long for the place it has")
    qtbot.addWidget(label)
    label.resize(60, 20)
    label.grab()
    assert label.toolTip() == label.text()
    label.resize(900, 20)
    label.grab()
    assert label.toolTip() == ""
