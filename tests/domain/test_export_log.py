"""What converters print, as people can read it."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.export_log import MAX_LINE_CHARACTERS, LogReader, readable


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("Shards:  10 %\rShards: 100 %", "Shards: 100 %"),
        ("a long first text\rshort", "shortg first text"),
        ("windows line\r", "windows line"),
        ("\x1b[1;31mred\x1b[0m text\x1b[K", "red text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07", "link"),
        ("75%|▉▉▊ | 3/4", "75%|▉▉▊ | 3/4"),
        ("bell\x07 and zero\x00", "bell and zero"),
        ("ab\b\bcd", "cd"),
        ("tab\tstop", "tab stop"),
        ("safe \u202etxt.exe", "safe txt.exe"),
        ("trailing   ", "trailing"),
    ],
)
def test_a_line_reads_as_a_terminal_shows_it_in_the_end(raw: str, shown: str) -> None:
    assert readable(raw) == shown


def test_a_line_without_end_stays_open_and_is_told_as_it_is_now() -> None:
    reader = LogReader()
    assert reader.feed(b"Load: 1 %").open_line == "Load: 1 %"
    news = reader.feed(b"\rLoad: 2 %")
    assert (news.lines, news.open_line) == ((), "Load: 2 %")
    assert reader.feed(b"\n").lines == ("Load: 2 %",)


def test_a_character_that_is_cut_in_half_is_put_together() -> None:
    data = "é▉\n".encode()
    reader = LogReader()
    lines = [line for byte in data for line in reader.feed(bytes([byte])).lines]
    assert lines == ["é▉"]


def test_what_a_dying_process_left_open_is_its_last_line() -> None:
    reader = LogReader()
    reader.feed(b"Killed in the mid\xc3")
    assert reader.feed(b"", is_last=True).lines == ("Killed in the mid\ufffd",)


def test_reports_are_apart_and_what_only_looks_like_one_is_text() -> None:
    reader = LogReader()
    news = reader.feed(b'\x1e{"share": 0.5}\n\x1e[1]\n\x1e{broken\ntext \x1e{"share": 1}\n')
    assert news.reports == ({"share": 0.5},)
    assert news.lines == ("[1]", "{broken", 'text {"share": 1}')


def test_a_long_report_arrives_whole_in_any_pieces() -> None:
    report = {"failed": {"code": "x", "raw": "y" * 50_000}}
    data = b"\x1e" + json.dumps(report).encode() + b"\n"
    reader = LogReader()
    found = [
        one for at in range(0, len(data), 999) for one in reader.feed(data[at : at + 999]).reports
    ]
    assert found == [report]


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=5))
def test_any_bytes_in_any_pieces_give_the_same_printable_lines(
    data: bytes, cuts: list[int]
) -> None:
    whole = LogReader().feed(data, is_last=True)
    reader = LogReader()
    places = [0, *sorted(cuts), len(data)]
    pieces = [reader.feed(data[a:b]) for a, b in itertools.pairwise(places)]
    pieces.append(reader.feed(b"", is_last=True))
    assert tuple(line for news in pieces for line in news.lines) == whole.lines
    for line in whole.lines:
        assert "\n" not in line
        assert len(line) <= MAX_LINE_CHARACTERS


def test_a_line_that_never_ends_takes_no_memory() -> None:
    reader = LogReader()
    shown = [reader.feed(b"x" * 10_000).open_line for _ in range(300)]
    assert len(shown[-1]) <= MAX_LINE_CHARACTERS
    assert len(reader._open) < 20_000
