"""The pages about models: what is on this disk, what more there is, and what is on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.app.ways_out import named_repo, open_folder, open_page
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.services.pair_library import folders_of
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.transfers.presenter import TransferCount

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.main_window import MainWindow
    from dflash_desktop.ui.models.import_presenter import ImportPresenter
    from dflash_desktop.ui.models.library_presenter import LibraryPresenter
    from dflash_desktop.ui.models.more_presenter import MorePresenter
    from dflash_desktop.ui.models.pane import ModelsPane
    from dflash_desktop.ui.models.presenter import ModelsPresenter
    from dflash_desktop.ui.models.storage_presenter import StoragePresenter
    from dflash_desktop.ui.pair.pane import PairPane
    from dflash_desktop.ui.pair.presenter import PairPagePresenter
    from dflash_desktop.ui.pair_presenter import PairPresenter
    from dflash_desktop.ui.theme import Theme
    from dflash_desktop.ui.transfers.connection_presenter import ConnectionPresenter
    from dflash_desktop.ui.transfers.pane import TransfersPane
    from dflash_desktop.ui.transfers.presenter import TransfersPresenter


class ModelPages:
    """Builds each of these pages when it is first shown; `show` brings any page to the front."""

    def __init__(
        self,
        *,
        window: MainWindow,
        theme: Theme,
        services: Services,
        pairs: PairPresenter,
        report: Callable[[Problem], str],
        show: Callable[[Page], None],
        show_starter: Callable[[], None],
        get_pair: Callable[[str], None],
        export: Callable[[ExportRequest | None], None],
        lead: Callable[[Remedy, tuple[Path, ...]], None],
        on_remedy: Callable[[Remedy], None],
        make_pictures: Callable[[str], None],
    ) -> None:
        self._window = window
        self._theme = theme
        self._services = services
        self._pairs = pairs
        self._report = report
        self._show = show
        self._show_starter = show_starter
        self._get_pair = get_pair
        self._export = export
        self._lead = lead
        self._on_remedy = on_remedy
        self._make_pictures = make_pictures
        self._models_pane: ModelsPane | None = None
        self._models: ModelsPresenter | None = None
        self._library: LibraryPresenter | None = None
        self._storage: StoragePresenter | None = None
        self._import: ImportPresenter | None = None
        self._more: MorePresenter | None = None
        self._pair_pane: PairPane | None = None
        self._pair: PairPagePresenter | None = None
        self._transfers_pane: TransfersPane | None = None
        self._transfers: TransfersPresenter | None = None
        self._connection: ConnectionPresenter | None = None
        self._count = TransferCount(sidebar=window.sidebar, queue=services.downloads)

    def closings(self) -> list[Coroutine[object, object, None]]:
        """What ends each presenter; to be awaited side by side."""
        presenters = (
            self._count,
            self._models,
            self._library,
            self._storage,
            self._import,
            self._more,
            self._pair,
            self._transfers,
            self._connection,
        )
        return [p.close() for p in presenters if p is not None]

    def built_models(self) -> QWidget:
        """What is on this disk."""
        from dflash_desktop.app.import_part import build_import
        from dflash_desktop.ui.models.library_presenter import LibraryPresenter
        from dflash_desktop.ui.models.pane import ModelsPane
        from dflash_desktop.ui.models.presenter import ModelsPresenter
        from dflash_desktop.ui.models.storage_presenter import StoragePresenter

        services = self._services
        pane = ModelsPane(theme=self._theme, report=self._report)
        pane.starter_requested.connect(self._show_starter)
        pane.get_requested.connect(lambda: self._show(Page.MORE_MODELS))
        pane.export_requested.connect(lambda: self._export(None))
        pane.check_requested.connect(self._show_pair)
        pane.own_pair_form.look_requested.connect(
            lambda title, target, draft: self.look_at(folders_of(title, target, draft))
        )
        self._models_pane = pane
        self._models = ModelsPresenter(
            pane=pane,
            pin=services.pin,
            starter=services.starter,
            library=services.library,
            pairs=self._pairs,
            engine=services.engine,
            settings=services.settings,
            own_pairs=services.own_pairs,
            models=services.models.models,
            machine=services.hardware,
            pool_of=services.memory.pool,
            on_problem=self._window.show_problem,
        )
        pane.own_pair_form.added.get_requested.connect(self._get_pair)
        self._library = LibraryPresenter(
            view=pane.library,
            shelf=services.models,
            engine=services.engine,
            pairs=services.library.pairs,
            load=self._pairs.load_for_model,
            open_folder=open_folder,
            refetch=services.refetch,
            make_pictures=self._make_pictures,
            on_remedy=lambda remedy, model_ids: self.take_remedy(
                remedy, model_ids, on_given=lambda: None
            ),
        )
        self._storage = StoragePresenter(
            card=pane.storage,
            upkeep=services.upkeep,
            engine=services.engine,
            library_dir=lambda: services.paths.library_dir,
            models=services.models.models,
            hold_downloads=services.downloads.held,
            load_again=self._load_again,
            open_folder=open_folder,
        )
        self._import = build_import(
            view=pane.library,
            services=services,
            look_at=self.look_at,
            lead=self._lead,
            on_remedy=lambda remedy: self._take_remedy_of_a_look(remedy, ()),
        )
        return pane

    def built_more_models(self) -> QWidget:
        """What more there is."""
        from dflash_desktop.app.more_page import build_more

        pane, self._more = build_more(
            services=self._services,
            theme=self._theme,
            report=self._report,
            ask_token=lambda repo_ids, on_given: self.connection.open_token(
                repo_ids, on_given=on_given
            ),
            export=self._export,
            on_remedy=self._take_remedy_of_a_look,
        )
        pane.back_requested.connect(lambda: self._show(Page.MODELS))
        pane.page_requested.connect(open_page)
        pane.transfer_requested.connect(self._show_transfer)
        return pane

    def built_pair(self) -> QWidget:
        """Whether a pair works."""
        from dflash_desktop.app.pair_page import build_pair_page

        pane, self._pair = build_pair_page(
            services=self._services, pairs=self._pairs, theme=self._theme, report=self._report
        )
        pane.back_requested.connect(lambda: self._show(Page.MODELS))
        self._pair_pane = pane
        return pane

    def built_transfers(self) -> QWidget:
        """What is on its way."""
        from dflash_desktop.ui.transfers.pane import TransfersPane
        from dflash_desktop.ui.transfers.presenter import TransfersPresenter

        pane = TransfersPane(theme=self._theme, report=self._report)
        self._transfers_pane = pane
        pane.models_requested.connect(lambda: self._show(Page.MORE_MODELS))
        pane.library_requested.connect(self._show_in_library)
        pane.connection_requested.connect(lambda: self.connection.open_connection())
        self._transfers = TransfersPresenter(
            pane=pane, queue=self._services.downloads, on_remedy=self._take_remedy
        )
        return pane

    @property
    def connection(self) -> ConnectionPresenter:
        """The dialogs about the way to the hub."""
        if self._connection is None:
            from dflash_desktop.ui.transfers.connection_presenter import ConnectionPresenter

            self._connection = ConnectionPresenter(
                parent=self._window,
                theme=self._theme,
                settings=self._services.settings,
                tokens=self._services.tokens,
                endpoint=lambda: self._services.hub.endpoint,
                open_page=open_page,
                on_problem=self._window.show_problem,
            )
        return self._connection

    def take_in(self, paths: tuple[Path, ...]) -> None:
        """As if the person had dropped these on the Models page, which is built."""
        if self._import is not None and self._models_pane is not None:
            self._models_pane.show_library()
            self._import.take(tuple(map(str, paths)))

    def on_shown(self, page: Page) -> None:
        """Look anew at what may have changed while a page was not in front."""
        if page is Page.MODELS and self._library is not None and self._storage is not None:
            self._library.look()
            self._storage.refresh()
        elif page is Page.MORE_MODELS and self._more is not None:
            self._more.look()

    def _load_again(self) -> None:
        if self._pairs.chosen is not None:
            self._pairs.load(self._pairs.chosen.id, self._pairs.chosen.draft_dir is not None)

    def _show_pair(self, pair_id: str) -> None:
        pair = self._services.library.find(pair_id)
        if pair is not None:
            self.look_at(pair)

    def look_at(self, pair: PairFolders) -> None:
        """Open the page of a pair."""
        self._show(Page.PAIR)
        if self._pair is not None and self._pair_pane is not None:
            self._pair.show(pair)
            self._pair_pane.take_focus()

    def _show_transfer(self, transfer_id: str) -> None:
        self._show(Page.TRANSFERS)
        if self._transfers_pane is not None:
            self._transfers_pane.focus_transfer(transfer_id)

    def _show_in_library(self, transfer_id: str) -> None:
        self._show(Page.MODELS)
        for transfer in self._services.downloads.transfers():
            if transfer.id == transfer_id and transfer.request.repos:
                self.show_model(transfer.request.repos[0].repo_id)

    def show_model(self, model_id: str) -> None:
        """Bring a model on this disk to the front."""
        self._show(Page.MODELS)
        if self._models_pane is not None:
            self._models_pane.show_model(model_id)

    def take_remedy(
        self, remedy: Remedy, repo_ids: tuple[str, ...], *, on_given: Callable[[], None]
    ) -> None:
        """Take a way out of a problem with these repositories; `on_given` follows a token."""
        if remedy is Remedy.ENTER_TOKEN:
            self.connection.open_token(repo_ids, on_given=on_given)
        else:
            self._take_remedy_of_a_look(remedy, repo_ids)

    def _take_remedy(self, transfer: Transfer, remedy: Remedy) -> None:
        repo_ids = tuple(repo.repo_id for repo in transfer.request.repos)
        if remedy is Remedy.ENTER_TOKEN:
            self.connection.open_token(
                repo_ids, on_given=lambda: self._services.downloads.resume(transfer.id)
            )
        else:
            named = named_repo(transfer)
            self._take_remedy_of_a_look(remedy, (named,) if named else repo_ids)

    def _take_remedy_of_a_look(self, remedy: Remedy, repo_ids: tuple[str, ...]) -> None:
        match remedy:
            case Remedy.OPEN_MODEL_PAGE if repo_ids:
                self.connection.open_model_page(repo_ids[0])
            case Remedy.NETWORK_SETTINGS:
                self.connection.open_connection()
            case Remedy.MODEL_FOLDER:
                self._show(Page.MODELS)
                if self._models_pane is not None:
                    self._models_pane.show_storage()
            case _:
                self._on_remedy(remedy)
