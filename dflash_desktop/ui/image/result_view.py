"""One picture of the gallery with all its settings, and what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.image.words import picture_rows, picture_title
from dflash_desktop.ui.pair.fact_rows import FactRows
from dflash_desktop.ui.pictures.canvas import PictureCanvas
from dflash_desktop.ui.pictures.viewer import MAX_ALT_TEXT_CHARACTERS
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label, name_label

if TYPE_CHECKING:
    from PySide6.QtGui import QImage, QKeyEvent

    from dflash_desktop.services.gallery_store import GalleryEntry
    from dflash_desktop.ui.theme import Theme

_FACTS_HEIGHT: Final = 200
_LEAST_HEIGHT: Final = 104


class ResultView(QWidget):
    """Signals: `back_requested`, `step_requested(±1)`, `full_view_requested`,
    `again_requested(keeps_seed)`, `source_requested`, `copy_requested`, `save_requested`,
    `delete_requested`, `compare_requested`, `alt_text_changed(str)`, `ask_requested`.
    """

    back_requested = Signal()
    step_requested = Signal(int)
    full_view_requested = Signal()
    again_requested = Signal(bool)
    source_requested = Signal()
    copy_requested = Signal()
    save_requested = Signal()
    delete_requested = Signal()
    compare_requested = Signal()
    ask_requested = Signal()
    alt_text_changed = Signal(str)

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.entry: GalleryEntry | None = None
        self.canvas = PictureCanvas(theme=theme)
        self.canvas.setMinimumHeight(_LEAST_HEIGHT)
        self.canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.canvas.setToolTip("Double click for the full view")
        self.canvas.installEventFilter(self)
        self._title = ElidedLabel(role=TextRole.STRONG)
        self._place = Label(role=TextRole.MUTED)
        self._previous = IconButton(IconName.CHEVRON_LEFT, "Newer picture (Left)", theme=theme)
        self._next = IconButton(IconName.CHEVRON_RIGHT, "Older picture (Right)", theme=theme)
        self._previous.clicked.connect(lambda: self.step_requested.emit(-1))
        self._next.clicked.connect(lambda: self.step_requested.emit(1))
        self._alt = QLineEdit()
        self._alt.setMaxLength(MAX_ALT_TEXT_CHARACTERS)
        self._alt.setPlaceholderText("What is on it, for people who cannot see it")
        self._alt.editingFinished.connect(self._on_alt_edited)
        self._facts = QScrollArea()
        self._facts.setWidgetResizable(True)
        self._facts.setFrameShape(QFrame.Shape.NoFrame)
        self._facts.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._facts.setMaximumHeight(_FACTS_HEIGHT)
        self._buttons = self._built_buttons()
        self._lay_out()

    def show_entry(self, entry: GalleryEntry, *, place: int, count: int) -> None:
        """Show what is known of a picture; its pixels come with `show_levels`."""
        self.entry = entry
        picture = entry.picture
        self._title.show_text(picture_title(picture))
        self._place.show_text(f"{place + 1} of {count}")
        self._previous.setEnabled(place > 0)
        self._next.setEnabled(place < count - 1)
        rows = (("File", entry.path.name),) if picture is None else picture_rows(picture)
        facts = FactRows(rows)
        facts.setProperty("surface", "page")
        facts.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._facts.setWidget(facts)
        self._facts.setMaximumHeight(min(_FACTS_HEIGHT, facts.sizeHint().height() + GAP))
        self._alt.setText("" if picture is None else picture.alt_text)
        self._alt.setEnabled(picture is not None)
        for button in self._needs_settings:
            button.setEnabled(picture is not None)
            tip = "" if picture is not None else "Nothing is known of how it was made."
            button.setToolTip(tip or button.accessibleDescription())
        self.canvas.setAccessibleName(self._alt.text() or picture_title(picture))
        self._copy.setText("Copy")
        self.canvas.show_levels(())

    def show_levels(self, levels: tuple[QImage, ...]) -> None:
        """The picture itself, as `read_levels` gives it; empty if it cannot be read."""
        self.canvas.show_levels(levels, is_missing=not levels)
        self._copy.setEnabled(bool(levels))

    def show_copied(self) -> None:
        """Say that it is in the clipboard."""
        self._copy.setText("Copied")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A double click opens the full view."""
        if watched is self.canvas and event.type() == QEvent.Type.MouseButtonDblClick:
            self.full_view_requested.emit()
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go on, Esc goes back, Delete removes, Enter opens the full view."""
        key = Qt.Key
        match event.key():
            case key.Key_Left:
                self.step_requested.emit(-1)
            case key.Key_Right:
                self.step_requested.emit(1)
            case key.Key_Escape:
                self.back_requested.emit()
            case key.Key_Delete:
                self.delete_requested.emit()
            case key.Key_Return | key.Key_Enter:
                self.full_view_requested.emit()
            case _:
                super().keyPressEvent(event)

    def _on_alt_edited(self) -> None:
        picture = None if self.entry is None else self.entry.picture
        if picture is not None and self._alt.text().strip() != picture.alt_text:
            self.canvas.setAccessibleName(self._alt.text() or picture_title(picture))
            self.alt_text_changed.emit(self._alt.text())

    def _built_buttons(self) -> FlowRow:
        again = self._button("Make again", "Fill the form with these settings and this seed")
        again.clicked.connect(lambda: self.again_requested.emit(True))
        vary = self._button("Vary", "Fill the form with these settings; the seed is a new one")
        vary.clicked.connect(lambda: self.again_requested.emit(False))
        self._needs_settings = (again, vary)
        source = self._button("Use as input", "Begin a new picture with this one")
        source.clicked.connect(self.source_requested)
        compare = self._button("Compare…", "Put it beside another one")
        compare.clicked.connect(self.compare_requested)
        self._copy = self._button("Copy", "Copy the picture", icon=IconName.COPY)
        self._copy.clicked.connect(self.copy_requested)
        save = self._button("Save as…", "Save a copy, with its settings inside")
        save.clicked.connect(self.save_requested)
        ask = self._button("Ask in the chat", "Go to the chat, where a model can look at pictures")
        ask.clicked.connect(self.ask_requested)
        delete = self._button("Delete", "Remove it; this can be undone", icon=IconName.TRASH)
        delete.clicked.connect(self.delete_requested)
        self._all_buttons = (again, vary, source, compare, self._copy, save, ask, delete)
        return FlowRow(*self._all_buttons)

    def _button(self, words: str, explanation: str, *, icon: IconName | None = None) -> Button:
        button = Button(words, theme=self._theme, kind=ButtonKind.QUIET, icon=icon)
        button.setAccessibleDescription(explanation)
        button.setToolTip(explanation)
        return button

    def _lay_out(self) -> None:
        back = Button(
            "Gallery", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_LEFT
        )
        back.setToolTip("Back to all pictures (Esc)")
        back.clicked.connect(self.back_requested)
        full = IconButton(IconName.MAXIMIZE, "Full view (Enter)", theme=self._theme)
        full.clicked.connect(self.full_view_requested)
        head = QHBoxLayout()
        head.setSpacing(GAP_SMALL)
        head.addWidget(back)
        head.addWidget(self._title, 1)
        for part in (self._previous, self._place, self._next, full):
            head.addWidget(part)
        alt = QHBoxLayout()
        alt.setSpacing(GAP_MEDIUM)
        alt.addWidget(name_label("Description", self._alt))
        alt.addWidget(self._alt, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addLayout(head)
        column.addWidget(self.canvas, 1)
        column.addLayout(self._buttons)
        column.addLayout(alt)
        column.addWidget(self._facts)
