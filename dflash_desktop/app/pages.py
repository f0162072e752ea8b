"""The pages of the window with their presenters, each built when it is first shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QTimer

from dflash_desktop.app.export_pages import ExportPages
from dflash_desktop.app.model_pages import ModelPages
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.chat.memory_presenter import MemoryPresenter
from dflash_desktop.ui.chat.pane import ChatPane
from dflash_desktop.ui.chat.presenter import ChatPresenter
from dflash_desktop.ui.chat.warm_up import warm_up
from dflash_desktop.ui.conversations_presenter import ConversationsPresenter
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.pair_presenter import PairPresenter

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.app.image_page import ImagePage
    from dflash_desktop.app.services import Services
    from dflash_desktop.app.setup_page import SetupPage
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.ui.main_window import MainWindow
    from dflash_desktop.ui.measure.presenter import MeasurePresenter
    from dflash_desktop.ui.models.pane import ModelsPane
    from dflash_desktop.ui.theme import Theme


class Pages:
    """`pairs` loads what is chosen, `chat_pane` is where one writes."""

    def __init__(
        self,
        *,
        window: MainWindow,
        theme: Theme,
        services: Services,
        paths: AppPaths,
        report: Callable[[Problem], str],
        on_remedy: Callable[[Remedy], None],
    ) -> None:
        self._window = window
        self._theme = theme
        self._services = services
        self._paths = paths
        self._report = report
        self._on_remedy = on_remedy
        self._measure: MeasurePresenter | None = None
        self._setup: SetupPage | None = None
        self._images: ImagePage | None = None
        self.pairs = PairPresenter(
            window=window,
            engine=services.engine,
            library=services.library,
            loading=services.loading,
            settings=services.settings,
            measurements=services.measurements,
            draft_plan=services.chat.draft_plan,
        )
        self.chat_pane = ChatPane(theme=theme, report=report, picture_files=services.pictures)
        self._chat = ChatPresenter(
            pane=self.chat_pane,
            chat=services.chat,
            engine=services.engine,
            measurements=services.measurements,
            settings=services.settings,
            pictures=services.pictures,
            theme=theme,
            on_remedy=on_remedy,
            lead=self.take_opened,
        )
        self._memory = MemoryPresenter(
            pane=self.chat_pane,
            engine=services.engine,
            memory=services.memory,
            machine=services.hardware,
        )
        self._conversations = ConversationsPresenter(
            sidebar=window.sidebar,
            store=services.conversations,
            chat=self._chat,
            on_problem=window.show_problem,
        )
        self._model_pages = ModelPages(
            window=window,
            theme=theme,
            services=services,
            pairs=self.pairs,
            report=report,
            show=self.show,
            show_starter=self.show_starter,
            get_pair=self.get_pair,
            export=self.export,
            lead=self.take_opened,
            on_remedy=on_remedy,
            make_pictures=self.make_pictures,
        )
        self._exports = ExportPages(
            window=window,
            theme=theme,
            services=services,
            pairs=self.pairs,
            report=report,
            show=self.show,
            get_pair=self.get_pair,
            models=self._model_pages,
        )
        window.sidebar.page_requested.connect(self.show)
        window.sidebar.conversation_chosen.connect(lambda _: self.show(Page.CHAT))
        window.sidebar.new_chat_requested.connect(lambda: self.show(Page.CHAT))
        window.header.models_requested.connect(lambda: self.show(Page.MODELS))
        window.header.setup_requested.connect(lambda: self.show(Page.SETUP))
        self.chat_pane.setup_requested.connect(lambda: self.show(Page.SETUP))
        self.chat_pane.models_requested.connect(lambda: self.show(Page.MODELS))
        window.header.measure_requested.connect(lambda: self.show(Page.MEASURE))

    def begin(self) -> None:
        """Load the last model and be ready to chat; without any, lead to a first one."""
        may_chat = self.pairs.load_preferred() or self._services.settings.value.setup.is_left
        self.show(Page.CHAT if may_chat else Page.SETUP)
        # While the model loads; with the pane as context, since the window may be gone by then.
        QTimer.singleShot(0, self.chat_pane, lambda: warm_up(self.chat_pane.transcript.drawing))

    def show(self, page: Page) -> None:
        """Bring a page to the front, building it if this is the first time."""
        if not self._window.has_page(page):
            self._window.add_page(page, self._built(page))
        self._window.show_page(page)
        if page is Page.CHAT:
            self.chat_pane.focus_composer()
        elif page is Page.SETUP and self._setup is not None:
            self._setup.presenter.open()
        else:
            self._window.sidebar.focus_page(page)
        self._model_pages.on_shown(page)
        if page is Page.EXPORT:
            self._exports.on_shown()

    def show_starter(self) -> None:
        """Lead to the starter model, whether it is to be had or to be repaired."""
        self.show(Page.SETUP)
        if self._setup is not None:
            self._setup.presenter.show_starter()

    def show_devices(self) -> None:
        """Lead to the choice of the device."""
        self._shown_models().show_run_form()

    def take_opened(self, remedy: Remedy, paths: tuple[Path, ...]) -> None:
        """Lead these to where such a remedy takes them, in view; nothing is done with them yet."""
        match remedy:
            case Remedy.ADD_MODEL:
                self.show(Page.MODELS)
                self._model_pages.take_in(paths)
            case Remedy.EXPORT:
                self.show(Page.EXPORT)
                self._exports.take(paths)
            case Remedy.ATTACH_PICTURE:
                self.show(Page.CHAT)
                self.chat_pane.files_given.emit(tuple(map(str, paths)))
            case _:
                raise ValueError(f"{remedy} takes no files")

    def get_pair(self, pair_id: str) -> None:
        """Lead to getting this pair of the catalogue, the person's own part of it included."""
        self.show(Page.SETUP)
        if self._setup is not None:
            self._setup.presenter.show_pair(pair_id)

    def export(self, request: ExportRequest | None = None) -> None:
        """Lead to making a model from a checkpoint; of a request, to its plan."""
        self.show(Page.EXPORT)
        if request is not None:
            self._exports.show_request(request)

    def take_way_out(self, remedy: Remedy) -> bool:
        """Lead to where a problem's button says, or load anew; False if it is neither."""
        if self.pairs.take_way_out(remedy):
            return True
        match remedy:
            case Remedy.CHOOSE_MODEL:
                self.show(Page.MODELS)
            case Remedy.CHOOSE_DEVICE:
                self.show_devices()
            case Remedy.MEASURE:
                self.show(Page.MEASURE)
            case Remedy.INSTALL_STARTER | Remedy.CHOOSE_FILE:
                self.show_starter()
            case Remedy.REPAIR if self.pairs.chosen is not None:
                self._look_at_chosen()
            case Remedy.SHOW_EXPORT:
                self._exports.show_running()
            case _:
                return False
        return True

    def make_pictures(self, model_id: str) -> None:
        """Lead to the page that makes pictures, with this model chosen."""
        self.show(Page.IMAGES)
        if self._images is not None:
            self._images.images.choose(model_id)

    def closings(self) -> list[Coroutine[object, object, None]]:
        """What ends each presenter; to be awaited side by side."""
        presenters = (
            self._chat,
            self._memory,
            self._conversations,
            self.pairs,
            self._measure,
            None if self._setup is None else self._setup.presenter,
        )
        ends = [p.close() for p in presenters if p is not None]
        if self._images is not None:
            ends += self._images.closings()
        return [*ends, *self._model_pages.closings(), *self._exports.closings()]

    def _built(self, page: Page) -> QWidget:
        match page:
            case Page.CHAT:
                return self.chat_pane
            case Page.IMAGES:
                return self._built_images()
            case Page.MODELS:
                return self._model_pages.built_models()
            case Page.MORE_MODELS:
                return self._model_pages.built_more_models()
            case Page.PAIR:
                return self._model_pages.built_pair()
            case Page.TRANSFERS:
                return self._model_pages.built_transfers()
            case Page.EXPORT:
                return self._exports.built()
            case Page.MEASURE:
                return self._built_measure()
            case Page.SETUP:
                return self._built_setup()

    def _built_images(self) -> QWidget:
        from dflash_desktop.app.image_page import ImagePage

        self._images = ImagePage(
            services=self._services,
            theme=self._theme,
            report=self._report,
            on_remedy=self._on_remedy,
            show_transfers=lambda: self.show(Page.TRANSFERS),
            add_model=lambda: self.show(Page.MODELS),
            ask=lambda path: self.take_opened(Remedy.ATTACH_PICTURE, (path,)),
        )
        return self._images.pane

    def _look_at_chosen(self) -> None:
        if self.pairs.chosen is not None:
            self._model_pages.look_at(self.pairs.chosen)

    def _built_measure(self) -> QWidget:
        from dflash_desktop.app.measure_page import build_measure

        pane, self._measure = build_measure(
            services=self._services,
            pairs=self.pairs,
            theme=self._theme,
            report=self._report,
            on_remedy=self._on_remedy,
        )
        pane.ways_requested.connect(self._look_at_chosen)
        pane.models_requested.connect(lambda: self.show(Page.MODELS))
        return pane

    def _built_setup(self) -> QWidget:
        from dflash_desktop.app.setup_page import SetupPage

        self._setup = SetupPage(
            services=self._services,
            paths=self._paths,
            pairs=self.pairs,
            theme=self._theme,
            report=self._report,
            export=self.export,
            on_problem=self._window.show_problem,
            on_remedy=self._on_remedy,
            show=self.show,
            show_own_pair_form=self._show_own_pair_form,
            ask=self._ask,
            models=self._model_pages,
        )
        return self._setup.pane

    def _ask(self, question: str) -> None:
        """Open the chat with this question on its way."""
        self.show(Page.CHAT)
        self.chat_pane.send_requested.emit(question)

    def _show_own_pair_form(self) -> None:
        self._shown_models().show_own_pair_form()

    def _shown_models(self) -> ModelsPane:
        self.show(Page.MODELS)
        return cast("ModelsPane", self._window.page_widget(Page.MODELS))
