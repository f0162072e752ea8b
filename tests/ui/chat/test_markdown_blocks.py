from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflash_desktop.ui.chat.markdown_blocks import (
    MAX_OPEN_CHARACTERS,
    BlockSplitter,
    CodeClosed,
    CodeOpened,
    CodeText,
    Piece,
    Prose,
    TableClosed,
    TableOpened,
    TableRow,
    is_safe_link,
)
from dflash_desktop.ui.chat.markdown_cuts import shown_source


def pieces_of(source: str, *, chunk: int = 1000) -> list[Piece]:
    splitter = BlockSplitter()
    pieces: list[Piece] = []
    for start in range(0, len(source), chunk):
        pieces += splitter.push(source[start : start + chunk])
    return [*pieces, *splitter.finish()]


def kinds(pieces: list[Piece]) -> list[str]:
    names = [type(piece).__name__ for piece in pieces]
    return [name for i, name in enumerate(names) if name != "CodeText" or names[i - 1] != name]


def code_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, CodeText))


def prose_of(pieces: list[Piece]) -> list[Prose]:
    return [piece for piece in pieces if isinstance(piece, Prose)]


CHUNKS = pytest.mark.parametrize("chunk", [1, 3, 7, 1000])


@CHUNKS
def test_paragraphs_are_handed_out_when_the_next_one_begins(chunk: int) -> None:
    pieces = pieces_of("One.\n\nTwo\nlines.\n\nThree.", chunk=chunk)
    assert [p.source.strip() for p in prose_of(pieces)] == ["One.", "Two\nlines.", "Three."]


@CHUNKS
def test_a_code_block_keeps_every_character(chunk: int) -> None:
    code = "def f():\n\n    return '```'  # <b>\n"
    pieces = pieces_of(f"Before\n\n````python\n{code}````\nAfter", chunk=chunk)
    assert kinds(pieces) == ["Prose", "CodeOpened", "CodeText", "CodeClosed", "Prose"]
    assert code_of(pieces) == code
    assert CodeOpened("python", pieces[1].place) == pieces[1]  # type: ignore[union-attr]  # kinds


@CHUNKS
def test_an_unfinished_code_block_is_closed_at_the_end(chunk: int) -> None:
    pieces = pieces_of("```\nx = 1\ny", chunk=chunk)
    assert code_of(pieces) == "x = 1\ny"
    assert isinstance(pieces[-1], CodeClosed)


@CHUNKS
def test_code_in_a_list_loses_the_indent_of_the_list_and_stands_at_its_depth(chunk: int) -> None:
    pieces = pieces_of(
        "1. First\n\n   ```sh\n   ls\n     deep\n   ```\n\n   More.\n2. Second\n\nEnd", chunk=chunk
    )
    (opened,) = [p for p in pieces if isinstance(p, CodeOpened)]
    assert opened.place.depth == 1
    assert code_of(pieces) == "ls\n  deep\n"
    more, second, end = prose_of(pieces)[1:]
    assert (more.source.strip(), more.place.depth) == ("More.", 1)
    assert (second.source.strip(), second.place.depth) == ("2. Second", 0)
    assert (end.source, end.place.depth) == ("End\n", 0)


@CHUNKS
def test_a_table_comes_row_by_row(chunk: int) -> None:
    pieces = pieces_of("| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\nText", chunk=chunk)
    assert kinds(pieces) == ["TableOpened", "TableRow", "TableRow", "TableClosed", "Prose"]
    assert isinstance(pieces[0], TableOpened)
    assert pieces[0].head == "| a | b |\n|---|--:|"
    assert pieces[1] == TableRow("| 1 | 2 |")


def test_a_table_after_a_list_is_not_in_the_list() -> None:
    pieces = pieces_of("- item\n\n| a |\n|---|\n| 1 |\n")
    (opened,) = [p for p in pieces if isinstance(p, TableOpened)]
    assert opened.place.depth == 0
    assert isinstance(pieces[-1], TableClosed)


def test_numbers_go_on_through_the_pieces_of_a_list() -> None:
    source = "".join(f"1. item {i}\n" for i in range(300))
    numbers = [p.place.first_number for p in prose_of(pieces_of(source, chunk=50))]
    known = [number for number in numbers if number is not None]
    assert known == sorted(known)
    assert known[-1] > 250


@pytest.mark.parametrize(
    "source",
    [
        "word " * 4000,
        "\\" * 20_000,
        "[" * 20_000,
        "`" * 20_000,
        "> quoted\n" * 2000,
        "- item\n" * 2000,
        "    indented code\n" * 2000,
        "- " * 5000,
        "short line\n" * 2000,
        "- " + "one endless item " * 2000,
        "e\u0301" * 5000,
    ],
    ids=lambda source: source[:8],
)
def test_the_open_rest_stays_short_whatever_streams_in(source: str) -> None:
    splitter = BlockSplitter()
    for start in range(0, len(source), 100):
        pieces = list(splitter.push(source[start : start + 100]))
        assert len(splitter.open_source) <= MAX_OPEN_CHARACTERS + 200
        assert all(len(p.source) <= 2 * MAX_OPEN_CHARACTERS for p in prose_of(pieces))


def test_a_long_paragraph_is_cut_between_sentences_and_goes_on() -> None:
    pieces = prose_of(pieces_of("This is one sentence of many. " * 200, chunk=40))
    assert len(pieces) > 3
    assert all(piece.source.rstrip().endswith(".") for piece in pieces)
    assert "".join(piece.source for piece in pieces).rstrip("\n") == (
        "This is one sentence of many. " * 200
    )
    assert not pieces[0].place.continues_paragraph
    assert all(piece.place.continues_paragraph for piece in pieces[1:])


def test_an_accent_is_never_cut_from_its_letter() -> None:
    assert not any(p.source.startswith("\u0301") for p in prose_of(pieces_of("e\u0301" * 3000)))


@given(
    source=st.text(alphabet="ab *_`~#>-|[]()!\n\t0.1\\<&", max_size=400),
    chunk=st.integers(1, 40),
)
@settings(deadline=None, max_examples=150)
def test_no_letter_is_lost_and_none_is_made_up(source: str, chunk: int) -> None:
    def letters(text: str) -> str:
        return "".join(c for c in text if c in "ab01")

    kept = ""
    for piece in pieces_of(source, chunk=chunk):
        match piece:
            case Prose():
                kept += letters(piece.source)
            case CodeText():
                kept += letters(piece.text)
            case CodeOpened():
                kept += letters(piece.language)
            case TableOpened():
                kept += letters(piece.head)
            case TableRow():
                kept += letters(piece.line)
            case CodeClosed() | TableClosed():
                pass
    # Words behind a fence's language are not shown, as everywhere.
    assert kept == letters(source) or "```" in source or "~~~" in source


@pytest.mark.parametrize(
    ("lines", "tail", "shown"),
    [
        ("", "-", ""),
        ("Title\n", "--", "Title"),
        ("", "``", ""),
        ("", "```pyth", ""),
        ("", "1.", ""),
        ("", "| a | b", ""),
        ("Text\n| a | b |\n", "", "Text"),
        ("", "some **bold te", "some **bold te**"),
        ("", "some **", "some"),
        ("", "call `f(", "call `f(`"),
        ("", "done.", "done."),
    ],
)
def test_what_may_still_change_its_kind_is_not_shown_yet(
    lines: str, tail: str, shown: str
) -> None:
    assert shown_source(lines, tail) == shown


@pytest.mark.parametrize("url", ["https://a.org", "http://a.org", "MAILTO:a@b.org"])
def test_links_to_the_web_and_to_mail_are_offered(url: str) -> None:
    assert is_safe_link(url)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "vbscript:x",
        "C:\\x",
        "page",
        "//host/x",
        "http://[",
        " javascript:x",
    ],
)
def test_other_targets_are_not(url: str) -> None:
    assert not is_safe_link(url)
