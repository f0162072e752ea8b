"""Draws the image page in every state to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_image [--scale 1.5] [FOLDER] [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.domain.image_memory import image_memory, memory_words, parts_words
from dflash_desktop.domain.picture_queue import QueuePhase
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.gallery_store import GalleryStore
from dflash_desktop.services.image_models import offered_image_models
from dflash_desktop.ui.image.gallery_grid import THUMBNAIL_PX
from dflash_desktop.ui.image.mask_editor import MaskEditor
from dflash_desktop.ui.image.pane import ImagePane, View
from dflash_desktop.ui.image.source_part import Source
from dflash_desktop.ui.image.thumbnail_shelf import ThumbnailShelf
from dflash_desktop.ui.image.words import lost_beginning
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.pictures.pixels import colour_space_of, read_levels
from tests.ui.image_values import QWEN, STABLE_DIFFUSION, fill, making, queued, recipe
from tests.ui.shots_shell import NARROW, Shots, nothing  # first: it sets the scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.image_models import ImageModel
    from dflash_desktop.services.gallery_store import GalleryEntry
    from dflash_desktop.ui.theme import Theme

_COUNT: Final = 23
_FAULT: Final = Problem(
    "memory_running_out",
    "This was stopped: the machine was about to run out of memory.",
    "Choose a smaller size, close other programs, or take a smaller model than Qwen-Image 2.1.",
    remedies=(Remedy.CHOOSE_MODEL,),
)


class Gallery:
    """A gallery on disk, made once for all shots; the pictures are their own thumbnails."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries = fill(GalleryStore(folder), _COUNT)

    def build(
        self, theme: Theme, arrange: Callable[[ImagePane, tuple[GalleryEntry, ...]], None]
    ) -> QWidget:
        """The page in a state."""
        pane = ImagePane(theme=theme, report=lambda _: "")
        shelf = ThumbnailShelf(
            widget=pane.grid.viewport(),
            side_px=THUMBNAIL_PX,
            folder=self.folder,
            make=_none,
        )
        pane.grid.use_shelf(shelf)
        pane.show_workspace(True)
        with_model(pane, QWEN)
        arrange(pane, self.entries)
        return pane


async def _none(picture: Path, thumbnail: Path) -> None:
    """Nothing is missing here."""


def with_model(pane: ImagePane, model: ImageModel) -> None:
    """A model is chosen, with its estimate."""
    names = tuple((one.id, one.title) for one in (QWEN, STABLE_DIFFUSION))
    pane.form.show_models(names, model)
    width, height = pane.form.picture_size
    memory = image_memory(model, width=width, height=height, precision="int4", runs_on_cpu=False)
    pane.form.show_estimate(
        memory_words(memory, usable_bytes=21_000_000_000), parts_words(memory), is_too_much=False
    )


def empty(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """No model and no picture."""
    pane.empty.show_offers(offered_image_models(load_catalogue()))
    pane.empty.show_faults(())
    pane.show_workspace(False)


def faults(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """A model that is damaged."""
    empty(pane, entries)
    damaged = Problem(
        "model_broken",
        "This model cannot be read: a file is damaged or incomplete.",
        "Download or export the model again, or choose another one.",
    )
    pane.empty.show_faults((("Stable Diffusion 1.5", damaged),))


def first(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """A model, and nothing made yet."""
    pane.show_entries(())


def gallery(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """Pictures, none being made."""
    pane.form.show_recipe(recipe(1), keeps_seed=False)
    pane.show_entries(entries)
    pane.show_side(is_form=False)


def long_prompt(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """More than what the text encoder reads."""
    pane.show_entries(entries)
    with_model(pane, replace(STABLE_DIFFUSION, prompt_tokens=77))
    pane.form.show_recipe(
        replace(recipe(1), prompt=" ".join([recipe(1).prompt] * 12)), keeps_seed=True
    )
    pane.show_side(is_form=True)


def busy(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """One is being made, others wait."""
    gallery(pane, entries)
    pane.now.show_queue((making(), *(queued(i) for i in range(2, 9))))


def loading(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """The model is being loaded."""
    gallery(pane, entries)
    pane.now.show_queue((queued(phase=QueuePhase.LOADING, stage=f"Loading {QWEN.title}"),))


def failed(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """One was not made, and one was deleted."""
    gallery(pane, entries)
    pane.now.show_queue((queued(phase=QueuePhase.FAILED, problem=_FAULT),))
    pane.show_deleted("Deleted 1 picture")


def with_source(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """It begins with a picture, and only a part is made anew."""
    gallery(pane, entries)
    with_model(pane, STABLE_DIFFUSION)
    one = entries[3]
    pane.form.source.show_source(Source(one.path, one.path, "Holiday in the mountains 2025.jpg"))
    pane.form.source.show_mask(one.path)
    pane.show_side(is_form=True)


def result(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """One picture with its settings."""
    gallery(pane, entries)
    pane.result.show_entry(entries[4], place=4, count=len(entries))
    pane.result.show_levels(read_levels(entries[4].path, colour_space_of(pane)))
    pane.show_view(View.RESULT)


def compare(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """Two side by side."""
    gallery(pane, entries)
    left, right = entries[1], entries[5]
    pane.compare.show_pair(left, right)
    for place, one in enumerate((left, right)):
        pane.compare.show_levels(place, read_levels(one.path, colour_space_of(pane)))
    pane.show_view(View.COMPARE)


def marked(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """Two are marked."""
    gallery(pane, entries)
    model = pane.grid.selectionModel()
    for row in (1, 2):
        index = pane.grid.pictures.index(row, 0)
        model.select(index, model.SelectionFlag.Select)


def own_size(pane: ImagePane, entries: tuple[GalleryEntry, ...]) -> None:
    """A size that is no usual shape, for a picture whose beginning is lost."""
    gallery(pane, entries)
    with_model(pane, STABLE_DIFFUSION)
    pane.form.size_field.choose(768, 384)
    lost = lost_beginning(replace(recipe(1), strength=0.6), has_source=False)
    pane.form.source.show_source(None, lost=lost)
    pane.show_choosing(True)
    pane.show_side(is_form=True)


STATES: Final = (empty, faults, first, gallery, busy, loading, failed, with_source, result)
MORE_STATES: Final = (compare, marked, long_prompt, own_size)


def mask(gallery_: Gallery, theme: Theme) -> QWidget:
    """The editor with something painted."""
    holder = QWidget()
    editor = MaskEditor(theme=theme, parent=holder)
    editor.setWindowFlags(Qt.WindowType.Widget)
    editor.canvas.show_picture(QImage(str(gallery_.entries[2].path)))
    for x in range(40, 120, 20):
        editor.canvas.stroke(QPointF(x, 60), QPointF(x + 20, 70), takes_away=False)
    column = QVBoxLayout(holder)
    column.addWidget(editor)
    return holder


def take_images(shots: Shots) -> None:
    """All shots of the page."""
    with TemporaryDirectory() as folder:
        made = Gallery(Path(folder))
        for size, prefix in (((1180, 760), "image-"), (NARROW, "narrow-image-")):
            for state in (*STATES, *MORE_STATES):
                name = prefix + state.__name__.replace("_", "-")
                build = partial(made.build, shots.theme, state)
                shots.take(name, nothing, build, page=Page.IMAGES, size=size)
        build = partial(mask, made, shots.theme)
        shots.take("image-mask", nothing, build, page=Page.IMAGES, size=(1180, 760))


def main() -> None:
    """Take all shots, or those that were asked for."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "shots")
    take_images(Shots(folder, sys.argv[2:]))


if __name__ == "__main__":
    main()
