"""The left side: a new chat, search, the conversations, and the way to the other pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QLineEdit,
    QListView,
    QMenu,
    QVBoxLayout,
)

from dflash_desktop.ui.conversation_list import (
    MORE_BUTTON_WIDTH,
    ConversationDelegate,
    ConversationModel,
    Row,
)
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pages import NAVIGATION, PARTS_OF_MODELS, Page
from dflash_desktop.ui.theme import CONTROL_HEIGHT, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Line, Surface, SurfaceFrame
from dflash_desktop.ui.widgets.undo_bar import UndoBar

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.services.conversation_store import ConversationSummary
    from dflash_desktop.ui.theme import Theme

SIDEBAR_WIDTH = 232


_PAGE_ICONS = {
    Page.CHAT: IconName.MESSAGE,
    Page.IMAGES: IconName.IMAGE,
    Page.MODELS: IconName.MODELS,
    Page.TRANSFERS: IconName.DOWNLOAD,
    Page.EXPORT: IconName.HAMMER,
    Page.MEASURE: IconName.GAUGE,
}


class Sidebar(SurfaceFrame):
    """The left side of the window.

    Signals: `new_chat_requested`, `search_changed(words)`, `conversation_chosen(id)`,
    `rename_requested(id, title)`, `delete_requested(id)`, `undo_requested`,
    `file_requested(id)` (show an unreadable file), `page_requested(Page)`.
    """

    new_chat_requested = Signal()
    search_changed = Signal(str)
    conversation_chosen = Signal(str)
    rename_requested = Signal(str, str)
    delete_requested = Signal(str)
    undo_requested = Signal()
    file_requested = Signal(str)
    page_requested = Signal(Page)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.PANEL, parent)
        self._theme = theme
        self.setFixedWidth(SIDEBAR_WIDTH)
        new_chat = Button("New chat", theme=theme, icon=IconName.NEW_CHAT)
        new_chat.setToolTip("Start a new conversation (Ctrl+N)")
        new_chat.clicked.connect(self.new_chat_requested)
        self._search = QLineEdit()
        self._search.setPlaceholderText("Search")
        self._search.setAccessibleName("Search the conversations")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self.search_changed)
        self._model = ConversationModel(self)
        self._model.rename_requested.connect(self.rename_requested)
        self._delegate = ConversationDelegate(theme=theme, parent=self)
        self._view = self._built_view()
        self._more = self._built_more_button()
        self._empty = Label(role=TextRole.MUTED, wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._undo_bar = UndoBar(theme=theme)
        self._undo_bar.undo_requested.connect(self.undo_requested)

        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_MEDIUM, GAP_MEDIUM, GAP_MEDIUM, GAP_MEDIUM)
        column.setSpacing(GAP_SMALL)
        column.addWidget(new_chat)
        column.addWidget(self._search)
        column.addWidget(self._empty, 1)
        column.addWidget(self._view, 1)
        column.addWidget(self._undo_bar)
        column.addWidget(Line(Qt.Orientation.Horizontal))
        column.addLayout(self._built_navigation())
        theme.changed.connect(self._view.viewport().update)
        self.show_conversations((), "", "")

    def show_conversations(self, rows: tuple[Row, ...], current_id: str, empty_words: str) -> None:
        """The rows of the list, which one is open, and what to say when there are none."""
        self._model.show_rows(rows)
        self._view.setVisible(bool(rows))
        self._empty.setVisible(not rows)
        self._empty.show_text(empty_words)
        self.show_current(current_id)

    def show_current(self, conversation_id: str) -> None:
        """Mark the open conversation; one that is not listed yet marks none."""
        index = self._model.index_of(conversation_id)
        self._view.setCurrentIndex(index)
        if not index.isValid():
            self._view.clearSelection()
        self._place_more_button(index)

    def show_page(self, page: Page) -> None:
        """Mark the page that is shown, or that it is a part of; else nothing is marked."""
        marked = Page.MODELS if page in PARTS_OF_MODELS else page
        self._group.setExclusive(False)  # else the last one stays marked
        for one, button in self._pages.items():
            button.setChecked(one is marked)
        self._group.setExclusive(True)

    def show_count(self, page: Page, count: int) -> None:
        """How many things wait on a page, beside its name; 0 shows the name alone."""
        button = self._pages[page]
        button.setText(f"{page.value} {count}" if count else page.value)
        button.setAccessibleName(f"{page.value}, {count} open" if count else page.value)

    def focus_page(self, page: Page) -> None:
        """Put the keyboard where the page was chosen, so that Tab goes on from there."""
        if page in PARTS_OF_MODELS:
            page = Page.MODELS
        if page in self._pages:
            self._pages[page].setFocus(Qt.FocusReason.OtherFocusReason)

    def show_undo(self, title: str | None) -> None:
        """Offer to bring back what was deleted; None takes the offer away."""
        if title is None:
            self._undo_bar.show_words("")
        else:
            self._undo_bar.show_words(f"Deleted “{title}”", spoken=f"Deleted {title}")

    def focus_search(self) -> None:
        """Put the caret into the search field."""
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def menu_for(self, summary: ConversationSummary) -> QMenu:
        """What can be done with a conversation."""
        menu = QMenu(self)
        if summary.problem is not None:
            menu.addAction("Show file", lambda: self.file_requested.emit(summary.id))
            return menu
        rename = menu.addAction("Rename", lambda: self._edit(summary.id))
        rename.setShortcut(QKeySequence(Qt.Key.Key_F2))
        delete = menu.addAction("Delete", lambda: self.delete_requested.emit(summary.id))
        delete.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        return menu

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the menu button beside the open conversation unless the pointer is elsewhere."""
        pointer_left = event.type() == QEvent.Type.Leave and not self._more.underMouse()
        if pointer_left or event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            # The view lays its rows out after the event, not before.
            QTimer.singleShot(0, self._view, self._on_scrolled)
        return super().eventFilter(watched, event)

    def _built_view(self) -> QListView:
        view = QListView()
        view.setProperty("kind", "sidebar")
        view.setAccessibleName("Conversations")
        view.setModel(self._model)
        view.setItemDelegate(self._delegate)
        view.setMouseTracking(True)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_context_menu)
        view.clicked.connect(self._on_activated)
        view.activated.connect(self._on_activated)
        view.entered.connect(self._place_more_button)
        view.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        view.viewport().installEventFilter(self)
        delete = QShortcut(QKeySequence.StandardKey.Delete, view)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._on_delete_key)
        return view

    def _built_more_button(self) -> IconButton:
        more = IconButton(
            IconName.ELLIPSIS,
            "Rename or delete this conversation",
            theme=self._theme,
            parent=self._view.viewport(),
        )
        more.resize(MORE_BUTTON_WIDTH, CONTROL_HEIGHT)
        more.clicked.connect(self._on_more_clicked)
        more.hide()
        return more

    def _built_navigation(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(2)
        self._group = QButtonGroup(self)
        self._pages: dict[Page, Button] = {}
        for page in NAVIGATION:
            button = Button(
                page.value, theme=self._theme, kind=ButtonKind.QUIET, icon=_PAGE_ICONS[page]
            )
            button.setProperty("align", "left")
            button.setCheckable(True)
            button.clicked.connect(lambda _, page=page: self.page_requested.emit(page))
            self._group.addButton(button)
            column.addWidget(button)
            self._pages[page] = button
        return column

    def _edit(self, conversation_id: str) -> None:
        self._view.edit(self._model.index_of(conversation_id))

    def _place_more_button(self, index: QModelIndex) -> None:
        area = self._view.visualRect(index)
        is_shown = self._model.summary(index) is not None
        self._delegate.menu_row = index.row() if is_shown else -1
        self._more.setVisible(is_shown)
        self._more.move(area.right() - MORE_BUTTON_WIDTH + 1, area.top())
        self._more_index = index
        self._view.viewport().update()

    def _on_scrolled(self) -> None:
        self._place_more_button(self._view.currentIndex())

    def _on_activated(self, index: QModelIndex) -> None:
        summary = self._model.summary(index)
        if summary is not None:
            self.conversation_chosen.emit(summary.id)

    def _on_context_menu(self, position: QPoint) -> None:
        index = self._view.indexAt(position)
        summary = self._model.summary(index)
        if summary is not None:
            self._popup(summary, self._view.viewport().mapToGlobal(position))

    def _on_more_clicked(self) -> None:
        summary = self._model.summary(self._more_index)
        if summary is not None:
            self._popup(summary, self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _popup(self, summary: ConversationSummary, position: QPoint) -> None:
        menu = self.menu_for(summary)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(position)

    def _on_delete_key(self) -> None:
        summary = self._model.summary(self._view.currentIndex())
        if summary is not None and summary.problem is None:
            self.delete_requested.emit(summary.id)
