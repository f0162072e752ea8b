from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from dflash_desktop.services.conversation_store import ConversationSummary
from dflash_desktop.ui.conversation_list import ConversationModel, Heading, group_name, grouped
from tests.ui.shell_values import PROBLEM

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

EAST = timezone(timedelta(hours=9))
NOW = datetime(2026, 3, 10, 1, 0, tzinfo=EAST)
READABLE = ConversationSummary("a", "Poem", NOW)
UNREADABLE = ConversationSummary("b", "b.json", NOW, PROBLEM)


@pytest.mark.parametrize(
    ("changed_at", "name"),
    [
        (NOW, "Today"),
        (NOW + timedelta(days=2), "Today"),  # a clock that was wrong
        # One hour ago by the clock, but before midnight where the person is.
        (datetime(2026, 3, 9, 14, 59, tzinfo=UTC), "Yesterday"),
        (datetime(2026, 3, 8, 14, 59, tzinfo=UTC), "Earlier"),
    ],
)
def test_groups_follow_the_persons_calendar(changed_at: datetime, name: str) -> None:
    assert group_name(changed_at, NOW) == name


def test_each_group_gets_one_heading_and_the_order_stays() -> None:
    summaries = tuple(
        ConversationSummary(str(days), f"{days} days", NOW - timedelta(days=days))
        for days in (0, 0, 1, 5)
    )
    rows = grouped(summaries, NOW)
    assert [r.text if isinstance(r, Heading) else r.title for r in rows] == [
        "Today",
        "0 days",
        "0 days",
        "Yesterday",
        "1 days",
        "Earlier",
        "5 days",
    ]
    assert grouped((), NOW) == ()


@pytest.fixture
def model(qtbot: QtBot) -> ConversationModel:
    model = ConversationModel()
    model.show_rows((Heading("Today"), READABLE, UNREADABLE))
    return model


def test_headings_cannot_be_chosen_and_unreadable_rows_cannot_be_renamed(
    model: ConversationModel,
) -> None:
    heading, readable, unreadable = (model.flags(model.index(row, 0)) for row in range(3))
    assert heading == Qt.ItemFlag.NoItemFlags
    assert readable & Qt.ItemFlag.ItemIsEditable
    assert unreadable & Qt.ItemFlag.ItemIsEnabled
    assert not unreadable & Qt.ItemFlag.ItemIsEditable


def test_a_screen_reader_hears_that_a_conversation_cannot_be_read(
    model: ConversationModel,
) -> None:
    index = model.index_of("b")
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "b.json, cannot be read"
    assert index.data(Qt.ItemDataRole.ToolTipRole) == PROBLEM.headline


def test_data_of_no_row_is_nothing(model: ConversationModel) -> None:
    assert model.data(model.index(9, 0)) is None
    assert model.summary(model.index(9, 0)) is None
    assert not model.index_of("unknown").isValid()


@pytest.mark.parametrize("title", ["Poem", "", "  "])
def test_an_edit_that_changes_nothing_asks_for_nothing(
    model: ConversationModel, qtbot: QtBot, title: str
) -> None:
    with qtbot.assertNotEmitted(model.rename_requested):
        model.setData(model.index_of("a"), title)


def test_an_edit_asks_for_the_new_title(model: ConversationModel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(model.rename_requested) as asked:
        model.setData(model.index_of("a"), "Song")
    assert asked.args == ["a", "Song"]
