"""Header, left side, status line and the window around them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QListView,
    QMainWindow,
    QPushButton,
    QToolButton,
    QWidget,
)

from dflash_desktop.domain.generation import DraftState
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.services.conversation_store import ConversationSummary
from dflash_desktop.ui.conversation_list import Heading
from dflash_desktop.ui.engine_words import Fact, StateWords, Tone, WayOut
from dflash_desktop.ui.header import NO_MODEL, DraftBadge, Header
from dflash_desktop.ui.main_window import MINIMUM_SIZE, MainWindow
from dflash_desktop.ui.pages import NAVIGATION, Page
from dflash_desktop.ui.sidebar import Sidebar
from dflash_desktop.ui.status_line import StatusLine
from tests.ui.shell_values import PAIR, PROBLEM

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

NO_KEYS = Qt.KeyboardModifier.NoModifier
NOW = datetime(2026, 3, 10, tzinfo=UTC)
ROWS = (
    Heading("Today"),
    ConversationSummary("a", "Poem & <b>rain</b>", NOW),
    ConversationSummary("b", "b.json", NOW, PROBLEM),
)


def button(parent: QWidget, text: str) -> QPushButton:
    return next(b for b in parent.findChildren(QPushButton) if b.text() == text)


@pytest.fixture
def header(qtbot: QtBot, theme: Theme) -> Header:
    header = Header(theme=theme, logo=QIcon())
    qtbot.addWidget(header)
    header.resize(1200, 52)
    return header


@pytest.fixture
def sidebar(qtbot: QtBot, theme: Theme) -> Sidebar:
    sidebar = Sidebar(theme=theme)
    qtbot.addWidget(sidebar)
    sidebar.resize(sidebar.width(), 600)
    sidebar.show_conversations(ROWS, "a", "")
    sidebar.show()
    return sidebar


@pytest.fixture
def make_window(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Callable[[], MainWindow]:
    def make(may_close: Callable[[], bool] = lambda: True) -> MainWindow:
        window = MainWindow(
            theme=theme,
            logo=QIcon(),
            report=lambda problem: problem.detail,
            remember=QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat),
            may_close=may_close,
        )
        qtbot.addWidget(window)
        return window

    return make


@pytest.mark.parametrize(
    "place",
    [
        (9000, 7000, 1000, 700),  # on a screen that is gone
        (790, 100, 780, 560),  # a sliver of it is to be seen
        (100, -400, 750, 540),  # its top is above the screen
        (-740, 100, 750, 540),
    ],
)
def test_a_window_remembered_where_no_screen_is_now_opens_on_one(
    make_window: Callable[[], MainWindow], tmp_path: Path, place: tuple[int, int, int, int]
) -> None:
    other = QMainWindow()
    other.setGeometry(*place)
    remember = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)
    remember.setValue("window/geometry", other.saveGeometry())
    remember.sync()
    window = make_window()
    assert window.height() < 760  # it is not a first start's
    (screen,) = (screen.availableGeometry() for screen in QGuiApplication.screens())
    assert screen.contains(window.geometry())


def test_the_first_window_is_no_larger_than_the_screen_and_its_frame_fits_too(
    make_window: Callable[[], MainWindow],
) -> None:
    (screen,) = (screen.availableSize() for screen in QGuiApplication.screens())
    assert screen.width() < 1180, "the screen of the tests is too large to tell"
    window = make_window()
    assert window.width() < screen.width()
    assert window.height() < screen.height()


def test_the_picker_lists_the_pairs_and_marks_the_loaded_one(header: Header, qtbot: QtBot) -> None:
    other = PairFolders("other", "Tom & Jerry", PAIR.target_dir, None)
    header.show_pairs((PAIR, other), "mine")
    pairs = [a for a in header.picker_menu().actions() if a.isCheckable()]
    assert [(a.text(), a.isChecked()) for a in pairs] == [
        ("My pair", True),
        ("Tom && Jerry", False),
    ]
    with qtbot.waitSignal(header.pair_chosen) as chosen:
        pairs[1].trigger()
    assert chosen.args == ["other"]


def test_without_a_model_the_picker_says_so_and_leads_on(header: Header, qtbot: QtBot) -> None:
    header.show_pairs((), "")
    assert button(header, NO_MODEL)
    all_models, set_up = header.picker_menu().actions()[-2:]
    with qtbot.waitSignal(header.models_requested):
        all_models.trigger()
    with qtbot.waitSignal(header.setup_requested):
        set_up.trigger()


@pytest.mark.parametrize(
    ("badge", "text"),
    [
        (DraftBadge(DraftState.ON, "", 2.4), "draft on · 2.40x"),
        (DraftBadge(DraftState.ON, "", None), "draft on"),
        (DraftBadge(DraftState.RESTING, "", 2.4), "draft resting"),
        (DraftBadge(DraftState.OFF, "", 2.4), "draft off"),
    ],
)
def test_the_badge_shows_a_ratio_only_for_a_draft_that_is_on_and_measured(
    badge: DraftBadge, text: str
) -> None:
    assert badge.text == text


def test_the_badge_says_why_and_leads_to_the_measurements(header: Header, qtbot: QtBot) -> None:
    header.show_badge(DraftBadge(DraftState.OFF, "It does not pay here."))
    badge = button(header, "draft off")
    assert "It does not pay here." in badge.toolTip()
    with qtbot.waitSignal(header.measure_requested):
        badge.click()


def test_the_theme_menu_marks_the_choice_and_asks_for_another(
    header: Header, qtbot: QtBot
) -> None:
    actions = header.theme_menu().actions()
    assert [a.text() for a in actions if a.isChecked()] == ["Light"]
    with qtbot.waitSignal(header.theme_chosen) as chosen:
        actions[2].trigger()
    assert chosen.args == [ThemeChoice.DARK]


def test_delete_on_the_open_conversation_asks_for_it(sidebar: Sidebar, qtbot: QtBot) -> None:
    view = sidebar.findChild(QListView)
    assert isinstance(view, QListView)
    view.setFocus()
    with qtbot.waitSignal(sidebar.delete_requested) as asked:
        QTest.keyClick(view, Qt.Key.Key_Delete)
    assert asked.args == ["a"]


def test_an_unreadable_conversation_can_only_be_shown(sidebar: Sidebar, qtbot: QtBot) -> None:
    sidebar.show_current("b")
    view = sidebar.findChild(QListView)
    assert isinstance(view, QListView)
    with qtbot.assertNotEmitted(sidebar.delete_requested):
        QTest.keyClick(view, Qt.Key.Key_Delete)
    broken = ROWS[2]
    assert isinstance(broken, ConversationSummary)
    (action,) = sidebar.menu_for(broken).actions()
    with qtbot.waitSignal(sidebar.file_requested) as asked:
        action.trigger()
    assert asked.args == ["b"]


def test_f2_edits_the_title_in_place(sidebar: Sidebar, qtbot: QtBot) -> None:
    view = sidebar.findChild(QListView)
    assert isinstance(view, QListView)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_F2)
    editor = view.viewport().findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.setText("Song")
    with qtbot.waitSignal(sidebar.rename_requested) as asked:
        QTest.keyClick(editor, Qt.Key.Key_Return)
    assert asked.args == ["a", "Song"]


def test_a_click_opens_a_conversation_but_not_a_heading(sidebar: Sidebar, qtbot: QtBot) -> None:
    view = sidebar.findChild(QListView)
    assert isinstance(view, QListView)
    left = Qt.MouseButton.LeftButton
    with qtbot.assertNotEmitted(sidebar.conversation_chosen):
        QTest.mouseClick(view.viewport(), left, NO_KEYS, QPoint(20, 10))
    row = view.visualRect(view.model().index(1, 0)).center()
    with qtbot.waitSignal(sidebar.conversation_chosen) as asked:
        QTest.mouseClick(view.viewport(), left, NO_KEYS, row)
    assert asked.args == ["a"]


def test_the_menu_button_stands_beside_the_open_conversation(
    sidebar: Sidebar, qtbot: QtBot
) -> None:
    view = sidebar.findChild(QListView)
    assert isinstance(view, QListView)
    more = view.viewport().findChild(QToolButton)
    assert isinstance(more, QToolButton)
    row = view.model().index(1, 0)
    qtbot.waitUntil(lambda: more.isVisible() and more.y() == view.visualRect(row).top())


def test_an_empty_list_says_why(sidebar: Sidebar) -> None:
    sidebar.show_conversations((), "", "Nothing found for “x”.")
    view = sidebar.findChild(QListView)
    assert isinstance(view, QListView)
    assert view.isHidden()


def test_a_deleted_conversation_can_be_brought_back_from_the_bar(
    sidebar: Sidebar, qtbot: QtBot
) -> None:
    assert not button(sidebar, "Undo").isVisible()
    sidebar.show_undo("Poem")
    with qtbot.waitSignal(sidebar.undo_requested):
        button(sidebar, "Undo").click()
    sidebar.show_undo(None)
    assert not button(sidebar, "Undo").isVisible()


def test_the_setup_marks_nothing_in_the_navigation(sidebar: Sidebar) -> None:
    sidebar.show_page(Page.MODELS)
    sidebar.show_page(Page.SETUP)
    assert not any(button(sidebar, page.value).isChecked() for page in NAVIGATION)
    sidebar.show_page(Page.MODELS)
    assert [p for p in NAVIGATION if button(sidebar, p.value).isChecked()] == [Page.MODELS]


def test_the_page_that_is_shown_stands_out_in_the_navigation(sidebar: Sidebar) -> None:
    sidebar.show_page(Page.MODELS)
    QApplication.processEvents()
    colours = {
        name: button(sidebar, name).grab().toImage().pixelColor(120, 10).name()
        for name in ("Chat", "Models", "Measure")
    }
    assert colours["Chat"] == colours["Measure"] != colours["Models"]


def test_the_status_line_offers_the_way_out_of_a_state(qtbot: QtBot, theme: Theme) -> None:
    line = StatusLine(theme=theme)
    qtbot.addWidget(line)
    line.show()
    line.show_state(StateWords("Ready", Tone.GOOD))
    way_out = line.findChild(QPushButton)
    assert isinstance(way_out, QPushButton)
    assert way_out.isHidden()
    line.show_state(StateWords("Slow", Tone.WARN, "", WayOut.STOP_ENGINE))
    with qtbot.waitSignal(line.way_out_requested) as asked:
        button(line, "Stop engine").click()
    assert asked.args == [WayOut.STOP_ENGINE]


@pytest.mark.parametrize(("width", "is_shown"), [(1200, True), (720, False)])
def test_facts_give_way_to_the_state_in_a_narrow_window(
    qtbot: QtBot, theme: Theme, width: int, is_shown: bool
) -> None:
    line = StatusLine(theme=theme)
    qtbot.addWidget(line)
    line.resize(width, line.height())
    line.show_facts((Fact("Arc", ""), Fact("KV f16", "")))
    line.show()
    shown = [label for label in line.findChildren(QWidget) if label.isVisible()]
    assert any(getattr(w, "text", str)() == "·  KV f16" for w in shown) is is_shown


def test_retry_is_offered_only_where_something_can_be_tried_again(
    make_window: Callable[[], MainWindow], qtbot: QtBot
) -> None:
    window = make_window()
    window.show_problem(PROBLEM)
    assert window.banner.problem is not None
    assert window.banner.problem.remedies == (Remedy.USE_CPU,)
    tried: list[bool] = []
    window.show_problem(PROBLEM, retry=lambda: tried.append(True))
    with qtbot.assertNotEmitted(window.remedy_chosen):
        button(window.banner, Remedy.RETRY.label).click()
    assert tried == [True]
    assert window.banner.problem is None


def test_other_ways_out_leave_the_banner(
    make_window: Callable[[], MainWindow], qtbot: QtBot
) -> None:
    window = make_window()
    window.show_problem(PROBLEM)
    with qtbot.waitSignal(window.remedy_chosen) as asked:
        button(window.banner, Remedy.USE_CPU.label).click()
    assert asked.args == [Remedy.USE_CPU]


def test_what_is_shown_is_what_a_report_tells_of(make_window: Callable[[], MainWindow]) -> None:
    window = make_window()
    window.show()
    crash = replace(PROBLEM, remedies=(Remedy.REPORT,))
    told = []
    for problem in (PROBLEM, crash):  # not every problem is worth a report
        window.show_problem(problem)
        told.append(window.problem_to_report)
    window.clear_problem()
    assert (*told, window.problem_to_report) == (None, crash, None)


def test_the_window_remembers_its_size_and_its_left_side(
    make_window: Callable[[], MainWindow], qtbot: QtBot
) -> None:
    first = make_window()
    first.show()
    first.resize(780, 640)
    first.header.sidebar_requested.emit()
    with qtbot.waitSignal(first.closed):
        first.close()
    second = make_window()
    assert (second.width(), second.height()) == (780, 640)
    assert second.sidebar.isHidden()


def test_a_window_that_may_not_close_stays(
    make_window: Callable[[Callable[[], bool]], MainWindow], qtbot: QtBot
) -> None:
    window = make_window(lambda: False)
    window.show()
    with qtbot.assertNotEmitted(window.closed):
        assert not window.close()
    assert window.isVisible()


@pytest.mark.parametrize(
    ("key", "page"),
    [(Qt.Key(Qt.Key.Key_1 + place), page) for place, page in enumerate(NAVIGATION)],
)
def test_keys_lead_to_the_pages(
    make_window: Callable[[], MainWindow], qtbot: QtBot, key: Qt.Key, page: Page
) -> None:
    window = make_window()
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    with qtbot.waitSignal(window.sidebar.page_requested) as asked:
        QTest.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [page]


def test_everything_fits_into_the_smallest_window(make_window: Callable[[], MainWindow]) -> None:
    window = make_window()
    window.resize(*MINIMUM_SIZE)
    window.show()
    window.header.show_pairs((PAIR,), "mine")
    window.header.show_badge(DraftBadge(DraftState.ON, "", 2.4))
    QApplication.sendPostedEvents()
    assert (window.width(), window.height()) == MINIMUM_SIZE
    for child in window.header.findChildren(QWidget):
        if child.isVisible() and child.parent() is window.header:
            assert window.header.rect().contains(child.geometry())


def test_every_control_has_a_name_for_screen_readers(
    make_window: Callable[[], MainWindow],
) -> None:
    window = make_window()
    for control in window.findChildren(QToolButton):
        if isinstance(control.parent(), QLineEdit):  # Qt's own, inside a field that has a name
            continue
        assert control.accessibleName() or control.text()
    for field in window.findChildren(QLineEdit):
        assert field.accessibleName()
