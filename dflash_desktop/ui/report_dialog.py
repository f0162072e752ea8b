"""The logs, and what would be sent with them: shown whole before anything is saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QSplitter,
    QVBoxLayout,
)

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_SMALL, TextRole, code_font
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

_SIZE: Final = (860, 600)
_NAMES_WIDTH: Final = 260
_WORDS: Final = (
    "This is everything that the report holds; nothing is sent. Your name, your folders, tokens "
    "and addresses are masked, and no conversation, setting or picture is in it. Read it, save "
    "it, and send it, with what you did before, to those who gave you the program."
)


class ReportDialog(QDialog):
    """Signals: `save_requested(Path)`, `refresh_requested`, `folder_requested`."""

    save_requested = Signal(object)
    refresh_requested = Signal()
    folder_requested = Signal()

    def __init__(self, *, theme: Theme, file_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._file_name = file_name
        self._texts: list[str] = []
        self.setWindowTitle("Report a problem")
        self.resize(*_SIZE)
        self._names = QListWidget()
        self._names.setAccessibleName("Files of the report")
        self._names.currentRowChanged.connect(self._on_row_changed)
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setFont(code_font())
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setAccessibleName("The chosen file")
        self._status = Label("Collecting…", role=TextRole.CAPTION, wraps=True)
        self._lay_out()

    def show_files(self, files: Sequence[tuple[str, str]]) -> None:
        """Names and texts; the file that is being read stays chosen."""
        chosen = self._names.currentItem()
        wanted = chosen.text() if chosen is not None else ""
        self._texts = [text for _, text in files]
        names = [name for name, _ in files]
        self._names.clear()
        self._names.addItems(names)
        self._names.setCurrentRow(names.index(wanted) if wanted in names else 0)
        count = len(files)
        self._status.show_text(f"{count} files" if count != 1 else "1 file")
        self._save.setEnabled(bool(files))

    def show_saved(self, file: Path) -> None:
        """It is on the disk."""
        self._status.show_text(f"Saved: {file}")

    def show_error(self, words: str) -> None:
        """It is not."""
        self._status.show_text(words)

    def _lay_out(self) -> None:
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self._names)
        split.addWidget(self._text)
        split.setSizes([_NAMES_WIDTH, _SIZE[0] - _NAMES_WIDTH])
        split.setStretchFactor(1, 1)
        refresh = Button(
            "Read again", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.REFRESH
        )
        refresh.clicked.connect(self.refresh_requested)
        folder = Button(
            "Open log folder", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.FOLDER_OPEN
        )
        folder.clicked.connect(self.folder_requested)
        close = Button("Close", theme=self._theme)
        close.clicked.connect(self.reject)
        self._save = Button("Save the report…", theme=self._theme, kind=ButtonKind.PRIMARY)
        self._save.setEnabled(False)
        self._save.clicked.connect(self._on_save_clicked)
        bottom = QHBoxLayout()
        bottom.setSpacing(GAP_SMALL)
        bottom.addWidget(refresh)
        bottom.addWidget(folder)
        bottom.addStretch(1)
        bottom.addWidget(close)
        bottom.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_LARGE, GAP_LARGE, GAP_LARGE, GAP)
        column.setSpacing(GAP_SMALL)
        column.addWidget(Label("Report a problem", role=TextRole.HEADING))
        column.addWidget(Label(_WORDS, role=TextRole.MUTED, wraps=True))
        column.addWidget(split, 1)
        column.addWidget(self._status)
        column.addLayout(bottom)

    def _on_row_changed(self, row: int) -> None:
        self._text.setPlainText(self._texts[row] if 0 <= row < len(self._texts) else "")

    def _on_save_clicked(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "Save the report", self._file_name, "Zip files (*.zip)"
        )
        if path:
            self.save_requested.emit(Path(path))
