"""The image page as the program builds it, with tiny real models in the real engine process."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton

from dflash_desktop.app.image_page import ImagePage
from dflash_desktop.app.services import Services
from dflash_desktop.domain.picture_queue import QueuedPicture, QueuePhase
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.transfer import RepoPlan, TransferPlan, TransferRequest
from dflash_desktop.paths import AppPaths
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.image.pane import View
from dflash_desktop.ui.widgets.wheel_through import AmountBox
from tests.fakes.engine import PATIENCE_SECONDS
from tests.fakes.image_models import QWEN_IMAGE, STABLE_DIFFUSION, unpack_image_model
from tests.ui.image_values import recipe

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.image.pane import ImagePane
    from dflash_desktop.ui.theme import Theme


@dataclass
class World:
    """The page with its services, and what was told on the way."""

    page: ImagePage
    services: Services
    asked: list[Path] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)
    remedies: list[Remedy] = field(default_factory=list)
    seen: list[QueuedPicture] = field(default_factory=list)

    @property
    def pane(self) -> ImagePane:
        """The page's widget."""
        return self.page.pane

    def count(self) -> int:
        """How many pictures the gallery shows."""
        return len(self.pane.grid.pictures.entries)

    def ask_for(self, *, steps: int = 4, seed: int = 7) -> None:
        """Fill the form and press the button."""
        settings = recipe(steps=steps, seed=seed, width=64, height=64)
        self.pane.form.show_recipe(settings, keeps_seed=True)
        press(self.pane, "Make picture")

    async def made(self, count: int) -> None:
        """Wait until so many pictures are there and nothing is being made."""
        await until(lambda: self.count() == count and not self.services.studio.queue())

    def image(self, place: int = 0) -> QImage:
        """The pixels of a picture, the newest first."""
        return QImage(str(self.pane.grid.pictures.entries[place].path))


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition while Qt and asyncio go on."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            QApplication.processEvents()
            await asyncio.sleep(0.005)


def press(pane: ImagePane, words: str) -> None:
    """Press the button with these words that can be seen."""
    buttons = [b for b in pane.findChildren(QPushButton) if b.text() == words]
    (button,) = [b for b in buttons if b.isVisible()]
    assert button.isEnabled(), button.toolTip()
    button.click()


def texts(pane: ImagePane) -> str:
    """All words of labels that can be seen."""
    return "\n".join(label.text() for label in pane.findChildren(QLabel) if label.isVisible())


@pytest_asyncio.fixture
async def world(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[World]:
    root = tmp_path / "dflash"
    paths = AppPaths(root / "config", root / "data", root / "cache", root / "logs")
    services = Services(paths=paths, settings=SettingsStore(paths.settings_file))
    world: World

    page = ImagePage(
        services=services,
        theme=theme,
        report=lambda _: "",
        on_remedy=lambda remedy: world.remedies.append(remedy),
        show_transfers=lambda: world.wanted.append("transfers"),
        add_model=lambda: world.wanted.append("folder"),
        ask=lambda path: world.asked.append(path),
    )
    qtbot.addWidget(page.pane)
    page.pane.resize(1000, 900)
    page.pane.show()
    world = World(page, services)
    services.studio.subscribe(lambda: world.seen.extend(services.studio.queue()))
    try:
        yield world
    finally:
        await services.studio.close()
        for closing in page.closings():
            await closing
        await services.engine.stop()
        await services.pictures.close()
        await services.downloads.close()


async def with_model(world: World, tmp_path: Path, name: str) -> None:
    """Add a tiny model to the library, and wait until it can be used."""
    folder = await asyncio.to_thread(unpack_image_model, name, tmp_path / name)
    await world.services.models.add_folder(folder)
    await until(lambda: world.pane.form.model is not None)


@pytest.mark.parametrize(("name", "tokens"), [(STABLE_DIFFUSION, 77), (QWEN_IMAGE, None)])
async def test_a_prompt_that_is_surely_longer_than_what_the_model_reads_is_told(
    world: World, tmp_path: Path, name: str, tokens: int | None
) -> None:
    await with_model(world, tmp_path, name)
    form = world.pane.form
    assert form.model is not None
    assert form.model.prompt_tokens == tokens
    for count, is_told in ((75, False), (76, tokens is not None)):
        settings = replace(recipe(width=64, height=64), prompt="lamp " * count)
        form.show_recipe(settings, keeps_seed=True)
        assert ("has no effect" in texts(world.pane)) is is_told


@pytest.mark.openvino
@pytest.mark.parametrize("name", [STABLE_DIFFUSION, QWEN_IMAGE])
async def test_a_picture_is_made_counted_repeated_varied_and_cancelled(
    world: World, tmp_path: Path, name: str
) -> None:
    await with_model(world, tmp_path, name)
    assert "of memory" in texts(world.pane)
    world.ask_for()
    await world.made(1)
    first = world.image()
    assert (first.width(), first.height()) == (64, 64)
    steps = {item.done_steps for item in world.seen if item.phase is QueuePhase.MAKING}
    assert steps == {0, 1, 2, 3, 4}
    world.ask_for()
    await world.made(2)
    assert world.image() == first, "the same seed made another picture"
    world.ask_for(seed=8)
    await world.made(3)
    assert world.image() != first

    world.ask_for(steps=200)
    await until(lambda: any(i.done_steps > 1 for i in world.services.studio.queue()))
    assert "Step " in texts(world.pane)
    press(world.pane, "Cancel")
    await until(lambda: not world.services.studio.queue())
    assert world.count() == 3
    assert not world.pane.now.isVisible()
    await until(lambda: bool(world.page.gallery.shelf.pixmap(*newest(world))))


def newest(world: World) -> tuple[str, Path]:
    entry = world.pane.grid.pictures.entries[0]
    return entry.id, entry.path


@pytest.mark.openvino
async def test_a_result_is_looked_at_described_used_again_deleted_and_brought_back(
    world: World, tmp_path: Path
) -> None:
    await with_model(world, tmp_path, STABLE_DIFFUSION)
    world.ask_for(seed=7)
    await world.made(1)
    pane, entry = world.pane, world.pane.grid.pictures.entries[0]
    pane.grid.opened.emit(entry.id)
    await until(lambda: pane.result.canvas.has_picture)
    assert pane.view is View.RESULT
    assert "Seed" in texts(pane)
    assert "7" in texts(pane)
    press(pane, "Copy")
    assert QApplication.clipboard().image().size() == world.image().size()

    pane.result.alt_text_changed.emit("A cat")
    await until(lambda: _alt(world) == "A cat")
    press(pane, "Use as input")
    assert pane.form.source.source is not None
    world.ask_for(seed=9)
    await world.made(2)
    made = pane.grid.pictures.entries[0].picture
    assert made is not None
    assert made.recipe.source_id == entry.id
    assert made.recipe.strength == pytest.approx(pane.form.source.strength)

    pane.grid.opened.emit(made.id)
    press(pane, "Vary")
    assert not pane.form.seed.is_kept
    assert pane.form.seed.value != made.recipe.seed
    press(pane, "Ask in the chat")
    assert world.asked == [pane.grid.pictures.entries[0].path]
    press(pane, "Delete")
    await until(lambda: world.count() == 1)
    press(pane, "Undo")
    await until(lambda: world.count() == 2)
    pane.compare_requested.emit((made.id, entry.id))
    await until(lambda: all(canvas.has_picture for canvas in pane.compare.canvases))
    assert "Began with" in texts(pane)


def _alt(world: World) -> str:
    picture = world.pane.grid.pictures.entries[0].picture
    return "" if picture is None else picture.alt_text


async def test_without_a_model_the_page_says_what_there_is_to_be_had(world: World) -> None:
    await until(lambda: "Qwen-Image 2.1, int4" in texts(world.pane))
    assert "content: uncensored" in texts(world.pane)
    press(world.pane, "Add a folder…")
    assert world.wanted == ["folder"]


async def test_a_model_is_got_after_its_size_is_known(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[TransferRequest] = []
    added: list[TransferRequest] = []

    async def plan(request: TransferRequest) -> TransferPlan:
        asked.append(request)
        if len(asked) == 1:
            raise AppError(Problem("offline", "The hub cannot be reached.", "Try again."))
        repo = RepoPlan(request.repos[0].repo_id, "0" * 40, (), "", is_gated=False)
        return TransferPlan((repo,), 0, 0)

    monkeypatch.setattr(world.services.downloads, "plan", plan)
    monkeypatch.setattr(world.services.downloads, "add", added.append)
    await until(lambda: "Qwen-Image 2.1, int4" in texts(world.pane))
    press(world.pane, "How large is it?")
    await until(lambda: "The hub cannot be reached." in texts(world.pane))
    press(world.pane, "How large is it?")
    await until(lambda: len(asked) == 2 and "Download" in buttons(world.pane))
    assert added == [], "nothing is fetched before a person knows how much"
    press(world.pane, next(b for b in buttons(world.pane).split("\n") if "Download" in b))
    await until(lambda: bool(added))
    assert added[0].repos[0].repo_id == "blaj/Qwen-Image-2.1-Uncensored-OpenVINO-INT4"
    assert world.wanted == ["transfers"]


def buttons(pane: ImagePane) -> str:
    return "\n".join(b.text() for b in pane.findChildren(QPushButton) if b.isVisible())


async def test_a_damaged_model_is_named_with_what_to_do(world: World, tmp_path: Path) -> None:
    folder = await asyncio.to_thread(unpack_image_model, QWEN_IMAGE, tmp_path / "damaged")
    (folder / "vae_decoder" / "openvino_model.bin").write_bytes(b"")
    await world.services.models.add_folder(folder)
    await until(lambda: "cannot be read" in texts(world.pane))


async def test_what_a_model_cannot_do_is_not_offered(world: World, tmp_path: Path) -> None:
    await with_model(world, tmp_path, QWEN_IMAGE)
    pane = world.pane
    prompt, negative = pane.form.findChildren(QPlainTextEdit)
    assert "guidance works only together with a negative prompt" in texts(pane)
    negative.setPlainText("fog")
    assert "guidance works only together" not in texts(pane)
    (make,) = [b for b in pane.findChildren(QPushButton) if b.text() == "Make picture"]
    assert not make.isEnabled()
    prompt.setPlainText("a cat")
    assert make.isEnabled()
    assert pane.form.source.isVisible()
    model = pane.form.model
    assert model is not None
    pane.form.show_models((("x", "X"),), replace(model, has_picture_encoder=False))
    assert not pane.form.source.isVisible()


async def test_a_narrow_window_shows_the_form_or_the_pictures(
    world: World, tmp_path: Path
) -> None:
    await with_model(world, tmp_path, STABLE_DIFFUSION)
    pane = world.pane
    pane.resize(480, 460)
    QApplication.processEvents()
    assert pane.form.isVisible()
    assert not pane.result.isVisible()
    press(pane, "Pictures")
    assert not pane.form.isVisible()
    pane.resize(1000, 700)
    QApplication.processEvents()
    assert pane.form.isVisible()


async def test_a_size_that_the_model_takes_can_be_chosen_freely(
    world: World, tmp_path: Path
) -> None:
    await with_model(world, tmp_path, STABLE_DIFFUSION)
    field, model = world.pane.form.size_field, world.pane.form.model
    assert model is not None
    field.choice.setCurrentIndex(field.choice.count() - 1)
    width, height = [side for side in field.findChildren(AmountBox) if side.isVisible()]
    width.setValue(3 * model.size_step_px + 64 + 1)
    height.setValue(1)
    height.editingFinished.emit()
    assert (width.value(), height.value()) == (3 * model.size_step_px + 64, 64)
    assert world.pane.form.picture_size == (3 * model.size_step_px + 64, 64)
    field.choice.setCurrentIndex(0)
    assert not width.isVisible()
    assert world.pane.form.picture_size == (model.native_px, model.native_px)


async def test_the_memory_that_is_free_is_told_before_the_machine_was_ever_looked_at(
    world: World, tmp_path: Path
) -> None:
    await with_model(world, tmp_path, STABLE_DIFFUSION)
    assert await world.services.hardware.remembered() is None
    told = re.compile(r"Takes about .* of [1-9].* of memory\.")
    await until(lambda: told.search(texts(world.pane)) is not None)
