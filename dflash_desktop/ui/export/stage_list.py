"""The stages of a run: which is done, which runs and how far it is, how long each took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from dflash_desktop.domain.export_run import StageState
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.export.run_words import STAGE_LOOKS, whole_seconds
from dflash_desktop.ui.theme import (
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    SIZE_CAPTION,
    STATE_COLOURS,
    TextRole,
    interface_font,
)
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.state_icon import StateIcon

if TYPE_CHECKING:
    from dflash_desktop.domain.export_run import ExportStage
    from dflash_desktop.ui.theme import Theme

_BAR_STEPS: Final = 1000


class StageList(QWidget):
    """Rows of the same stages only change."""

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._names: tuple[str, ...] = ()
        self._rows: list[_StageRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_SMALL)

    def show_stages(self, stages: tuple[ExportStage, ...]) -> None:
        """Show the stages as they are now."""
        names = tuple(stage.name for stage in stages)
        if names != self._names:
            self._names = names
            empty_layout(self._column)
            self._rows = [_StageRow(theme=self._theme) for _ in stages]
            for row in self._rows:
                self._column.addWidget(row)
        for row, stage in zip(self._rows, stages, strict=True):
            row.show_stage(stage)


class _StageRow(QWidget):
    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._shown: ExportStage | None = None
        self._icon = StateIcon(theme=theme)
        self._title = Label(wraps=True)
        self._seconds = Label(role=TextRole.CAPTION)
        self._seconds.setFont(interface_font(SIZE_CAPTION, tabular=True))
        self._bar = QProgressBar()
        self._bar.setRange(0, _BAR_STEPS)
        self._bar.setTextVisible(False)
        self._detail = ElidedLabel(role=TextRole.CAPTION)
        words = QVBoxLayout()
        words.setSpacing(GAP_TINY)
        top = QHBoxLayout()
        top.addWidget(self._title, 1)
        top.addWidget(self._seconds)
        words.addLayout(top)
        words.addWidget(self._bar)
        words.addWidget(self._detail)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP_MEDIUM)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)

    def show_stage(self, stage: ExportStage) -> None:
        """Show one stage; what has not changed is not drawn again."""
        if stage == self._shown:
            return
        self._shown = stage
        word, role, icon = STAGE_LOOKS[stage.state]
        is_running = stage.state is StageState.RUNNING
        is_waiting = stage.state is StageState.WAITING
        title_role = TextRole.STRONG if is_running else TextRole.INTERFACE
        self._title.show_text(stage.title, role=TextRole.MUTED if is_waiting else title_role)
        time = whole_seconds(stage.seconds) if stage.seconds >= 1 else ""
        share = "" if stage.share is None or not is_running else f"{int(stage.share * 100)} %"
        self._seconds.show_text(" · ".join(part for part in (share, time) if part))
        self._keep_room_for_bar(is_running)
        self._bar.setVisible(is_running and stage.share is not None)
        self._bar.setValue(round(max(0.0, min(1.0, stage.share or 0.0)) * _BAR_STEPS))
        self._bar.setAccessibleName(f"Progress of: {stage.title}")
        self._detail.show_text(stage.detail)
        self._detail.setVisible(bool(stage.detail) and not is_waiting)
        parts = (stage.title, word, share, time, stage.detail)
        self.setAccessibleName(", ".join(part for part in parts if part))
        self._icon.show_state(icon, STATE_COLOURS.get(role, ColourRole.ACCENT))

    def _keep_room_for_bar(self, is_kept: bool) -> None:
        """What is below stays where it is when a share becomes known, or unknown again."""
        policy = self._bar.sizePolicy()
        policy.setRetainSizeWhenHidden(is_kept)
        self._bar.setSizePolicy(policy)
