"""Leads through the setup: what was looked at, what was chosen, how far it is, what is loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from dflash_desktop.domain.engine_state import Loading, Starting, loaded_pair
from dflash_desktop.domain.export_pairs import request_to_export
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.setup import SetupStep
from dflash_desktop.domain.starter import STARTER_PAIR_ID, StarterState
from dflash_desktop.ui.engine_words import state_words
from dflash_desktop.ui.starter.presenter import StarterPresenter
from dflash_desktop.ui.wizard.getting import Getting
from dflash_desktop.ui.wizard.survey import Survey
from dflash_desktop.ui.wizard.words import people_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.setup import SetupPlace
    from dflash_desktop.ui.pair_presenter import PairPresenter
    from dflash_desktop.ui.wizard.choices import Choices
    from dflash_desktop.ui.wizard.pane import WizardPane
    from dflash_desktop.ui.wizard.parts import SetupParts

_STEPS = tuple(SetupStep)


class _PlaceChange(TypedDict, total=False):
    step: SetupStep
    pair_id: str
    context_tokens: int
    is_left: bool


class WizardPresenter:
    """`pairs` loads what was got; `on_problem` shows what has no place on a page.

    `export(request)` leads to making what nobody has converted.
    """

    def __init__(
        self,
        *,
        pane: WizardPane,
        parts: SetupParts,
        pairs: PairPresenter,
        export: Callable[[ExportRequest], None],
        on_problem: Callable[[Problem], None],
    ) -> None:
        self._export = export
        self._pane = pane
        self._parts = parts
        self._pairs = pairs
        self._on_problem = on_problem
        self._settings = parts.settings
        self._survey = Survey(
            machine=pane.machine,
            choose=pane.choose,
            parts=parts,
            on_change=self._on_looked,
            on_problem=on_problem,
        )
        self._starter = StarterPresenter(
            pane=pane.starter, starter=parts.starter, on_change=self._on_starter_change
        )
        self._getting = Getting(
            page=pane.transfer,
            transfers=parts.transfers,
            find_loadable=parts.find_loadable,
            is_whole=parts.is_whole,
            on_arrived=self._on_arrived,
        )
        self._connect()

    def _connect(self) -> None:
        pane = self._pane
        pane.next_requested.connect(self._on_next)
        pane.back_requested.connect(self._on_back)
        pane.left.connect(lambda: self._keep(is_left=True))
        pane.machine.look_requested.connect(self._survey.look)
        pane.machine.reserve_chosen.connect(self._on_reserve_chosen)
        pane.machine.device_chosen.connect(self._on_device_chosen)
        pane.choose.pair_chosen.connect(lambda pair_id: self._on_choice(pair_id=pair_id))
        pane.choose.context_chosen.connect(lambda count: self._on_choice(context_tokens=count))
        pane.starter.chat_requested.connect(lambda: self._on_arrived(STARTER_PAIR_ID))
        pane.transfer.starter_requested.connect(self.show_starter)
        pane.transfer.background_requested.connect(pane.left)
        self._pairs.subscribe(self._show_ready)

    @property
    def place(self) -> SetupPlace:
        """Where the person is."""
        return self._settings.value.setup

    def open(self) -> None:
        """Go on where the person was, or from the beginning after the end."""
        self._keep(is_left=False)
        self._survey.look_once()
        step = self.place.step
        self._go(SetupStep.MACHINE if step is SetupStep.READY else step)

    def show_starter(self) -> None:
        """Go straight to getting the starter pair, or repairing it."""
        self._survey.look_once()
        self._keep(pair_id=STARTER_PAIR_ID)
        self._go(SetupStep.GET)

    def show_pair(self, pair_id: str) -> None:
        """Go to the choice with this pair marked, also if it was added a moment ago."""
        self._keep(pair_id=pair_id)
        self._survey.forget_pairs()
        self._go(SetupStep.CHOOSE)

    @property
    def repo_ids(self) -> tuple[str, ...]:
        """What is being got from a hub; the repository that a problem is about first."""
        return self._getting.repo_ids

    def try_again(self) -> None:
        """Go on with what stopped, or ask the hub again."""
        self._getting.try_again()

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        await self._survey.close()
        await self._starter.close()
        await self._getting.close()

    # --- from page to page ------------------------------------------------------------------

    def _go(self, step: SetupStep) -> None:
        """Show a page; one that needs a choice first leads to the choice."""
        is_starter = self.place.pair_id == STARTER_PAIR_ID
        pair = None
        if step is SetupStep.GET and not is_starter:
            pair = self._chosen_pair()
            step = step if pair is not None else SetupStep.CHOOSE
        self._keep(step=step)
        self._pane.show_step(step, is_starter=is_starter)
        self._show_next()
        match step:
            case SetupStep.MACHINE:
                self._pane.focus_next()
            case SetupStep.CHOOSE:
                self._show_choices()
                self._pane.choose.focus_first()
            case SetupStep.GET if pair is not None:
                self._getting.show(pair)
                self._pane.transfer.focus_first()
            case SetupStep.GET:
                self._starter.refresh()
            case SetupStep.READY:
                self._show_ready()
                self._pane.ready.focus_first()

    def _show_next(self) -> None:
        """Whether the way on is open, and why not."""
        step, survey = self._pane.step, self._survey
        if step is SetupStep.MACHINE and survey.has_failed:
            self._pane.show_next("Try the starter model")
        elif step is SetupStep.MACHINE:
            why_not = "" if survey.is_known else "The machine is still being looked at."
            self._pane.show_next("Choose a model", why_not=why_not)
        elif step is SetupStep.CHOOSE:
            choices = survey.choices
            chosen = None if choices is None else choices.find(choices.chosen_id)
            is_here = chosen is not None and self._is_loadable(chosen.pair_id)
            if chosen is not None and chosen.can_be_exported and not is_here:
                self._pane.show_next("Export…")
                return
            self._pane.show_next(
                "Use it" if is_here else "Get it",
                why_not="Choose one first." if chosen is None else chosen.why_not,
            )
        elif step is SetupStep.GET:
            self._pane.show_next(is_shown=self._is_loadable(self.place.pair_id))
        else:
            self._pane.show_next()

    def _on_next(self) -> None:
        match self._pane.step:
            case SetupStep.MACHINE if not self._survey.is_known:
                self.show_starter()
            case SetupStep.MACHINE:
                self._go(SetupStep.CHOOSE)
            case SetupStep.CHOOSE if self._survey.choices is not None:
                self._keep(pair_id=self._survey.choices.chosen_id)
                self._get_chosen(self._survey.choices)
            case SetupStep.GET if self.place.pair_id == STARTER_PAIR_ID:
                self._on_arrived(STARTER_PAIR_ID)
            case SetupStep.GET:
                self._go(SetupStep.GET)  # what is here already arrives at once
            case SetupStep.READY:
                self._pane.left.emit()
            case SetupStep.CHOOSE:
                pass  # nothing is judged yet, and the way on is closed

    def _on_back(self) -> None:
        self._go(_STEPS[max(0, _STEPS.index(self._pane.step) - 1)])

    def _on_looked(self) -> None:
        if self._pane.step is SetupStep.CHOOSE and self._survey.has_failed:
            self._go(SetupStep.MACHINE)
        elif self._pane.step is SetupStep.CHOOSE:
            self._pane.choose.focus_first()
        self._show_next()
        if self._pane.step is SetupStep.MACHINE:
            self._pane.focus_next()

    # --- the choice ---------------------------------------------------------------------------

    def _on_choice(self, **change: Unpack[_PlaceChange]) -> None:
        self._keep(**change)
        self._show_choices()

    def _on_reserve_chosen(self, reserve_bytes: int) -> None:
        self._change(lambda: self._settings.change(memory_reserve_bytes=reserve_bytes))
        self._show_choices()

    def _on_device_chosen(self, device: str) -> None:
        self._change(lambda: self._settings.change(device=device))
        self._show_choices()

    def _show_choices(self) -> None:
        self._change(self._survey.show)
        self._show_next()

    def _chosen_pair(self) -> CataloguePair | None:
        return self._survey.find_pair(self.place.pair_id)

    def _is_loadable(self, pair_id: str) -> bool:
        if pair_id == STARTER_PAIR_ID:
            return self._parts.starter.status().state is StarterState.READY
        pair = self._survey.find_pair(pair_id)
        return pair is not None and self._getting.is_installed(pair)

    def _get_chosen(self, choices: Choices) -> None:
        content = choices.find(choices.chosen_id)
        pair = self._chosen_pair()
        if content is not None and content.can_be_exported and pair is not None:
            request = request_to_export(pair)
            if request is not None and not self._is_loadable(pair.id):
                self._export(request)
                return
        self._go(SetupStep.GET)
        self._take_starter_that_is_here()

    # --- the model ----------------------------------------------------------------------------

    def _take_starter_that_is_here(self) -> None:
        if self.place.pair_id == STARTER_PAIR_ID and self._is_loadable(STARTER_PAIR_ID):
            self._on_arrived(STARTER_PAIR_ID)

    def _on_arrived(self, pair_id: str) -> None:
        """Have it loaded, unless the person went on with another one meanwhile."""
        chosen = self._pairs.chosen
        if chosen is not None and not self._pane.isVisible():
            return
        if chosen is None or chosen.id != pair_id:
            self._pairs.load(pair_id)
        if self._pane.step is SetupStep.GET:
            self._go(SetupStep.READY)

    def _on_starter_change(self) -> None:
        is_ready = self._parts.starter.status().state is StarterState.READY
        is_awaited = self.place.pair_id == STARTER_PAIR_ID or self._pairs.chosen is None
        if is_ready and is_awaited:
            self._on_arrived(STARTER_PAIR_ID)
        self._pairs.refresh()
        self._show_next()

    def _show_ready(self) -> None:
        page, state = self._pane.ready, self._parts.engine.state
        pair = loaded_pair(state)
        if pair is not None:
            page.show_loaded(
                pair.title,
                f"It runs on {people_name(pair.device_name)}. Nothing you write leaves this "
                "machine.",
                has_draft=pair.draft is not None,
            )
        elif isinstance(state, Loading | Starting):
            words = state_words(state)
            page.show_loading(words.text, words.explanation)
        else:
            page.show_nothing()

    # --- what is kept -------------------------------------------------------------------------

    def _keep(self, **changes: Unpack[_PlaceChange]) -> None:
        """Remember where the person is."""
        self._change(lambda: self._settings.change(setup=replace(self.place, **changes)))

    def _change(self, change: Callable[[], object]) -> None:
        try:
            change()
        except AppError as error:
            self._on_problem(error.problem)
