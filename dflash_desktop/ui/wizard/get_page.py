"""The third page of the setup for a pair from a hub: what it takes, then how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.transfers.transfer_card import TransferCard
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.wizard.machine_page import PAGE_WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.transfer import Transfer, TransferPlan
    from dflash_desktop.ui.theme import Theme


class GetPage(PageColumn):
    """Signals: `download_requested`, `plan_requested` (again), `starter_requested`,
    `background_requested`, `pause_requested(id)`, `resume_requested(id)`,
    `removed(id, keep_files)`, `remedy_chosen(Remedy)`.
    """

    download_requested = Signal()
    plan_requested = Signal()
    starter_requested = Signal()
    background_requested = Signal()
    pause_requested = Signal(str)
    resume_requested = Signal(str)
    removed = Signal(str, bool)
    remedy_chosen = Signal(Remedy)

    def __init__(self, *, theme: Theme, report: Callable[[Problem], str]) -> None:
        super().__init__(width=PAGE_WIDTH)
        self._theme = theme
        self._report = report
        self._card: TransferCard | None = None
        self._heading = Label(role=TextRole.HEADING, wraps=True)
        self._intro = Label(role=TextRole.READING, wraps=True)
        self._problem = ProblemView(theme=theme, report=report, can_dismiss=False)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._download = Button(
            "Download", theme=theme, kind=ButtonKind.PRIMARY, icon=IconName.DOWNLOAD
        )
        self._download.clicked.connect(self.download_requested)
        self._offer = self._built_offer()
        self._place = QVBoxLayout()
        self._background = Button("Continue in background", theme=theme)
        self._background.clicked.connect(self.background_requested)
        self._starter = Button("Try the starter model instead", theme=theme, kind=ButtonKind.LINK)
        self._starter.clicked.connect(self.starter_requested)
        self.column.addWidget(self._heading)
        self.column.addWidget(self._intro)
        self.column.addWidget(self._problem)
        self.column.addWidget(self._offer)
        self.column.addLayout(self._place)
        row = QHBoxLayout()
        row.setSpacing(GAP_SMALL)
        row.addLayout(FlowRow(self._background, self._starter), 1)
        self.column.addLayout(row)
        self.column.addStretch(1)

    def show_planning(self, title: str) -> None:
        """The hub is asked what there is to download."""
        self._heading.show_text(f"Get {title}")
        self._intro.show_text("Asking the hub how much there is to download…")
        self._show(offer=False, is_moving=False)
        self.focus_first()

    def show_plan(self, title: str, plan: TransferPlan) -> None:
        """What the download takes, before its first byte."""
        self._heading.show_text(f"Get {title}")
        self._intro.show_text(
            "It is downloaded once, checked byte for byte, and then needs no network. You can "
            "pause it, and go on using the program meanwhile."
        )
        self._facts.show_text("\n".join(plan_lines(plan)))
        lacking = plan.needed_disk_bytes - plan.free_disk_bytes
        self._room.setVisible(lacking > 0)
        self._room.show_text(
            f"The disk has {format_bytes(plan.free_disk_bytes)} free, and "
            f"{format_bytes(plan.needed_disk_bytes)} are needed. Free "
            f"{format_bytes(max(0, lacking))} first."
        )
        self._download.setText(f"Download {format_bytes(plan.missing_bytes)}")
        self._download.setEnabled(lacking <= 0)
        self._download.setToolTip("" if lacking <= 0 else "There is not enough room on the disk.")
        self._show(offer=True, is_moving=False)
        self.focus_first()

    def show_transfer(self, title: str, transfer: Transfer) -> None:
        """How far the download is."""
        self._heading.show_text(f"Getting {title}")
        self._intro.show_text("It goes on in the background too: see it under Transfers.")
        if self._card is not None and self._card.id != transfer.id:
            self._card.hide()
            self._card.deleteLater()
            self._card = None
        is_new = self._card is None or self._card.isHidden()
        if self._card is None:
            self._card = TransferCard(transfer, theme=self._theme, report=self._report)
            self._card.pause_requested.connect(self.pause_requested)
            self._card.resume_requested.connect(self.resume_requested)
            self._card.removed.connect(self.removed)
            self._card.remedy_chosen.connect(self._on_card_remedy)
            self._place.addWidget(self._card)
        self._card.show_transfer(transfer)
        self._show(offer=False, is_moving=True)
        if is_new:
            self.focus_first()

    def show_problem(self, title: str, problem: Problem) -> None:
        """It cannot be had now; the starter pair can."""
        self._heading.show_text(f"Get {title}")
        self._intro.show_text("")
        self._show(offer=False, is_moving=False)
        self._problem.show_problem(problem)
        self.focus_first()

    def focus_first(self) -> None:
        """Put the keyboard on what one would do next, so that it never leaves the page."""
        if not self.isVisible() or self._problem.take_focus():
            return
        for button in (self._download, self._background, self._starter):
            if button.isVisible() and button.isEnabled():
                button.setFocus()
                return

    def _built_offer(self) -> SurfaceFrame:
        self._facts = Label(wraps=True)
        self._room = Label(role=TextRole.BAD, wraps=True)
        card = SurfaceFrame(Surface.CARD)
        column = QVBoxLayout(card)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP)
        column.addWidget(self._facts)
        column.addWidget(self._room)
        column.addLayout(FlowRow(self._download))
        return card

    def _show(self, *, offer: bool, is_moving: bool) -> None:
        self._problem.clear()
        self._intro.setVisible(bool(self._intro.text()))
        self._offer.setVisible(offer)
        if self._card is not None:
            self._card.setVisible(is_moving)
        self._background.setVisible(is_moving)
        self._starter.setVisible(not is_moving)

    def _on_card_remedy(self, transfer_id: str, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self.resume_requested.emit(transfer_id)
        else:
            self.remedy_chosen.emit(remedy)

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self.plan_requested.emit()
        else:
            self.remedy_chosen.emit(remedy)


def plan_lines(plan: TransferPlan) -> list[str]:
    """One line for each repository, and one for the disk."""
    lines = []
    for repo in plan.repos:
        parts = [repo.repo_id, format_bytes(repo.size_bytes)]
        parts.append(f"licence {repo.licence}" if repo.licence else "licence: see its page")
        if repo.is_gated:
            parts.append("its owner asks you to accept terms first")
        lines.append(" · ".join(parts))
    present = plan.total_bytes - plan.missing_bytes
    if present > 0:
        lines.append(f"{format_bytes(present)} of it are on this disk already.")
    if plan.needed_disk_bytes <= plan.free_disk_bytes:
        lines.append(
            f"{format_bytes(plan.needed_disk_bytes)} of the {format_bytes(plan.free_disk_bytes)} "
            "that are free on the disk are needed."
        )
    return lines
