"""A page that scrolls: one column of limited width in the middle."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from dflash_desktop.ui.theme import GAP, GAP_HUGE, GAP_LARGE
from dflash_desktop.ui.widgets.tab_order import order_tabs


class PageColumn(QScrollArea):
    """Add the page's widgets to `column`; it is at most `width` px wide."""

    def __init__(self, *, width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Tab goes to the controls in the page; the wheel and the controls' focus scroll it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._page = page = QWidget()
        page.setProperty("surface", "page")
        # As wide as the window whatever stands on it: a name that is too long is cut off itself,
        # and not everything else on the page with it.
        page.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        middle = QWidget()
        middle.setMaximumWidth(width)
        row = QHBoxLayout(page)
        row.setContentsMargins(GAP_LARGE, GAP_HUGE, GAP_LARGE, GAP_LARGE)
        row.addStretch(1)
        row.addWidget(middle, 1000)
        row.addStretch(1)
        self.column = QVBoxLayout(middle)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(GAP)
        self.setWidget(page)

    def order_tabs(self) -> None:
        """Let Tab go from top to bottom; for pages that add or move something later."""
        order_tabs(self._page)
