"""What the wheel and the Enter key do to fields and buttons of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.wheel_through import AmountBox, ChoiceBox

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def turn_wheel(over: QWidget) -> QWheelEvent:
    middle = QPointF(over.rect().center())
    buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    up = QPoint(0, 120)
    event = QWheelEvent(
        middle, over.mapToGlobal(middle), QPoint(), up, buttons, keys, phase, False
    )
    QApplication.sendEvent(over, event)
    return event


def test_the_wheel_is_left_to_the_page_and_changes_no_field_on_it(qtbot: QtBot) -> None:
    choice, amount = ChoiceBox(), AmountBox()
    choice.addItems(["one", "two"])
    choice.setCurrentIndex(1)
    for field in (choice, amount):
        qtbot.addWidget(field)
        with qtbot.waitExposed(field):
            field.show()
        field.setFocus()
        assert not turn_wheel(field).isAccepted()
    assert choice.currentIndex() == 1
    assert amount.value() == 0


def test_a_name_that_is_too_long_widens_no_page(qtbot: QtBot) -> None:
    page = PageColumn(width=760)
    other = QLabel("short")
    page.column.addWidget(QLabel("o" * 300))
    page.column.addWidget(other)
    qtbot.addWidget(page)
    page.resize(480, 300)
    with qtbot.waitExposed(page):
        page.show()
    assert page.horizontalScrollBar().maximum() == 0
    assert other.mapTo(page, other.rect().topRight()).x() < 480


def test_enter_presses_the_button_that_has_the_keyboard(qtbot: QtBot, theme: Theme) -> None:
    page = QWidget()
    button = Button("Verify", theme=theme, parent=page)
    qtbot.addWidget(page)
    with qtbot.waitSignal(button.clicked):
        QTest.keyClick(button, Qt.Key.Key_Return)
