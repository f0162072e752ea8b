"""GGUF files and folders that are dropped on the models page, or chosen there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QPushButton

from dflash_desktop.domain.gguf_draft import ARCHITECTURE as DRAFT_ARCHITECTURE
from dflash_desktop.domain.gguf_import import (
    ImportedModel,
    ImportProgress,
    ImportStage,
    ImportWeights,
)
from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.services.gguf_import import GgufImport
from dflash_desktop.services.gguf_problems import memory_short
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.ui.models.import_presenter import ImportPresenter
from dflash_desktop.ui.models.import_words import only_one
from dflash_desktop.ui.models.library_presenter import LibraryPresenter
from dflash_desktop.ui.models.pane import ModelsPane
from tests.exporting.checkpoints import write_checkpoint
from tests.fakes.engine import engine_under_test, until
from tests.fakes.gguf_files import STRING, small_gguf
from tests.fakes.ir_models import write_draft, write_target
from tests.fakes.library_world import app_paths
from tests.ui.library_values import model
from tests.ui.test_library_page import FakeRefetch

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


class ScriptedImport:
    """Stands still after its first step until it is told how to end."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, ImportWeights]] = []
        self.end: asyncio.Future[ImportedModel] = asyncio.get_running_loop().create_future()
        self.was_closed = False

    async def run(
        self, file: Path, *, name: str, weights: ImportWeights
    ) -> AsyncGenerator[ImportProgress | ImportedModel, None]:
        self.asked.append((file.name, name, weights))
        try:
            yield ImportProgress(ImportStage.CHECKING, "Looking.")
            yield ImportProgress(ImportStage.HASHING, "Noting.", 1_000_000, 2_000_000)
            yield await asyncio.shield(self.end)
        finally:
            self.was_closed = True


class Page:
    def __init__(self, theme: Theme, folder: Path, qtbot: QtBot) -> None:
        self.paths = app_paths(folder / "home")
        self.library = ModelLibrary(paths=self.paths)
        self.pane = ModelsPane(theme=theme, report=lambda problem: problem.detail)
        qtbot.addWidget(self.pane)
        self.pane.resize(760, 900)
        self.pane.show()
        self.scripted = ScriptedImport()
        self.checked: list[tuple[str, Path, Path]] = []
        self.drafts: dict[Path, str] = {}
        self.led: list[tuple[Remedy, tuple[Path, ...]]] = []
        self.presenter = self.over(self.scripted)

    def over(self, importer: ScriptedImport | GgufImport) -> ImportPresenter:
        return ImportPresenter(
            view=self.pane.library,
            importer=importer,
            is_taken=lambda name: self.library.find(name) is not None or name == "Taken",
            drafts=lambda: self.drafts,
            check=lambda *pair: self.checked.append(pair),
            lead=lambda *way: self.led.append(way),
        )

    def button(self, label: str) -> QPushButton:
        return next(
            b
            for b in self.pane.library.findChildren(QPushButton)
            if b.text() == label and b.isVisible()
        )

    def says(self, words: str) -> bool:
        labels = self.pane.library.findChildren(QLabel)
        return any(words in label.text() for label in labels if label.isVisible())

    @property
    def name(self) -> str:
        fields = self.pane.library.importing.findChildren(QLineEdit)
        return fields[0].text() if fields[0].isVisible() else ""

    def drag(
        self, *urls: QUrl, actions: Qt.DropAction = Qt.DropAction.CopyAction
    ) -> QDragEnterEvent:
        self._mime = _mime(urls)
        event = QDragEnterEvent(
            QPoint(9, 9),
            actions,
            self._mime,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        event.ignore()
        QApplication.sendEvent(self.pane.viewport(), event)
        return event

    def drop(self, *paths: Path, actions: Qt.DropAction = Qt.DropAction.CopyAction) -> QDropEvent:
        urls = [QUrl.fromLocalFile(str(path)) for path in paths]
        self.drag(*urls, actions=actions)  # Qt sends a drop to where the drag was taken
        event = QDropEvent(
            QPointF(9, 9),
            actions,
            self._mime,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(self.pane.viewport(), event)
        return event


def _mime(urls: object) -> QMimeData:
    data = QMimeData()
    data.setUrls(list(urls))  # type: ignore[call-overload]
    return data


@pytest_asyncio.fixture
async def page(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Page]:
    page = Page(theme, tmp_path, qtbot)
    yield page
    await page.presenter.close()


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    return small_gguf().write(tmp_path / "tiny.gguf")


async def test_what_is_said_about_a_dropped_file_is_in_view(page: Page, gguf: Path) -> None:
    page.pane.resize(760, 300)
    bar = page.pane.verticalScrollBar()
    await until(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    page.drop(gguf)
    await until(lambda: page.name == "Tiny")
    await until(lambda: not page.button("Import").visibleRegion().isEmpty())
    await until(lambda: page.pane.window().focusWidget() is page.button("Import"))


async def test_a_dragged_file_is_named_over_the_page_until_it_leaves(
    page: Page, gguf: Path
) -> None:
    event = page.drag(QUrl.fromLocalFile(str(gguf)))
    assert event.isAccepted()
    sheet = page.pane.drop_sheet
    assert sheet.isVisible()
    assert sheet.size() == page.pane.viewport().size()
    assert any("tiny.gguf" in label.text() for label in sheet.findChildren(QLabel))
    QApplication.sendEvent(page.pane.viewport(), QDragLeaveEvent())
    assert not sheet.isVisible()


async def test_a_web_address_is_not_taken(page: Page) -> None:
    assert not page.drag(QUrl("https://example.org/x.gguf")).isAccepted()
    assert not page.pane.drop_sheet.isVisible()


async def test_what_is_dropped_is_never_moved_away(page: Page, gguf: Path) -> None:
    both = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    assert page.drop(gguf, actions=both).dropAction() is Qt.DropAction.CopyAction
    only_move = page.drag(QUrl.fromLocalFile(str(gguf)), actions=Qt.DropAction.MoveAction)
    assert not only_move.isAccepted()


async def test_a_dropped_file_is_looked_at_and_offered_with_what_will_be_lost(
    page: Page, tmp_path: Path
) -> None:
    file = small_gguf()
    del file.metadata["tokenizer.chat_template"]
    file.metadata["general.name"] = (STRING, "Taken")
    page.drop(file.write(tmp_path / "tiny.gguf"))
    await until(lambda: page.says("Import “tiny.gguf”"))
    assert page.says("Llama, 3 layers")
    assert page.says("Q8_0")
    assert page.says("The file brings no chat template")
    assert page.name == "Taken 2"
    assert not page.scripted.asked


async def test_a_file_that_cannot_be_converted_is_refused_in_words(
    page: Page, tmp_path: Path
) -> None:
    page.drop(small_gguf("gemma3").write(tmp_path / "gemma.gguf"))
    await until(lambda: page.says("cannot convert the kind of model in “gemma.gguf”"))
    assert page.name == ""
    (tmp_path / "no.gguf").write_bytes(b"MZ nothing of the kind")
    page.drop(tmp_path / "no.gguf")
    await until(lambda: page.says("“no.gguf” is no GGUF file."))


async def test_a_dropped_folder_goes_where_an_added_one_goes(page: Page, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "openvino_model.xml").write_text("<net/>", encoding="utf-8")
    added: list[str] = []
    page.pane.library.folder_chosen.connect(added.append)
    page.drop(own)
    await until(lambda: added == [str(own)])
    (tmp_path / "photos").mkdir()
    page.drop(tmp_path / "photos")
    await until(lambda: page.says("“photos” is nothing that this program opens."))


async def test_what_is_no_model_yet_leads_to_the_export(page: Page, tmp_path: Path) -> None:
    target, draft = write_checkpoint(tmp_path / "Qwen3", "text"), tmp_path / "draft.gguf"
    small_gguf(DRAFT_ARCHITECTURE).write(draft)
    page.drop(target)
    await until(lambda: page.led == [(Remedy.EXPORT, (target,))])
    page.drop(target, draft)
    await until(lambda: page.led[1:] == [(Remedy.EXPORT, (target, draft))])
    assert page.name == ""
    page.drop(target, tmp_path / "photos")
    await until(lambda: page.says("Only one model can be taken at a time."))
    assert len(page.led) == 2


async def test_several_files_are_taken_only_when_they_are_one_model(
    page: Page, gguf: Path, tmp_path: Path
) -> None:
    page.drop(gguf, tmp_path / "other.gguf")
    await until(lambda: page.says("Only one model can be taken at a time."))
    parts = ("/x/a-00002-of-00002.gguf", "/x/a-00001-of-00002.gguf")
    assert only_one(parts) == parts[1]
    assert only_one((*parts, "/x/b-00001-of-00002.gguf")) is None


async def test_an_import_shows_its_steps_and_can_be_cancelled(page: Page, gguf: Path) -> None:
    page.drop(gguf)
    await until(lambda: page.name == "Tiny")
    page.button("Import").click()
    await until(lambda: page.says("Step 2 of 6 · 1.00 MB of 2.00 MB"))
    assert page.scripted.asked == [("tiny.gguf", "Tiny", ImportWeights.AUTO)]
    assert not page.button("Import a GGUF file…").isEnabled()
    page.drop(gguf)
    await until(lambda: page.says("Another GGUF file is being imported now."))
    assert page.pane.window().focusWidget() is page.button("Cancel")
    page.button("Cancel").click()
    await until(lambda: page.scripted.was_closed and page.name == "Tiny")
    assert page.button("Import a GGUF file…").isEnabled()
    assert page.pane.window().focusWidget() is page.button("Import")


async def test_a_refused_import_keeps_the_form_and_is_tried_again(page: Page, gguf: Path) -> None:
    page.drop(gguf)
    await until(lambda: page.name == "Tiny")
    page.scripted.end.set_exception(AppError(memory_short(needed_bytes=9, free_bytes=1)))
    page.button("Import").click()
    await until(lambda: page.says("The conversion needs about"))
    assert page.name == "Tiny"
    page.button("Try again").click()
    await until(lambda: len(page.scripted.asked) == 2)


async def test_at_the_end_what_is_lost_is_said_and_a_draft_is_suggested(
    page: Page, gguf: Path, tmp_path: Path
) -> None:
    target = write_target(tmp_path / "target").folder
    draft = write_draft(tmp_path / "draft").folder
    page.drafts = {tmp_path / "no model": "Nothing", draft: "“A draft”"}
    page.drop(gguf)
    await until(lambda: page.name == "Tiny")
    new = replace(model("Tiny", size_bytes=2_000_000), path=target)
    page.scripted.end.set_result(ImportedModel(new, ImportWeights.KEEP, (), ("It is worse.",)))
    page.button("Import").click()
    await until(lambda: page.says("“Tiny” is in the library now."))
    assert page.says("Note: It is worse.")
    await until(lambda: page.says("“A draft” may fit it."))
    page.button("Check with this draft").click()
    assert page.checked == [("Tiny", target, draft)]


async def test_the_window_closes_while_a_file_is_imported(page: Page, gguf: Path) -> None:
    page.drop(gguf)
    await until(lambda: page.name == "Tiny")
    page.button("Import").click()
    await until(lambda: page.says("Step 2 of 6"))
    await page.presenter.close()
    assert page.scripted.was_closed


async def test_a_file_is_chosen_with_a_button_and_put_away_with_escape(
    page: Page, gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(gguf), ""))
    page.button("Import a GGUF file…").click()
    await until(lambda: page.name == "Tiny")
    page.pane.activateWindow()
    QTest.keyClick(page.button("Import"), Qt.Key.Key_Escape)
    assert page.name == ""


@pytest.mark.openvino
async def test_a_dropped_file_becomes_the_chosen_model_of_the_library(
    page: Page, gguf: Path, tmp_path: Path
) -> None:
    await page.presenter.close()
    launcher = WorkerLauncher(log_dir=page.paths.log_dir)
    async with engine_under_test(tmp_path / "logs") as under_test:
        shelf = LibraryPresenter(
            view=page.pane.library,
            shelf=page.library,
            engine=under_test.engine,
            pairs=page.library.pairs,
            load=lambda *_: None,
            open_folder=lambda _: None,
            refetch=FakeRefetch(),
        )
        presenter = page.over(
            GgufImport(paths=page.paths, launcher=launcher, library=page.library)
        )
        page.drop(gguf)
        await until(lambda: page.name == "Tiny")
        page.button("Import").click()
        await until(lambda: page.says("“Tiny” is in the library now"))
        assert page.pane.library.chosen_id == "Tiny"
        assert page.says("a GGUF file that was imported here")
        await presenter.close()
        await shelf.close()
