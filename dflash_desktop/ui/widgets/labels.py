"""Labels: one styled by role, the name of a field, one that shortens what does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy

from dflash_desktop.ui.theme import TextRole, set_text_role

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QWidget


class Label(QLabel):
    """Plain text in one of the roles of the type scale; markup in the text stays literal."""

    def __init__(
        self,
        text: str = "",
        *,
        role: TextRole = TextRole.INTERFACE,
        wraps: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wraps)
        self.setText(text)
        set_text_role(self, role)

    def show_text(self, text: str, *, role: TextRole | None = None) -> None:
        """Change the words, and their role if one is given."""
        if role is not None:
            set_text_role(self, role)
        if text != self.text():
            self.setText(text)


def name_label(name: str, field: QWidget, *, explanation: str = "") -> Label:
    """The name beside a field; whoever cannot see where it stands hears it, and what it means."""
    label = Label(name)
    label.setBuddy(field)
    field.setAccessibleName(name)
    field.setAccessibleDescription(explanation)
    return label


class ElidedLabel(Label):
    """One line that ends in "…" when it does not fit; the whole text is its tooltip then.

    With `has_own_tip` the tooltip is what whoever made it says.
    """

    def __init__(
        self,
        text: str = "",
        *,
        role: TextRole = TextRole.INTERFACE,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        has_own_tip: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, role=role, parent=parent)
        self._mode = mode
        self._has_own_tip = has_own_tip
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters at least."""
        return QSize(
            self.fontMetrics().horizontalAdvance("M…"), super().minimumSizeHint().height()
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shortened text."""
        line = " ".join(self.text().split())
        shown = self.fontMetrics().elidedText(line, self._mode, self.contentsRect().width())
        tip = line if shown != line else ""
        if not self._has_own_tip and self.toolTip() != tip:
            self.setToolTip(tip)
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), self.alignment(), shown)
        painter.end()
