"""One pair to choose in the setup: what it is good at, whether it fits, how that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.fold import Fold
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.memory_bar import LabelledMemoryBar
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent

    from dflash_desktop.ui.theme import Theme
    from dflash_desktop.ui.wizard.choice_words import ChoiceContent


class ChoiceCard(SurfaceFrame):
    """Stays the same widget while its content changes, so that the keyboard keeps its place.

    Signals: `chosen(pair_id)`.
    """

    chosen = Signal(str)

    def __init__(self, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._theme = theme
        self._content: ChoiceContent | None = None
        self.radio = QRadioButton()
        self.radio.setProperty("kind", "title")
        self.radio.clicked.connect(self._on_clicked)
        self.radio.toggled.connect(self._on_toggled)
        self._badges = QHBoxLayout()
        self._badges.setSpacing(GAP_TINY)
        self._good_at = Label(wraps=True)
        self._fit = Label(role=TextRole.STRONG, wraps=True)
        self._bar = LabelledMemoryBar("Memory that it takes", theme=theme)
        self._speed = Label(role=TextRole.CAPTION, wraps=True)
        self._origin = Label(role=TextRole.CAPTION, wraps=True)
        self._why_not = Label(role=TextRole.WARN, wraps=True)
        self._reasons = QVBoxLayout()
        self._reasons.setSpacing(GAP_TINY)
        self._page = Button(
            "Its page", theme=theme, kind=ButtonKind.LINK, icon=IconName.EXTERNAL_LINK
        )
        self._page.clicked.connect(self._on_page_clicked)
        self._why = Fold("Why?", self._built_why(), theme=theme)
        self._lay_out()

    @property
    def pair_id(self) -> str:
        """The pair that the card is about."""
        return "" if self._content is None else self._content.pair_id

    @property
    def content(self) -> ChoiceContent | None:
        """What the card says now."""
        return self._content

    @property
    def fold_button(self) -> Button:
        """What opens the reasons."""
        return self._why.button

    def show_content(self, content: ChoiceContent) -> None:
        """Say this from now on."""
        if content == self._content:
            return
        self._content = content
        self.radio.setText(content.title.replace("&", "&&"))
        self.radio.setAccessibleName(content.title)
        said = (content.good_at, content.fit, content.speed, content.origin, content.why_not)
        self.radio.setAccessibleDescription(". ".join(words for words in said if words))
        self._good_at.show_text(content.good_at)
        self._fit.show_text(content.fit, role=TextRole.BAD if content.is_too_big else None)
        self._fit.setVisible(bool(content.fit))
        self._bar.show_parts(content.parts, limit_bytes=content.usable_bytes)
        self._bar.setVisible(bool(content.parts))
        for label, words in (
            (self._speed, content.speed),
            (self._origin, content.origin),
            (self._why_not, "" if content.is_too_big else content.why_not),
        ):
            label.show_text(words)
            label.setVisible(bool(words))
        self._show_badges(content.badges)
        self._show_reasons(content)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The whole card chooses."""
        super().mousePressEvent(event)
        if self.radio.isEnabled():
            self.radio.setFocus()
            self.radio.click()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GAP_SMALL)
        top.addWidget(self.radio, 1)
        top.addLayout(self._badges)
        inner = QVBoxLayout()
        inner.setContentsMargins(GAP_LARGE, 0, 0, 0)
        inner.setSpacing(GAP_SMALL)
        for widget in (
            self._good_at,
            self._bar,
            self._fit,
            self._speed,
            self._origin,
            self._why_not,
            self._why,
        ):
            inner.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_MEDIUM, GAP_MEDIUM, GAP, GAP_SMALL)
        column.setSpacing(GAP_TINY)
        column.addLayout(top)
        column.addLayout(inner)

    def _built_why(self) -> QWidget:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setSpacing(GAP_SMALL)
        column.addLayout(self._reasons)
        row = QHBoxLayout()
        row.addWidget(self._page)
        row.addStretch(1)
        column.addLayout(row)
        return content

    def _show_badges(self, badges: tuple[str, ...]) -> None:
        empty_layout(self._badges)
        for words in badges:
            badge = Label(words, role=TextRole.CAPTION)
            badge.setProperty("kind", "badge")
            self._badges.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)

    def _show_reasons(self, content: ChoiceContent) -> None:
        empty_layout(self._reasons)
        lines = [f"•  {reason}." for reason in content.reasons]
        lines += [
            f"•  {part.words[:1].upper()}{part.words[1:]}: {part.explanation}"
            for part in content.parts
        ]
        for line in lines:
            self._reasons.addWidget(Label(line, role=TextRole.CAPTION, wraps=True))
        self._page.setVisible(bool(content.link))
        self._page.setToolTip(content.link)

    def _on_toggled(self, is_chosen: bool) -> None:
        self.setProperty("chosen", is_chosen)
        self.style().unpolish(self)
        self.style().polish(self)

    def _on_clicked(self) -> None:
        self.chosen.emit(self.pair_id)

    def _on_page_clicked(self) -> None:
        if self._content is not None:
            QDesktopServices.openUrl(QUrl(self._content.link))
