"""What is being made now: a preview by step, how fast, how long still, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPen
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from dflash_desktop.domain.picture_queue import QueuePhase, pace_words, phase_words
from dflash_desktop.domain.pictures import size_words
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import (
    GAP,
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    SIZE_CAPTION,
    TextRole,
    interface_font,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QPaintEvent

    from dflash_desktop.domain.made_picture import Pixels
    from dflash_desktop.domain.picture_queue import QueuedPicture
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.ui.theme import Theme

_PREVIEW_PX: Final = 152
_SMALL_PREVIEW_PX: Final = 88
_BAR_STEPS: Final = 1000
_MOST_WAITING: Final = 2
_RADIUS_PX: Final = 6


class PreviewView(QWidget):
    """Draws the last preview, or a quiet place for it."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._image = QImage()
        self._pixels: Pixels | None = None
        self.show_small(False)
        self.setAccessibleName("Preview")
        theme.changed.connect(self.update)

    def show_small(self, is_small: bool) -> None:
        """Where there is little room."""
        side = _SMALL_PREVIEW_PX if is_small else _PREVIEW_PX
        self.setFixedSize(side, side)

    def show_pixels(self, pixels: Pixels | None) -> None:
        """Show a preview; None clears it."""
        if pixels is self._pixels:
            return
        self._pixels = pixels
        self._image = QImage()
        if pixels is not None:
            row = pixels.width * 3
            form = QImage.Format.Format_RGB888
            self._image = QImage(pixels.rgb, pixels.width, pixels.height, row, form).copy()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The preview in its shape, in the middle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(self._theme.colour(ColourRole.BORDER), 1))
        painter.setBrush(self._theme.colour(ColourRole.SURFACE))
        painter.drawRoundedRect(area, _RADIUS_PX, _RADIUS_PX)
        if self._image.isNull():
            side = 24
            icon = self._theme.icon(IconName.IMAGE, ColourRole.TEXT_MUTED)
            middle = self.rect().center()
            icon.paint(painter, middle.x() - side // 2, middle.y() - side // 2, side, side)
        else:
            room = area.adjusted(1, 1, -1, -1)
            size = self._image.size().scaled(
                room.size().toSize(), Qt.AspectRatioMode.KeepAspectRatio
            )
            place = QRectF(0, 0, size.width(), size.height())
            place.moveCenter(room.center())
            painter.drawImage(place, self._image)
        painter.end()


class NowCard(QWidget):
    """Hidden while nothing is made. Signals: `cancel_requested(id)`, `all_cancelled`,
    `remedy_chosen(Remedy)`.
    """

    cancel_requested = Signal(int)
    all_cancelled = Signal()
    remedy_chosen = Signal(object)

    def __init__(self, *, theme: Theme, report: Callable[[Problem], str]) -> None:
        super().__init__()
        self._theme = theme
        self._current = 0
        self._failed = 0
        self._most_waiting = _MOST_WAITING
        self.preview = PreviewView(theme=theme)
        self._prompt = ElidedLabel(role=TextRole.STRONG)
        self._facts = ElidedLabel(role=TextRole.CAPTION)
        self._phase = Label()
        self._pace = Label(role=TextRole.CAPTION)
        self._pace.setFont(interface_font(SIZE_CAPTION, tabular=True))
        self._bar = QProgressBar()
        self._bar.setRange(0, _BAR_STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("This picture")
        self._cancel = Button("Cancel", theme=theme)
        self._cancel.setToolTip("Ends within one step")
        self._cancel.clicked.connect(lambda: self.cancel_requested.emit(self._current))
        self._cancel_all = Button("Cancel all", theme=theme, kind=ButtonKind.QUIET)
        self._cancel_all.clicked.connect(self.all_cancelled)
        self._waiting = QVBoxLayout()
        self._waiting.setSpacing(0)
        self._shown_waiting: tuple[QueuedPicture, ...] = ()
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy)
        self._problem.dismissed.connect(lambda: self.cancel_requested.emit(self._failed))
        self._lay_out()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_small(self, is_small: bool) -> None:
        """In a small window the preview is small, and what waits is a number."""
        self.preview.show_small(is_small)
        self._most_waiting = 0 if is_small else _MOST_WAITING
        shown, self._shown_waiting = self._shown_waiting, ()
        self._show_waiting(shown)

    def show_queue(self, queue: tuple[QueuedPicture, ...]) -> None:
        """What is made, what waits, and what failed."""
        failed = next((i for i in queue if i.phase is QueuePhase.FAILED), None)
        running = [item for item in queue if item.phase is not QueuePhase.FAILED]
        self._card.setVisible(bool(running))
        self._show_failed(failed)
        if running:
            self._show_current(running[0])
        self._show_waiting(tuple(running[1:]))
        self.setVisible(bool(queue))

    def _show_current(self, item: QueuedPicture) -> None:
        self._current = item.id
        request = item.request
        self._prompt.show_text(request.prompt)
        size = size_words(request.width, request.height)
        self._facts.show_text(f"{item.model.title} · {size} · seed {request.seed}")
        self._phase.show_text(phase_words(item))
        self._pace.show_text(pace_words(item))
        self._bar.setValue(round(item.share * _BAR_STEPS))
        self._cancel.setEnabled(item.phase is not QueuePhase.STOPPING)
        self.preview.show_pixels(item.preview)

    def _show_failed(self, item: QueuedPicture | None) -> None:
        if item is not None and item.problem is not None:
            if item.id != self._failed:
                self._failed = item.id
                self._problem.show_problem(item.problem)
        elif self._failed:
            self._failed = 0
            self._problem.clear()

    def _show_waiting(self, items: tuple[QueuedPicture, ...]) -> None:
        self._cancel_all.setVisible(bool(items))
        if [i.id for i in items] == [i.id for i in self._shown_waiting]:
            return
        self._shown_waiting = items
        empty_layout(self._waiting)
        if items:
            words = "1 picture waits" if len(items) == 1 else f"{len(items)} pictures wait"
            self._waiting.addWidget(Label(words, role=TextRole.OVERLINE))
        for item in items[: self._most_waiting]:
            self._waiting.addWidget(self._waiting_row(item))
        if len(items) > self._most_waiting > 0:
            more = f"and {len(items) - self._most_waiting} more"
            self._waiting.addWidget(Label(more, role=TextRole.CAPTION))

    def _waiting_row(self, item: QueuedPicture) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(GAP_SMALL)
        words = f"seed {item.request.seed} · {item.request.prompt}"
        line.addWidget(ElidedLabel(words, role=TextRole.MUTED), 1)
        remove = IconButton(IconName.CLOSE, f"Do not make it: {words}", theme=self._theme)
        remove.clicked.connect(lambda: self.cancel_requested.emit(item.id))
        line.addWidget(remove)
        return row

    def _on_remedy(self, remedy: Remedy) -> None:
        self.cancel_requested.emit(self._failed)
        self.remedy_chosen.emit(remedy)

    def _lay_out(self) -> None:
        numbers = QHBoxLayout()
        numbers.addWidget(self._phase)
        numbers.addStretch(1)
        numbers.addWidget(self._pace)
        buttons = QHBoxLayout()
        buttons.setSpacing(GAP_SMALL)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._cancel_all)
        buttons.addStretch(1)
        words = QVBoxLayout()
        words.setSpacing(GAP_TINY)
        words.addWidget(self._prompt)
        words.addWidget(self._facts)
        words.addStretch(1)
        words.addLayout(numbers)
        words.addWidget(self._bar)
        words.addSpacing(GAP_TINY)
        words.addLayout(buttons)
        row = QHBoxLayout()
        row.setSpacing(GAP_MEDIUM)
        row.addWidget(self.preview)
        row.addLayout(words, 1)
        self._card = SurfaceFrame(Surface.CARD)
        card = QVBoxLayout(self._card)
        card.setContentsMargins(GAP, GAP, GAP, GAP)
        card.setSpacing(GAP_MEDIUM)
        card.addLayout(row)
        card.addLayout(self._waiting)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(self._problem)
        column.addWidget(self._card)
