"""A measurement as tables: one line for each prompt and setting, and one for each setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from dflash_desktop.domain.benchmark import (
    BenchRun,
    PromptKind,
    PromptResult,
    tried_assistant_tokens,
)
from dflash_desktop.domain.draft_choice import setting_worth
from dflash_desktop.domain.units import format_speedup, significant

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from dflash_desktop.domain.benchmark import BenchReport, FirstDifference

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()

KIND_WORDS = {
    PromptKind.SHORT_ANSWER: "Short answer",
    PromptKind.PROSE: "Prose",
    PromptKind.CODE: "Code",
    PromptKind.LIST: "List",
    PromptKind.COUNTING: "Counting",
    PromptKind.PICTURE: "Picture",
}


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One prompt at one setting; `starts_prompt` on the first line of a prompt."""

    result: PromptResult
    run: BenchRun
    starts_prompt: bool


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One number of assistant tokens over all prompts, and how many texts were equal."""

    assistant_tokens: int
    speedup: float | None
    tokens_per_step: float | None
    identical: int
    prompts: int


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, what it means, how a row reads in it."""

    title: str
    explanation: str
    text: Callable[[ReportRow], str]
    is_number: bool = True


COLUMNS = (
    Column(
        "Text",
        "What kind of text the model was asked for.",
        lambda row: KIND_WORDS[row.result.prompt.kind] if row.starts_prompt else "",
        is_number=False,
    ),
    Column(
        "Assistant tokens",
        "How many tokens the draft proposes in each step.",
        lambda row: str(row.run.assistant_tokens),
    ),
    Column(
        "No draft",
        "Tokens per second of the target alone.",
        lambda row: _rate(row.run.baseline_tokens_per_second),
    ),
    Column(
        "With draft",
        "Tokens per second of the target with its draft.",
        lambda row: _rate(row.run.tokens_per_second),
    ),
    Column(
        "Speed-up",
        "With the draft divided by without it.",
        lambda row: format_speedup(row.run.speedup),
    ),
    Column(
        "Per step",
        "Tokens for each pass of the target. Without a draft it is 1.",
        lambda row: _rate(row.run.tokens_per_step),
    ),
    Column(
        "Same text",
        "Whether the text is the same with and without the draft.",
        lambda row: difference_words(row.run),
        is_number=False,
    ),
)


def report_rows(report: BenchReport) -> tuple[ReportRow, ...]:
    """The lines of the long table, prompt by prompt."""
    return tuple(
        ReportRow(result, run, starts_prompt=number == 0)
        for result in report.prompts
        for number, run in enumerate(result.runs)
    )


def setting_rows(report: BenchReport) -> tuple[SettingRow, ...]:
    """The lines of the short table, in rising number of assistant tokens."""
    rows = []
    for tokens in tried_assistant_tokens(report.prompts):
        runs = [r for p in report.prompts for r in p.runs if r.assistant_tokens == tokens]
        worth = setting_worth(report.prompts, tokens)
        rows.append(
            SettingRow(
                assistant_tokens=tokens,
                speedup=worth.speedup if worth else None,
                tokens_per_step=worth.tokens_per_step if worth else None,
                identical=sum(r.identical for r in runs),
                prompts=len(runs),
            )
        )
    return tuple(rows)


def difference_words(run: BenchRun) -> str:
    """Whether the text is the same, or where it parts, with both next words."""
    difference = run.first_difference
    if run.identical or difference is None:
        return "identical" if run.identical else "differs"
    words = (
        f"token {difference.token_index + 1}: “{difference.without_draft.strip()}” or "
        f"“{difference.with_draft.strip()}”"
    )
    match difference.is_numeric_tie:
        case True:
            return f"numeric tie at {words}"
        case False:
            return f"differs at {words}"
        case None:
            return f"differs, unweighed, at {words}"


def difference_explanation(difference: FirstDifference) -> str:
    """Both texts' next words, and how close the target found them."""
    words = (
        f"Without the draft: “{difference.without_draft}”\n"
        f"With the draft: “{difference.with_draft}”"
    )
    if difference.gap_nats is None:
        return words
    gap = significant(abs(difference.gap_nats), 2)
    noise = significant(difference.noise_nats, 2)
    if difference.is_numeric_tie:
        return (
            f"{words}\nThe target finds both equally likely: they are {gap} nats apart, within "
            f"the numeric noise of {noise}."
        )
    return f"{words}\nThe target finds them {gap} nats apart, more than the noise of {noise}."


class ReportModel(QAbstractTableModel):
    """The long table for a view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ReportRow, ...] = ()

    def show_report(self, report: BenchReport) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self._rows = report_rows(report)
        self.endResetModel()

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """One for each prompt and setting."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        """The columns are always the same."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Titles, and what they mean as tooltips."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        column = COLUMNS[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return column.explanation
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case _:
                return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One cell; never raises."""
        if not (0 <= index.row() < len(self._rows) and 0 <= index.column() < len(COLUMNS)):
            return None
        row, column = self._rows[index.row()], COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(row)
            case Qt.ItemDataRole.ToolTipRole:
                return _tooltip(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case _:
                return None


def _tooltip(row: ReportRow, column: Column) -> str:
    if column is COLUMNS[0]:
        return row.result.prompt.text
    if column is COLUMNS[-1] and row.run.first_difference is not None:
        return difference_explanation(row.run.first_difference)
    return column.explanation


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _rate(value: float | None) -> str:
    return "–" if value is None else significant(value)
