"""The frame around everything: header, left side, the page, a banner for problems, status line."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.header import Header
from dflash_desktop.ui.pages import NAVIGATION
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.sidebar import Sidebar
from dflash_desktop.ui.status_line import StatusLine
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM
from dflash_desktop.ui.widgets.surfaces import Line, Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QSettings
    from PySide6.QtGui import QCloseEvent, QIcon

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.pages import Page
    from dflash_desktop.ui.theme import Theme

MINIMUM_SIZE = (720, 520)
_FIRST_SIZE = (1180, 760)
_SYSTEM_FRAME = (16, 40)
"""Room for what a system draws around a window: 1080 rows at 150 % leave 632 for ours."""
_GEOMETRY = "window/geometry"
_SIDEBAR = "window/sidebar"


class MainWindow(QMainWindow):
    """The window. Pages are added when they are first shown, so that the window itself is fast.

    Signals: `closed` once, when the window goes away for good; `remedy_chosen(Remedy)` for the
    ways out that lead away from the problem's own place.
    """

    closed = Signal()
    remedy_chosen = Signal(Remedy)

    def __init__(
        self,
        *,
        theme: Theme,
        logo: QIcon,
        report: Callable[[Problem], str],
        remember: QSettings,
        may_close: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._remember = remember
        self._may_close = may_close
        self._pages: dict[Page, QWidget] = {}
        self._retry: Callable[[], None] | None = None
        self.setWindowTitle("DFlash Desktop")
        self.setWindowIcon(logo)
        self.setMinimumSize(*MINIMUM_SIZE)
        self.header = Header(theme=theme, logo=logo)
        self.sidebar = Sidebar(theme=theme)
        self.status_line = StatusLine(theme=theme)
        self.banner = ProblemView(theme=theme, report=report)
        self._stack = QStackedWidget()
        self._lay_out()
        self.header.sidebar_requested.connect(self._on_sidebar_requested)
        self._bind_keys()
        self._restore()

    def has_page(self, page: Page) -> bool:
        """Whether a page was added already."""
        return page in self._pages

    def add_page(self, page: Page, widget: QWidget) -> None:
        """Take a page in; it is not shown yet."""
        self._pages[page] = widget
        self._stack.addWidget(widget)

    def show_page(self, page: Page) -> None:
        """Bring a page that was added to the front."""
        self._stack.setCurrentWidget(self._pages[page])
        self.sidebar.show_page(page)

    def page_widget(self, page: Page) -> QWidget | None:
        """The widget of a page, once it was added."""
        return self._pages.get(page)

    @property
    def page(self) -> Page | None:
        """The page that is shown, if any was yet."""
        current = self._stack.currentWidget()
        return next((page for page, widget in self._pages.items() if widget is current), None)

    def show_problem(self, problem: Problem, retry: Callable[[], None] | None = None) -> None:
        """Show a problem above the page; "Try again" is offered only with something to `retry`."""
        self._retry = retry
        if retry is None:
            remedies = tuple(r for r in problem.remedies if r is not Remedy.RETRY)
            problem = replace(problem, remedies=remedies)
        self.banner.show_problem(problem)
        self._banner_frame.show()

    @property
    def problem_to_report(self) -> Problem | None:
        """What is shown now, on this page or above it, and is worth a report."""
        shown = (v.problem for v in self.findChildren(ProblemView) if v.isVisible())
        return next((p for p in shown if p is not None and Remedy.REPORT in p.remedies), None)

    def clear_problem(self) -> None:
        """Take the problem away: it is over."""
        self.banner.clear()
        self._banner_frame.hide()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask whether anything would be lost, remember the place, and go."""
        if not self._may_close():
            event.ignore()
            return
        self._remember.setValue(_GEOMETRY, self.saveGeometry())
        self._remember.setValue(_SIDEBAR, "hidden" if self.sidebar.isHidden() else "shown")
        self._remember.sync()
        super().closeEvent(event)
        self.closed.emit()

    def _lay_out(self) -> None:
        self._banner_frame = QWidget()
        banner_row = QVBoxLayout(self._banner_frame)
        banner_row.setContentsMargins(GAP, GAP_MEDIUM, GAP, 0)
        banner_row.addWidget(self.banner)
        self._banner_frame.hide()
        self.banner.dismissed.connect(self._banner_frame.hide)
        self.banner.remedy_chosen.connect(self._on_remedy_chosen)
        middle = SurfaceFrame(Surface.PAGE)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._banner_frame)
        column.addWidget(self._stack, 1)
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self.sidebar)
        self._sidebar_line = Line(Qt.Orientation.Vertical)
        body.addWidget(self._sidebar_line)
        body.addWidget(middle, 1)
        frame = QWidget()
        whole = QVBoxLayout(frame)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.header)
        whole.addWidget(Line(Qt.Orientation.Horizontal))
        whole.addLayout(body, 1)
        whole.addWidget(Line(Qt.Orientation.Horizontal))
        whole.addWidget(self.status_line)
        self.setCentralWidget(frame)

    def _bind_keys(self) -> None:
        keys: list[tuple[str, Callable[[], object]]] = [
            ("Ctrl+N", self.sidebar.new_chat_requested.emit),
            ("Ctrl+K", self._on_search_key),
            ("Ctrl+B", self._on_sidebar_requested),
            ("Ctrl+Q", self.close),
            ("F1", self.header.about_requested.emit),
        ]
        for number, page in enumerate(NAVIGATION, start=1):
            keys.append((f"Ctrl+{number}", partial(self.sidebar.page_requested.emit, page)))
        for sequence, action in keys:
            QShortcut(QKeySequence(sequence), self).activated.connect(action)

    def _restore(self) -> None:
        room = self.screen().availableSize() - QSize(*_SYSTEM_FRAME)
        self.resize(QSize(*_FIRST_SIZE).boundedTo(room).expandedTo(self.minimumSize()))
        geometry = self._remember.value(_GEOMETRY)
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)  # also brings it back from a screen that is gone
        self._show_sidebar(self._remember.value(_SIDEBAR) != "hidden")

    def _show_sidebar(self, is_shown: bool) -> None:
        self.sidebar.setVisible(is_shown)
        self._sidebar_line.setVisible(is_shown)

    def _on_sidebar_requested(self) -> None:
        self._show_sidebar(self.sidebar.isHidden())

    def _on_search_key(self) -> None:
        self._show_sidebar(True)
        self.sidebar.focus_search()

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self.clear_problem()
        if remedy is Remedy.RETRY and self._retry is not None:
            self._retry()
        else:
            self.remedy_chosen.emit(remedy)
