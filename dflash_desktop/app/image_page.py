"""Builds the page that makes pictures, with the gallery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.ui.image.gallery_presenter import GalleryPresenter
from dflash_desktop.ui.image.pane import ImagePane
from dflash_desktop.ui.image.presenter import ImageParts, ImagePresenter

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.ui.theme import Theme


class ImagePage:
    """The page and its two presenters; `ask` leads to the chat with a picture."""

    def __init__(
        self,
        *,
        services: Services,
        theme: Theme,
        report: Callable[[Problem], str],
        on_remedy: Callable[[Remedy], None],
        show_transfers: Callable[[], None],
        add_model: Callable[[], None],
        ask: Callable[[Path], None],
    ) -> None:
        paths = services.paths
        self.pane = ImagePane(theme=theme, report=report)
        self.pane.remedy_chosen.connect(on_remedy)
        self.pane.empty.add_requested.connect(add_model)
        self.images = ImagePresenter(
            pane=self.pane,
            parts=ImageParts(
                studio=services.studio,
                shelf=services.models,
                pictures=services.pictures,
                memory=services.memory,
                machine=services.hardware,
                downloads=services.downloads,
                catalogue=lambda: load_catalogue(own_file=paths.own_pairs_file),
                masks_dir=paths.cache_dir / "masks",
            ),
            theme=theme,
            show_transfers=show_transfers,
        )
        self.gallery = GalleryPresenter(
            pane=self.pane,
            store=services.gallery,
            thumbnails_dir=paths.gallery_thumbnails_dir,
            make_thumbnail=services.pictures.make_thumbnail,
            choose_model=self.images.choose,
            ask=ask,
            on_count=self.images.note_pictures,
            theme=theme,
        )

    def closings(self) -> list[Coroutine[object, object, None]]:
        """What ends each presenter; to be awaited side by side."""
        return [self.images.close(), self.gallery.close()]
