"""The formats of reading text, and inline markup written in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)

from dflash_desktop.ui.chat.markdown_blocks import CONTINUATION_MARK
from dflash_desktop.ui.chat.text_view import CODE_PADDING
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import (
    GAP_MEDIUM,
    READING_LINE_HEIGHT_PERCENT,
    SIZE_HEADING,
    SIZE_INTERFACE,
    SIZE_READING,
    code_font,
    interface_font,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

    from dflash_desktop.ui.theme import Theme

_PROPORTIONAL: Final = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value


class ProseFormats:
    """The formats that Markdown needs, in the colours that the theme has now."""

    def __init__(self, theme: Theme) -> None:
        colour = theme.colour
        natural = QFontMetricsF(interface_font(SIZE_READING)).lineSpacing()
        self.line_height = READING_LINE_HEIGHT_PERCENT * SIZE_READING / natural
        self.text = QTextCharFormat()
        self.text.setFont(interface_font(SIZE_READING))
        self.heading = QTextCharFormat()
        self.heading.setFont(interface_font(SIZE_HEADING, semibold=True))
        self.small_heading = QTextCharFormat()
        self.small_heading.setFont(interface_font(SIZE_READING, semibold=True))
        self.code = QTextCharFormat()
        self.code.setFont(code_font(SIZE_INTERFACE))
        self.code.setBackground(QColor(theme.colours.hover))
        self.link_colour = colour(ColourRole.ACCENT)
        self.muted = colour(ColourRole.TEXT_MUTED)
        self.code_background = colour(ColourRole.SURFACE_RAISED)

    def block(
        self, *, depth: int = 0, above: int = 0, below: int = GAP_MEDIUM
    ) -> QTextBlockFormat:
        """A block of reading text at a depth of lists, with gaps in px."""
        made = QTextBlockFormat()
        made.setLineHeight(self.line_height, _PROPORTIONAL)
        made.setIndent(depth)
        made.setTopMargin(above)
        made.setBottomMargin(below)
        return made


def write_inline(
    cursor: QTextCursor, tokens: Sequence[Token], base: QTextCharFormat, formats: ProseFormats
) -> None:
    """Append the inline tokens of one block."""
    nested = [QTextCharFormat(base)]
    for token in tokens:
        match token.type:
            case "text" | "text_special":
                cursor.insertText(token.content.removeprefix(CONTINUATION_MARK), nested[-1])
            case "softbreak":
                cursor.insertText(" ", nested[-1])
            case "hardbreak":
                cursor.insertText("\u2028", nested[-1])
            case "code_inline":
                code = QTextCharFormat(nested[-1])
                code.merge(formats.code)
                cursor.insertText(f"{CODE_PADDING}{token.content}{CODE_PADDING}", code)
            case "strong_open" | "em_open" | "s_open" | "link_open":
                nested.append(_opened(token, nested[-1], formats))
            case "strong_close" | "em_close" | "s_close" | "link_close":
                nested.pop()
            case "image":
                cursor.insertText(_literal_image(token), nested[-1])
            case _:
                cursor.insertText(token.content, nested[-1])


def _opened(token: Token, outer: QTextCharFormat, formats: ProseFormats) -> QTextCharFormat:
    made = QTextCharFormat(outer)
    match token.type:
        case "strong_open":
            made.setFontWeight(QFont.Weight.Bold)
        case "em_open":
            made.setFontItalic(True)
        case "s_open":
            made.setFontStrikeOut(True)
        case _:
            target = str(token.attrGet("href") or "")
            made.setAnchor(True)
            made.setAnchorHref(target)
            made.setToolTip(target)
            made.setForeground(formats.link_colour)
            made.setFontUnderline(True)
    return made


def _literal_image(token: Token) -> str:
    """An image as it was written: nothing is loaded because an answer says so."""
    title = token.attrGet("title")
    rest = f' "{title}"' if title else ""
    return f"![{token.content}]({token.attrGet('src') or ''}{rest})"
