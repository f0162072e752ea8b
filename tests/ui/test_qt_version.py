"""The installed Qt binding does not eat references to None (PySide6 6.12.0 below Python 3.12)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_calls_that_return_nothing_cost_no_reference_to_none(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    label.setText("warm up")
    before = sys.getrefcount(None)

    for number in range(200):
        label.setText(str(number))

    # A leaking binding loses one for each call; other code may move the count a little.
    assert sys.getrefcount(None) > before - 100
