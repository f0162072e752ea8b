"""The files of a transfer with how far each is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QHeaderView, QTableView

from dflash_desktop.ui.theme import CONTROL_HEIGHT
from dflash_desktop.ui.transfers.words import file_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.transfer import FileProgress

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_COLUMNS: Final = ("File", "Arrived")
_MOST_ROWS: Final = 6


class FileModel(QAbstractTableModel):
    """The rows; changes of numbers leave selection and scroll position alone."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files: tuple[FileProgress, ...] = ()
        self._names: tuple[str, ...] = ()

    def show_files(self, files: tuple[FileProgress, ...]) -> None:
        """Replace what is shown."""
        if files == self._files:
            return
        is_same_list = [_key(f) for f in files] == [_key(f) for f in self._files]
        if not is_same_list:
            self.beginResetModel()
        self._files = files
        self._names = self._names if is_same_list else tuple(_names(files))
        if is_same_list:
            self.dataChanged.emit(self.index(0, 1), self.index(len(files) - 1, 1))
        else:
            self.endResetModel()

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """One row a file."""
        return 0 if parent.isValid() else len(self._files)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        """Name and progress."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words for the eye, the tooltip and screen readers; never raises."""
        if not 0 <= index.row() < len(self._files):
            return None
        file = self._files[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return file_words(file) if index.column() == 1 else self._names[index.row()]
            case Qt.ItemDataRole.ToolTipRole:
                return f"{file.repo_id}: {file.path}"
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{self._names[index.row()]}, {file_words(file)}"
            case Qt.ItemDataRole.TextAlignmentRole if index.column() == 1:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case _:
                return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """The columns' names."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None


def _key(file: FileProgress) -> tuple[str, str]:
    return file.repo_id, file.path


def _names(files: tuple[FileProgress, ...]) -> Iterator[str]:
    """Of several repositories each file tells its own: all have an `openvino_model.bin`."""
    repos = {file.repo_id for file in files}
    short = {repo.rpartition("/")[2] for repo in repos}
    for file in files:
        # Two owners may have given the same name.
        repo = file.repo_id.rpartition("/")[2] if len(short) == len(repos) else file.repo_id
        yield f"{repo}/{file.path}" if len(repos) > 1 else file.path


class FileList(QTableView):
    """As high as its files, up to six rows; then it scrolls."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = FileModel(self)
        self.setModel(self._model)
        self.setAccessibleName("Files of this transfer")
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(CONTROL_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.hide()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        # The widths of 200 numbers take longer to measure than one frame has.
        header.setResizeContentsPrecision(_MOST_ROWS)

    def show_files(self, files: tuple[FileProgress, ...]) -> None:
        """Replace what is shown."""
        self._model.show_files(files)
        rows = max(1, min(_MOST_ROWS, len(files)))
        self.setFixedHeight(rows * CONTROL_HEIGHT + 2 * self.frameWidth())
