"""Writes entries into an IR's rt_info as an edit of its text: nothing else in the file changes.

Metadata lives in the XML alone, so the weights beside it are not even read.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dflash_desktop.domain.ir_graph import RtInfoMarks, Span

_ATTRIBUTES: Final = rb"""(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*"""
_LOOK_BACK_BYTES: Final = 256
_LONGEST_TAG_BYTES: Final = 8 << 20

_Path = tuple[str, ...]


class RtInfoEditError(Exception):
    """The text cannot be edited safely; the words say why."""


class TextReader(Protocol):
    """Reads pieces of the text; fewer bytes at its end."""

    def __call__(self, start: int, count: int) -> bytes:
        """`count` bytes from `start`."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes that take the place of `length` others."""

    start: int
    length: int
    text: bytes


def edit_rt_info(
    marks: RtInfoMarks, values: Mapping[_Path, str], read: TextReader
) -> tuple[Splice, ...]:
    """The edits that give each entry its value, in the order of the text.

    Names in the paths must be XML names. Raises `RtInfoEditError`.
    """
    splices: list[Splice] = []
    added: dict[_Path, dict[_Path, str]] = defaultdict(dict)
    for path, value in values.items():
        span = _only(marks, path)
        if span is None:
            added[_parent(marks, path)][path] = value
        else:
            splices.append(_replaced(span, path[-1], _element(path[-1], value), read))
    for parent, entries in added.items():
        splices.append(_added(marks, parent, _elements(entries, len(parent)), read))
    return tuple(sorted(splices, key=lambda splice: splice.start))


def spliced(chunks: Iterable[bytes], splices: Iterable[Splice]) -> Iterator[bytes]:
    """The text with the edits, which must be in its order and apart from each other."""
    waiting = list(splices)
    position = 0
    for chunk in chunks:
        rest, start = chunk, position
        position += len(chunk)
        while waiting and waiting[0].start < position:
            splice = waiting[0]
            if splice.start >= start:
                yield rest[: splice.start - start]
                yield splice.text
                rest, start = rest[splice.start - start :], splice.start
            # What is replaced may go on in the next chunk.
            skipped = min(splice.start + splice.length, position) - start
            rest, start = rest[skipped:], start + skipped
            if splice.start + splice.length > position:
                break
            waiting.pop(0)
        yield rest


def _only(marks: RtInfoMarks, path: _Path) -> Span | None:
    spans = marks.elements.get(path, ())
    if len(spans) > 1:
        name = "/".join(path) or "rt_info"
        raise RtInfoEditError(f"the model has {len(spans)} elements {name}")
    return spans[0] if spans else None


def _parent(marks: RtInfoMarks, path: _Path) -> _Path:
    """The innermost element that is there and that the entry belongs into."""
    parent = path[:-1]
    while parent and _only(marks, parent) is None:
        parent = parent[:-1]
    return parent


def _added(marks: RtInfoMarks, parent: _Path, text: bytes, read: TextReader) -> Splice:
    span, name = _only(marks, parent), parent[-1] if parent else "rt_info"
    if span is None:
        return _inserted(marks.net_end, b"<rt_info>" + text + b"</rt_info>", read)
    tag = name.encode()
    old = read(span.start, min(_LONGEST_TAG_BYTES, span.end - span.start))
    if re.fullmatch(rb"<" + re.escape(tag) + rb"\s*/>", old):
        full = b"<" + tag + b">" + text + b"</" + tag + b">"
        return Splice(span.start, len(old), full)
    if re.match(rb"<" + re.escape(tag) + rb"\s*>", old):
        return _inserted(span.end, text, read)
    raise RtInfoEditError(f"the element {name} is not written as OpenVINO writes it")


def _replaced(span: Span, name: str, text: bytes, read: TextReader) -> Splice:
    """In place of an element that is empty, as OpenVINO writes those that hold a value."""
    old = read(span.start, min(_LONGEST_TAG_BYTES, span.end - span.start))
    match = re.fullmatch(rb"<" + re.escape(name.encode()) + _ATTRIBUTES + rb"\s*/>", old)
    if match is None:
        raise RtInfoEditError(f"the element {name} is not written as OpenVINO writes it")
    return Splice(span.start, len(old), text)


def _inserted(end_tag_at: int, text: bytes, read: TextReader) -> Splice:
    """Before an end tag, on a line of its own if the end tag has one."""
    start = max(0, end_tag_at - _LOOK_BACK_BYTES)
    before, newline, indent = read(start, end_tag_at - start).rpartition(b"\n")
    if not newline or indent.strip():
        return Splice(end_tag_at, 0, text)
    line_end = b"\r\n" if before.endswith(b"\r") else b"\n"
    return Splice(end_tag_at, 0, b"\t" + text + line_end + indent)


def _elements(entries: Mapping[_Path, str], depth: int) -> bytes:
    """Nested elements for entries that have their first `depth` names in common."""
    parts: list[bytes] = []
    inner: dict[str, dict[_Path, str]] = defaultdict(dict)
    for path, value in entries.items():
        if len(path) == depth + 1:
            parts.append(_element(path[depth], value))
        else:
            inner[path[depth]][path] = value
    for name, below in inner.items():
        tag = name.encode()
        parts.append(b"<" + tag + b">" + _elements(below, depth + 1) + b"</" + tag + b">")
    return b"".join(parts)


def _element(name: str, value: str) -> bytes:
    return f'<{name} value="{html.escape(value)}" />'.encode()
