"""Colours code with Pygments in small slices of time, while it is still growing."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat

from dflash_desktop.ui.colours import ColourRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pygments.lexer import Lexer
    from pygments.token import _TokenType
    from PySide6.QtGui import QTextDocument

    from dflash_desktop.ui.theme import Theme

_SLICE_SECONDS: Final = 0.003
_MAX_CHARACTERS: Final = 200_000
_GROWTH: Final = 1.25
"""Every pass begins at the first line, so the next one waits until it is worth it."""

_MAX_LINE_CHARACTERS: Final = 2000
"""Some of Pygments' patterns take quadratic time on one very long line."""

_ROLES: Final = {
    "Keyword": ColourRole.ACCENT,
    "Operator.Word": ColourRole.ACCENT,
    "Name.Tag": ColourRole.ACCENT,
    "Generic.Heading": ColourRole.ACCENT,
    "Generic.Subheading": ColourRole.ACCENT,
    "Literal.String": ColourRole.GOOD,
    "Generic.Inserted": ColourRole.GOOD,
    "Literal.Number": ColourRole.WARN,
    "Keyword.Constant": ColourRole.WARN,
    "Name.Decorator": ColourRole.WARN,
    "Name.Attribute": ColourRole.WARN,
    "Generic.Deleted": ColourRole.BAD,
    "Comment": ColourRole.TEXT_MUTED,
    "Generic.Prompt": ColourRole.TEXT_MUTED,
}


class Lexers(QObject):
    """Pygments lexers by name, each made once and away from the window's thread.

    Importing and compiling one takes up to half a second. Signals: `loaded(str)` with the name.
    """

    loaded = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._made: dict[str, Lexer | None] = {}
        self._threads: dict[str, threading.Thread] = {}
        self.loaded.connect(self._on_loaded)

    def lexer(self, language: str) -> Lexer | None:
        """The lexer, or None while it is being made (see `loaded`) or if there is none."""
        name = language.lower()
        if name and name not in self._made and name not in self._threads:
            thread = threading.Thread(target=self._make, args=(name,), daemon=True)
            self._threads[name] = thread
            thread.start()
        return self._made.get(name)

    def _make(self, name: str) -> None:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound

        try:
            self._made[name] = get_lexer_by_name(name, stripnl=False, ensurenl=False)
        except ClassNotFound:
            self._made[name] = None
        self.loaded.emit(name)

    def _on_loaded(self, name: str) -> None:
        self._threads.pop(name).join()


class CodeColours(QSyntaxHighlighter):
    """Colours the complete lines of one code block; call `advance` until it returns False."""

    def __init__(self, document: QTextDocument, *, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[_TokenType, QTextCharFormat] = {}
        self._lines: list[list[tuple[int, int, QTextCharFormat]]] = []
        self._pass: Iterator[tuple[int, _TokenType, str]] | None = None
        self._seen_length = 0
        self._is_complete = False
        self._line = 0
        self._column = 0
        self._spans: list[tuple[int, int, QTextCharFormat]] = []

    def restart(self) -> None:
        """The theme's colours changed."""
        self._formats = {}
        self._lines = []
        self._seen_length = 0
        self._pass = None

    def complete(self) -> None:
        """No more code will come, so the last lines are due as well."""
        self._is_complete = True

    def advance(self, lexer: Lexer) -> bool:
        """Colour for a few milliseconds; True if there is more to do."""
        end = time.monotonic() + _SLICE_SECONDS
        if self._pass is None and not self._begin_pass(lexer):
            return False
        tokens = self._pass or iter(())
        for count, (_, kind, value) in enumerate(tokens):
            self._take(kind, value)
            if count % 32 == 31 and time.monotonic() > end:
                return True
        self._keep_line()
        self._pass = None
        return self._is_complete

    def _begin_pass(self, lexer: Lexer) -> bool:
        length = self.document().characterCount() - 1
        wanted = self._seen_length + 1 if self._is_complete else _GROWTH * self._seen_length + 40
        if not wanted <= length <= _MAX_CHARACTERS:
            return False
        if not self._formats:  # not before: with a lexer here, Pygments has been imported
            self._formats = _formats_of(self._theme)
        text = self.document().toPlainText()
        self._seen_length = length
        if max(map(len, text.split("\n"))) > _MAX_LINE_CHARACTERS:
            return False
        self._line = self._column = 0
        self._spans = []
        self._pass = iter(lexer.get_tokens_unprocessed(text))
        return True

    def _take(self, kind: _TokenType, value: str) -> None:
        made = self._format_of(kind)
        parts = value.split("\n")
        for index, part in enumerate(parts):
            if made is not None and part:
                self._spans.append((self._column, _utf16_length(part), made))
            if index < len(parts) - 1:
                self._keep_line()
                self._line += 1
                self._column = 0
            else:
                self._column += _utf16_length(part)

    def _keep_line(self) -> None:
        spans, self._spans = self._spans, []
        if self._line < len(self._lines):
            if self._lines[self._line] == spans:
                return
            self._lines[self._line] = spans
        else:
            self._lines.append(spans)
            if not spans:
                return
        self.rehighlightBlock(self.document().findBlockByNumber(self._line))

    def _format_of(self, kind: _TokenType) -> QTextCharFormat | None:
        while kind.parent is not None:
            if kind in self._formats:
                return self._formats[kind]
            kind = kind.parent
        return None

    def highlightBlock(self, text: str) -> None:
        """Called by Qt for each changed line: apply what the last pass found."""
        number = self.currentBlock().blockNumber()
        if number < len(self._lines):
            for start, length, made in self._lines[number]:
                self.setFormat(start, length, made)


def _formats_of(theme: Theme) -> dict[_TokenType, QTextCharFormat]:
    from pygments.token import string_to_tokentype

    formats: dict[_TokenType, QTextCharFormat] = {}
    for name, role in _ROLES.items():
        made = QTextCharFormat()
        made.setForeground(theme.colour(role))
        made.setFontItalic(name == "Comment")
        formats[string_to_tokentype(name)] = made
    return formats


def _utf16_length(text: str) -> int:
    """Qt counts in UTF-16 units, Python in code points."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
