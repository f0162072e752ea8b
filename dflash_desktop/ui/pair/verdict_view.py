"""What a measured check found: the verdict in words, the numbers, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.domain.check_words import VERDICT_SENTENCES
from dflash_desktop.domain.units import format_rate, format_speedup
from dflash_desktop.services.pair_report import check_facts, difference_lines, per_step_words
from dflash_desktop.ui.pair.acceptance_bars import AcceptanceBars
from dflash_desktop.ui.pair.fact_rows import FactRows
from dflash_desktop.ui.pair.icon_line import IconLine
from dflash_desktop.ui.pair.words import CHECK_LOOKS, breakable, position_words
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.domain.benchmark import FirstDifference
    from dflash_desktop.domain.check_summary import CheckSummary
    from dflash_desktop.domain.check_verdict import Cause
    from dflash_desktop.ui.theme import Theme

_TILE_WIDTH: Final = 132
_IN_TILES: Final = frozenset(
    {"Speed-up", "Without the draft", "With the draft", "Tokens per step", "Accepted by position"}
)


class VerdictView(SurfaceFrame):
    """One check; a new one for each."""

    def __init__(self, check: CheckSummary, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        sentence = VERDICT_SENTENCES[check.verdict]
        self.setAccessibleName(sentence)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(IconLine(CHECK_LOOKS[check.verdict], sentence, theme=theme))
        if check.text is not None:
            column.addLayout(FlowRow(*_tiles(check), line_gap=GAP_MEDIUM))
            column.addWidget(Label("Accepted by position", role=TextRole.CAPTION))
            column.addWidget(AcceptanceBars(check.accepted, position_words(check), theme=theme))
        for number, cause in enumerate(check.causes, start=1):
            if number == 1:
                title = "Why, the likeliest first" if len(check.causes) > 1 else "Why"
                column.addWidget(Label(title, role=TextRole.STRONG))
            column.addWidget(_cause(number, cause))
        if check.difference is not None:
            column.addWidget(_difference(check.difference))
        rest = [(name, value) for name, value in check_facts(check) if name not in _IN_TILES]
        column.addWidget(FactRows(rest))


def _tiles(check: CheckSummary) -> list[QWidget]:
    tokens = check.assistant_tokens
    of_tokens = f"Speed-up, {tokens} {'token' if tokens == 1 else 'tokens'}"
    return [
        _tile(of_tokens, format_speedup(check.speedup)),
        _tile("Tokens per step", per_step_words(check)),
        _tile("Without the draft", format_rate(check.baseline_tokens_per_second)),
        _tile("With the draft", format_rate(check.tokens_per_second)),
    ]


def _tile(name: str, value: str) -> QWidget:
    tile = QWidget()
    tile.setMinimumWidth(_TILE_WIDTH)
    tile.setAccessibleName(f"{name}: {value}")
    column = QVBoxLayout(tile)
    column.setContentsMargins(0, 0, GAP, 0)
    column.setSpacing(0)
    column.addWidget(Label(name, role=TextRole.CAPTION))
    column.addWidget(Label(value, role=TextRole.HEADING))
    return tile


def _cause(number: int, cause: Cause) -> QWidget:
    part = QWidget()
    part.setAccessibleName(f"{number}. {cause.words}")
    column = QVBoxLayout(part)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GAP_TINY)
    column.addWidget(Label(breakable(f"{number}. {cause.words}"), wraps=True))
    remedy = Label(breakable(cause.remedy), role=TextRole.MUTED, wraps=True)
    remedy.setContentsMargins(GAP, 0, 0, 0)
    column.addWidget(remedy)
    return part


def _difference(difference: FirstDifference) -> QWidget:
    title, without, with_draft, *margin = difference_lines(difference)
    part = QWidget()
    column = QVBoxLayout(part)
    column.setContentsMargins(0, GAP_SMALL, GAP_LARGE, 0)
    column.setSpacing(GAP_TINY)
    column.addWidget(Label(title, role=TextRole.STRONG))
    for line in (without, with_draft):
        column.addWidget(Label(breakable(line), wraps=True))
    for line in margin:
        column.addWidget(Label(line, role=TextRole.MUTED, wraps=True))
    return part
