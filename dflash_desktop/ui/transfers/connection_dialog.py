"""How downloads reach the hub: its address, a proxy, certificates, a limit, and the token."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
)

from dflash_desktop.domain.setting_bounds import DOWNLOAD_LIMIT_BOUNDS
from dflash_desktop.domain.settings import SETTING_TEXTS
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label, name_label

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.settings import Settings
    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 560
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Connection:
    """What the dialog changes, as in `Settings`."""

    hub_endpoint: str
    hub_proxy: str
    hub_ca_file: Path | None
    download_limit_bytes_per_second: int | None
    use_hf_cache: bool
    use_hf_login: bool
    use_xet: bool
    no_network: bool


class ConnectionDialog(QDialog):
    """Signals: `save_requested(Connection)`, `token_requested`, `token_forgotten`."""

    save_requested = Signal(object)
    token_requested = Signal()
    token_forgotten = Signal()

    def __init__(self, *, settings: Settings, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setWindowTitle("Connection")
        self.setMinimumWidth(_WIDTH)
        self._endpoint = QLineEdit(settings.hub_endpoint)
        self._endpoint.setPlaceholderText("https://huggingface.co")
        self._proxy = QLineEdit(settings.hub_proxy)
        self._proxy.setPlaceholderText("As the system says")
        self._ca_file = QLineEdit(str(settings.hub_ca_file or ""))
        self._ca_file.setPlaceholderText("The system's certificates")
        self._ca_file.setClearButtonEnabled(True)
        self._limit = QDoubleSpinBox()
        self._limit.setRange(0.0, DOWNLOAD_LIMIT_BOUNDS.maximum / _MEGABYTE)
        self._limit.lineEdit().setTextMargins(GAP_SMALL, 0, 0, 0)
        self._limit.setDecimals(2)
        self._limit.setSuffix(" MB/s")
        self._limit.setSpecialValueText("No limit")
        self._limit.setValue((settings.download_limit_bytes_per_second or 0) / _MEGABYTE)
        self._cache = QCheckBox()
        self._cache.setChecked(settings.use_hf_cache)
        self._login = QCheckBox()
        self._login.setChecked(settings.use_hf_login)
        self._xet = QCheckBox()
        self._xet.setChecked(settings.use_xet)
        self._no_network = QCheckBox()
        self._no_network.setChecked(settings.no_network)
        self._token_words = Label("…", wraps=True)
        self._error = Label(role=TextRole.BAD, wraps=True)
        self._error.hide()
        self._lay_out()

    def show_token(self, words: str, *, has_token: bool) -> None:
        """What is known of the token; never the token itself."""
        self._token_words.show_text(words)
        self._forget.setVisible(has_token)
        self._enter.setText("Change…" if has_token else "Enter a token…")

    def show_error(self, words: str) -> None:
        """Say what cannot be right."""
        self._error.show_text(words)
        self._error.show()

    def event(self, event: QEvent) -> bool:
        """Stay as high as the words need: Qt opens no higher than two thirds of the screen."""
        is_new_size = event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest)
        is_taken = super().event(event)  # after which the dialog may be gone
        if is_new_size and (layout := self.layout()) is not None:
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))
        return is_taken

    def _lay_out(self) -> None:
        save = Button("Save", theme=self._theme, kind=ButtonKind.PRIMARY)
        save.clicked.connect(self._on_save_clicked)
        save.setDefault(True)
        cancel = Button("Cancel", theme=self._theme)
        cancel.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(save)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_LARGE, GAP_LARGE, GAP_LARGE, GAP)
        column.setSpacing(GAP_SMALL)
        column.addWidget(Label("Connection", role=TextRole.HEADING))
        column.addLayout(self._built_fields())
        boxes = (
            (self._cache, "use_hf_cache"),
            (self._login, "use_hf_login"),
            (self._xet, "use_xet"),
            (self._no_network, "no_network"),
        )
        for box, name in boxes:
            text = SETTING_TEXTS[name]
            box.setText(text.title)
            box.setToolTip(text.help)
            box.setAccessibleDescription(text.help)
            column.addWidget(box)
        column.addWidget(self._error)
        column.addSpacing(GAP_SMALL)
        column.addLayout(buttons)

    def _built_fields(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_TINY)
        grid.setColumnStretch(1, 1)
        rows = (
            ("hub_endpoint", self._endpoint),
            ("hub_proxy", self._proxy),
            ("hub_ca_file", self._ca_file),
            ("download_limit_bytes_per_second", self._limit),
        )
        for number, (name, field) in enumerate(rows):
            text = SETTING_TEXTS[name]
            label = name_label(text.title, field, explanation=text.help)
            grid.addWidget(label, 2 * number, 0)
            grid.addWidget(field, 2 * number, 1, 1, 1 if field is self._ca_file else 2)
            hint = Label(text.help, role=TextRole.CAPTION, wraps=True)
            hint.setContentsMargins(0, 0, 0, GAP_MEDIUM)  # nearer to its field than to the next
            grid.addWidget(hint, 2 * number + 1, 1, 1, 2)
        choose = Button("Choose…", theme=self._theme, icon=IconName.FOLDER_OPEN)
        choose.setAccessibleName("Choose a file with certificates")
        choose.clicked.connect(self._on_choose_clicked)
        grid.addWidget(choose, 4, 2)
        self._enter = Button("Enter a token…", theme=self._theme)
        self._enter.clicked.connect(self.token_requested)
        self._forget = Button("Forget it", theme=self._theme, kind=ButtonKind.QUIET)
        self._forget.clicked.connect(self.token_forgotten)
        self._forget.hide()
        token = QHBoxLayout()
        token.setSpacing(GAP_SMALL)
        token.addWidget(self._token_words, 1)
        token.addWidget(self._forget)
        token.addWidget(self._enter)
        grid.addWidget(Label("Access token"), 2 * len(rows), 0)
        grid.addLayout(token, 2 * len(rows), 1, 1, 2)
        return grid

    def _on_choose_clicked(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self,
            "Choose a file with certificates",
            "",
            "Certificates (*.pem *.crt);;All files (*)",
        )
        if path:
            self._ca_file.setText(path)

    def _on_save_clicked(self) -> None:
        file = self._ca_file.text().strip()
        limit = self._limit.value()
        self.save_requested.emit(
            Connection(
                hub_endpoint=self._endpoint.text().strip(),
                hub_proxy=self._proxy.text().strip(),
                hub_ca_file=Path(file).expanduser() if file else None,
                download_limit_bytes_per_second=round(limit * _MEGABYTE) if limit else None,
                use_hf_cache=self._cache.isChecked(),
                use_hf_login=self._login.isChecked(),
                use_xet=self._xet.isChecked(),
                no_network=self._no_network.isChecked(),
            )
        )
