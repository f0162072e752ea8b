from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextDocument

from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.ui.chat.code_view import CodeView
from dflash_desktop.ui.chat.markdown_stream import MarkdownView
from dflash_desktop.ui.chat.table_view import MAX_ROWS, TableView, fitted_widths
from dflash_desktop.ui.chat.text_view import TextView, list_mark, quote_level
from dflash_desktop.ui.colours import ColourRole
from tests.ui.chat.conftest import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QTextBlock, QTextCharFormat
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.chat.drawing import Drawing
    from dflash_desktop.ui.theme import Theme


@pytest.fixture
def view(qtbot: QtBot, drawing: Drawing) -> MarkdownView:
    made = MarkdownView(drawing=drawing)
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    return made


@pytest.fixture
def show(view: MarkdownView, drawing: Drawing) -> Callable[[str], MarkdownView]:
    def shown(source: str, *, chunk: int = 5) -> MarkdownView:
        for start in range(0, len(source), chunk):
            view.append(source[start : start + chunk])
            view.draw_some()
        view.finish()
        draw(drawing)
        return view

    return shown


def texts(view: MarkdownView) -> list[TextView]:
    found = [v for v in view.findChildren(TextView) if not isinstance(v, TableView)]
    return [v for v in found if not v.isHidden()]  # hidden ones wait to be deleted


def text_of(view: MarkdownView) -> str:
    return "\n".join(v.toPlainText() for v in texts(view))


def blocks_of(view: MarkdownView) -> list[QTextBlock]:
    found = []
    for text in texts(view):
        block = text.document().begin()
        while block.isValid():
            found.append(block)
            block = block.next()
    return found


def format_of(view: MarkdownView, words: str) -> QTextCharFormat:
    for text in texts(view):
        cursor = text.document().find(words)
        if not cursor.isNull():
            return cursor.charFormat()
    raise AssertionError(words)


def test_inline_markup_becomes_formats(show: Callable[[str], MarkdownView]) -> None:
    view = show("A **bold** and *slanted* and `code` and ~~gone~~ word.")
    (text,) = texts(view)
    text.selectAll()
    copied = text.createMimeDataFromSelection().text()
    assert copied == "A bold and slanted and code and gone word."
    assert format_of(view, "bold").fontWeight() >= 600
    assert format_of(view, "slanted").fontItalic()
    assert format_of(view, "gone").fontStrikeOut()
    assert format_of(view, "code").background().style() != Qt.BrushStyle.NoBrush


def test_the_result_does_not_depend_on_how_it_streamed_in(qtbot: QtBot, drawing: Drawing) -> None:
    source = "# T\n\nA **b**\nc.\n\n1. x\n2. y\n   - z\n\n> q\n\n---\n\nEnd `c`"
    seen = set()
    for chunk in (1, 4, 1000):
        view = MarkdownView(drawing=drawing)
        qtbot.addWidget(view)
        for start in range(0, len(source), chunk):
            view.append(source[start : start + chunk])
            draw(drawing)
        view.finish()
        draw(drawing)
        seen.add(tuple((b.text(), list_mark(b), quote_level(b)) for b in blocks_of(view)))
    assert len(seen) == 1


def test_lists_have_their_marks_and_depth(show: Callable[[str], MarkdownView]) -> None:
    view = show("- one\n  - two\n\n3. three\n4. four\n")
    marks = [(b.text(), list_mark(b), b.blockFormat().indent()) for b in blocks_of(view)]
    assert marks == [("one", "•", 1), ("two", "◦", 2), ("three", "3.", 1), ("four", "4.", 1)]


def test_copied_text_keeps_the_marks_of_lists(show: Callable[[str], MarkdownView]) -> None:
    (text,) = texts(show("Two:\n\n- one\n  1. two\n"))
    text.selectAll()
    assert text.createMimeDataFromSelection().text() == "Two:\n• one\n  1. two"


def test_a_paragraph_drawn_in_parts_reads_as_one(show: Callable[[str], MarkdownView]) -> None:
    sentences = "One sentence of many.\n" * 40 + "Another one, on a long line. " * 60
    view = show(sentences)
    assert text_of(view).split() == sentences.split()
    assert len(blocks_of(view)) == 1


def test_code_is_a_widget_of_its_own(show: Callable[[str], MarkdownView]) -> None:
    view = show("Before\n\n```python\nprint('<b>')\n```\n\nAfter")
    (code,) = view.findChildren(CodeView)
    assert code.code == "print('<b>')\n"
    assert [t.toPlainText() for t in texts(view)] == ["Before", "After"]


def test_a_long_table_goes_on_in_a_second_view(show: Callable[[str], MarkdownView]) -> None:
    rows = "".join(f"| {i} | b |\n" for i in range(MAX_ROWS + 10))
    tables = show(f"| a | b |\n|---|--:|\n{rows}").findChildren(TableView)
    assert len(tables) == 2
    assert "0" in tables[0].toPlainText()
    assert str(MAX_ROWS + 9) in tables[1].toPlainText()
    assert tables[0].widths[0] == tables[1].widths[0]


def test_wide_columns_give_way_first() -> None:
    assert fitted_widths([100, 100], 300) == [100, 100]
    assert fitted_widths([72, 272], 244) == [72, 172]
    assert fitted_widths([72, 72], 100) == [72, 72]


def test_the_view_is_as_high_as_its_text(show: Callable[[str], MarkdownView]) -> None:
    (short,) = texts(show("One line."))
    height = short.height()
    assert 20 < height < 60
    show("\n\n" + "More words. " * 60)
    assert short.height() > 3 * height


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src='file:///etc/passwd' onerror=x>",
    "<b>bold</b> &lt;i&gt; <!-- comment -->",
    "<style>*{color:red}</style>",
    "![alt](file:///etc/passwd)",
    "![alt](http://evil.example/x.png)",
    "[click](javascript:alert(1))",
    "[click](file:///etc/passwd)",
    "[click](data:text/html;base64,AAAA)",
    "<javascript:alert(1)>",
    "[ref]\n\n[ref]: http://evil.example/x 'title'",
]


@pytest.mark.parametrize("source", HOSTILE)
def test_tags_images_and_unsafe_links_stay_literal_text(
    show: Callable[[str], MarkdownView], source: str
) -> None:
    view = show(source)
    shown = text_of(view).replace("\n", "")
    assert shown == source.replace("\n", "").replace("&lt;", "<").replace("&gt;", ">")
    for text in texts(view):
        block = text.document().begin()
        while block.isValid():
            fragments = block.begin()
            while not fragments.atEnd():
                made = fragments.fragment().charFormat()
                assert not made.isImageFormat()
                assert not made.isAnchor()
                fragments += 1
            block = block.next()


def test_nothing_is_loaded_because_a_text_names_it(
    show: Callable[[str], MarkdownView],
) -> None:
    (text,) = texts(show("hello"))
    for kind in QTextDocument.ResourceType:
        assert text.loadResource(kind.value, QUrl.fromLocalFile(__file__)) is None


def test_a_link_opens_only_after_a_click_and_shows_its_target(
    qtbot: QtBot, show: Callable[[str], MarkdownView]
) -> None:
    view = show("See [the paper](https://example.org/a).")
    link = format_of(view, "paper")
    assert link.toolTip() == "https://example.org/a"
    (text,) = texts(view)
    with qtbot.waitSignal(view.link_clicked) as clicked:
        text.anchorClicked.emit(QUrl(link.anchorHref()))
    assert clicked.args == ["https://example.org/a"]


def test_an_unsafe_target_is_not_followed_even_if_it_got_in(
    qtbot: QtBot, show: Callable[[str], MarkdownView]
) -> None:
    view = show("x")
    (text,) = texts(view)
    with qtbot.assertNotEmitted(view.link_clicked):
        text.anchorClicked.emit(QUrl("file:///etc/passwd"))


@pytest.mark.parametrize(
    "source",
    [
        "مرحبا بالعالم، هذا **نص**.",
        "שלום עולם",
        "👩\u200d👩\u200d👧 e\u0301 \U0001f3f3\ufe0f",
        "a\u202eb",
    ],
)
def test_every_script_is_shown(show: Callable[[str], MarkdownView], source: str) -> None:
    assert text_of(show(source)) == source.replace("*", "")


@pytest.mark.parametrize(
    "source",
    [
        "\\" * 20_000,
        "[" * 6000,
        "*a _b " * 1500,
        "`a``b" * 1500,
        "> " * 2000,
        "- " * 2000,
        "x" * 20_000,
        "a line\n" * 3000,
        "![a](b" * 1500,
        "|" * 3000 + "\n" + "|-" * 3000,
    ],
    ids=lambda source: source[:6],
)
def test_hostile_markdown_ends_and_keeps_the_source(
    view: MarkdownView, drawing: Drawing, source: str
) -> None:
    view.append(source)
    view.finish()
    draw(drawing)
    assert view.source == source
    assert text_of(view).strip() or view.findChildren(TableView)


def test_a_change_of_theme_draws_everything_anew(
    show: Callable[[str], MarkdownView], drawing: Drawing, theme: Theme
) -> None:
    view = show("See [it](https://a.org).\n\n```py\nx = 1\n```\n")
    theme.choose(ThemeChoice.DARK)
    draw(drawing)
    assert text_of(view).strip() == "See it."
    ink = format_of(view, "it").foreground().color()
    assert ink == theme.colour(ColourRole.ACCENT)
    (code,) = [c for c in view.findChildren(CodeView) if not c.isHidden()]
    assert code.code == "x = 1\n"
