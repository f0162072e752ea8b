"""About this program: what it is, its keys, its versions, and the licences of what it contains."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from dflash_desktop import __version__
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pages import NAVIGATION
from dflash_desktop.ui.theme import (
    GAP,
    GAP_LARGE,
    GAP_SMALL,
    GAP_TINY,
    SIZE_CAPTION,
    TextRole,
    code_font,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import QIcon

    from dflash_desktop.ui.theme import Theme

_SIZE = (640, 520)
_LOGO_SIZE = 48
_PACKAGES = ("openvino", "openvino-genai", "openvino-tokenizers")
_KEYS = (
    ("New chat", "Ctrl+N"),
    ("Search the conversations", "Ctrl+K"),
    ("The pages, from top to bottom", f"Ctrl+1 to {len(NAVIGATION)}"),
    ("Show or hide the conversations", "Ctrl+B"),
    ("Send a message", "Enter"),
    ("New line in a message", "Shift+Enter"),
    ("Stop the answer", "Esc"),
    ("Rename, delete a conversation", "F2, Del"),
    ("Load, remove a model of the list", "Enter, Del"),
    ("Move a transfer up or down", "Alt+Up, Alt+Down"),
    ("Quit", "Ctrl+Q"),
)


def version_facts() -> tuple[tuple[str, str], ...]:
    """Names and versions of this program and what it stands on; loads none of it."""
    facts = [("DFlash Desktop", __version__), ("Python", platform.python_version())]
    facts.append(("Qt", qVersion()))
    for package in _PACKAGES:
        try:
            facts.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            facts.append((package, "not installed"))
    facts.append(("System", platform.platform(terse=True)))
    return tuple(facts)


class AboutDialog(QDialog):
    """Shows one tab each for the keys, the versions, updates and the licences.

    Signals: `setup_requested`, `report_requested`.
    """

    setup_requested = Signal()
    report_requested = Signal()

    def __init__(
        self,
        *,
        theme: Theme,
        logo: QIcon,
        licences: Mapping[str, str],
        updates: tuple[str, ...],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._facts = version_facts()
        self.setWindowTitle("About DFlash Desktop")
        self.resize(*_SIZE)
        mark = QLabel()
        mark.setPixmap(logo.pixmap(_LOGO_SIZE, _LOGO_SIZE))
        words = QVBoxLayout()
        words.setSpacing(GAP_TINY)
        words.addWidget(Label(f"DFlash Desktop {__version__}", role=TextRole.HEADING))
        words.addWidget(
            Label(
                "Chats with language models on this computer, sped up by DFlash drafts whose "
                "worth is measured here. Nothing that you write leaves this computer.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        top = QHBoxLayout()
        top.setSpacing(GAP)
        top.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(words, 1)
        tabs = QTabWidget()
        tabs.addTab(_fact_page(_KEYS), "Keys")
        tabs.addTab(self._built_versions(), "Versions")
        tabs.addTab(_text_page(updates), "Updates")
        tabs.addTab(_licence_page(licences), "Licences")
        close = Button("Close", theme=theme)
        close.clicked.connect(self.accept)
        set_up = Button("Set up…", theme=theme)
        set_up.setToolTip("What this machine can run, and getting a model for it")
        set_up.clicked.connect(self.accept)
        set_up.clicked.connect(self.setup_requested)
        bottom = QHBoxLayout()
        report = Button("Report a problem…", theme=theme)
        report.setToolTip("The logs, and a file to send with everything private masked")
        report.clicked.connect(self.accept)
        report.clicked.connect(self.report_requested)
        bottom.addWidget(set_up)
        bottom.addWidget(report)
        bottom.addStretch(1)
        bottom.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_LARGE, GAP_LARGE, GAP_LARGE, GAP)
        column.setSpacing(GAP)
        column.addLayout(top)
        column.addWidget(tabs, 1)
        column.addLayout(bottom)

    def _built_versions(self) -> QWidget:
        page = _fact_page(self._facts)
        copy = Button("Copy", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.COPY)
        copy.clicked.connect(self._on_copy_clicked)
        layout = page.layout()
        if layout is not None:
            layout.addWidget(copy)
        return page

    def _on_copy_clicked(self) -> None:
        text = "\n".join(f"{name}: {value}" for name, value in self._facts)
        QGuiApplication.clipboard().setText(text)


def _fact_page(facts: tuple[tuple[str, str], ...]) -> QWidget:
    page = QWidget()
    grid = QGridLayout(page)
    grid.setContentsMargins(0, GAP, 0, GAP)
    grid.setHorizontalSpacing(GAP_LARGE)
    grid.setVerticalSpacing(GAP_SMALL)
    grid.setColumnStretch(1, 1)
    for number, (name, value) in enumerate(facts):
        grid.addWidget(Label(name, role=TextRole.MUTED), number, 0)
        words = Label(value, wraps=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(words, number, 1)
    grid.setRowStretch(len(facts), 1)
    return page


def _text_page(paragraphs: tuple[str, ...]) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, GAP, 0, GAP)
    column.setSpacing(GAP)
    for paragraph in paragraphs:
        words = Label(paragraph, wraps=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(words)
    column.addStretch(1)
    return page


def _licence_page(licences: Mapping[str, str]) -> QWidget:
    page = QWidget()
    text = QPlainTextEdit()
    text.setReadOnly(True)
    text.setFont(code_font(SIZE_CAPTION))
    text.setAccessibleName("Licences")
    text.setTabChangesFocus(True)
    text.setPlainText("\n\n".join(f"{name}\n\n{words}" for name, words in licences.items()))
    column = QVBoxLayout(page)
    column.setContentsMargins(0, GAP, 0, 0)
    column.addWidget(text)
    return page
