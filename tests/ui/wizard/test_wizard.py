"""The setup from the first page to the last, over a recorded machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest_asyncio
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)

from dflash_desktop.domain.hardware import HardwareReport, LinuxGraphics
from dflash_desktop.domain.linux_findings import linux_findings
from dflash_desktop.domain.memory_parts import PartKind
from dflash_desktop.domain.own_pair import OwnPairEntry
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.setup import SetupStep
from dflash_desktop.domain.starter import STARTER_PAIR_ID, StarterState
from dflash_desktop.domain.transfer import Transfer, TransferState
from dflash_desktop.services.fetch_process import FetchFailedError
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.own_pairs import OwnPairs
from dflash_desktop.ui.chat.empty_view import FIRST_QUESTIONS
from dflash_desktop.ui.theme import GAP_SMALL
from dflash_desktop.ui.widgets.device_box import DeviceBox
from dflash_desktop.ui.widgets.surfaces import Line, SurfaceFrame
from dflash_desktop.ui.wizard.choice_card import ChoiceCard
from dflash_desktop.ui.wizard.choice_row import ChoiceRow
from tests.fakes.engine import engine_under_test, until
from tests.ui.test_starter_page import DONE, HALF
from tests.ui.wizard.setup_world import SetupWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme
    from dflash_desktop.ui.wizard.choice_words import ChoiceContent

QWEN = "Qwen3-4B-instruct-int4+Qwen3-4B-DFlash-int4"
NO_HUB = Problem("hub_unreachable", "The hub cannot be reached.", "Check the network.")
SILENT = Problem("engine_silent", "The engine did not answer.", "Restart the machine.")


@pytest_asyncio.fixture
async def world(theme: Theme, tmp_path: Path, qtbot: QtBot) -> AsyncIterator[SetupWorld]:
    async with engine_under_test(tmp_path / "logs") as under_test:
        world = SetupWorld(theme, tmp_path, under_test)
        qtbot.addWidget(world.pane)
        yield world
        await world.presenter.close()


async def on_choose(world: SetupWorld) -> None:
    await until(lambda: world.button("Choose a model").isEnabled())
    world.button("Choose a model").click()


def cards(world: SetupWorld) -> dict[str, ChoiceCard]:
    QApplication.processEvents()  # which shows what was added
    shown = [card for card in world.pane.findChildren(ChoiceCard) if card.isVisible()]
    return {card.pair_id: card for card in shown}


def rows(world: SetupWorld) -> dict[str, ChoiceRow]:
    QApplication.processEvents()
    shown = [row for row in world.pane.findChildren(ChoiceRow) if row.isVisible()]
    return {row.pair_id: row for row in shown}


def spare(content: ChoiceContent) -> int:
    return next(part.size_bytes for part in content.parts if part.kind is PartKind.FREE)


async def test_from_first_start_to_a_loaded_starter_with_keys_alone(world: SetupWorld) -> None:
    await until(lambda: world.button("Choose a model").isEnabled())
    assert "AMD EPYC" in world.words()
    world.press(Qt.Key.Key_Space)  # the way on has the keyboard
    assert world.is_at(SetupStep.CHOOSE)
    chosen = world.focused()
    assert isinstance(chosen, QRadioButton)  # a machine without graphics begins with the starter
    assert chosen.isChecked()
    assert "try at once" in chosen.text()
    for _ in range(40):
        if world.focused() is world.button("Get it"):
            break
        world.press(Qt.Key.Key_Tab)
    world.press(Qt.Key.Key_Space)
    assert world.is_at(SetupStep.GET)
    assert world.focused() is world.button("Get the starter model")
    world.press(Qt.Key.Key_Space)
    await until(lambda: world.starter.files == [None])
    world.starter.steps.put_nowait(HALF)
    await until(lambda: "50.0 MB of 100 MB" in world.words())
    world.have_starter()
    world.starter.steps.put_nowait(DONE)
    await until(lambda: world.is_at(SetupStep.READY))
    assert world.pairs.loads == [STARTER_PAIR_ID]
    await world.under_test.load()
    await until(lambda: "is ready" in world.words())
    asked: list[str] = []
    world.pane.ready.question_chosen.connect(asked.append)
    world.press(Qt.Key.Key_Space)
    assert asked == [FIRST_QUESTIONS[0]]


async def test_enter_goes_on_from_a_choice_and_presses_a_button(world: SetupWorld) -> None:
    await on_choose(world)
    world.press(Qt.Key.Key_Return)
    assert world.is_at(SetupStep.GET)
    assert world.focused() is world.button("Get the starter model")
    world.press(Qt.Key.Key_Return)
    await until(lambda: world.starter.files == [None])


async def test_choosing_with_the_arrow_keys_moves_through_the_cards(world: SetupWorld) -> None:
    await on_choose(world)
    world.press(Qt.Key.Key_Down)
    assert world.settings.value.setup.pair_id == QWEN
    assert world.focused() is cards(world)[QWEN].radio


async def test_cards_say_whose_speed_it_is_and_what_is_in_it(world: SetupWorld) -> None:
    world.probe.answer = "arc_140v_32gb"
    world.presenter.open()
    world.button("Look again").click()
    await until(lambda: "140V" in world.words())
    await on_choose(world)
    words = world.words()
    (marked,) = (card for card in cards(world).values() if card.radio.isChecked())
    assert marked.pair_id == QWEN  # what has a content label is chosen by people, never for them
    assert "measured by others on Arc 130V, not on this machine" in words
    assert "uncensored" in words
    assert "target 8.10 GB" in words


async def test_a_shorter_context_leaves_more_room_at_once(world: SetupWorld) -> None:
    await on_choose(world)
    before = cards(world)[QWEN].content
    world.pane.choose.context_chosen.emit(2048)
    after = cards(world)[QWEN].content
    assert before is not None
    assert after is not None
    assert spare(before) < spare(after)
    assert after.fit in world.words()


async def test_what_is_too_big_says_what_would_be_needed_and_cannot_be_got(
    world: SetupWorld,
) -> None:
    world.probe.answer = "laptop_8gb"
    world.button("Look again").click()
    await until(lambda: world.probe.looks == 2)
    await on_choose(world)
    assert "No larger model fits" in world.words()
    world.button("Show all").click()
    big = rows(world)[QWEN]
    assert "Too big: needs 4.86 GB, 1.56 GB more than there are" in world.words()
    big.radio.click()
    assert not world.button("Get it").isEnabled()
    assert "Too big" in world.button("Get it").toolTip()


async def test_what_needs_an_export_says_so_before_anything_is_downloaded(
    world: SetupWorld,
) -> None:
    await on_choose(world)
    world.button("Show all").click()
    row = next(r for r in rows(world).values() if r.content and "export" in r.content.why_not)
    row.radio.click()
    assert not world.button("Get it").isEnabled()
    assert "export" in world.button("Get it").toolTip()


async def test_what_lacks_nothing_but_an_export_leads_to_it(world: SetupWorld) -> None:
    await on_choose(world)
    world.button("Show all").click()
    row = next(r for r in rows(world).values() if r.content and r.content.can_be_exported)
    row.radio.click()
    world.button("Export…").click()
    (request,) = world.exported
    assert row.content is not None
    assert request.title == row.content.title
    assert request.items
    assert world.is_at(SetupStep.CHOOSE)  # where one is when one comes back
    cards(world)[QWEN].radio.click()
    assert world.button("Get it").isEnabled()


async def test_a_pair_from_the_hub_is_planned_downloaded_and_loaded(world: SetupWorld) -> None:
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see("Download 3.00 GB"))
    assert "blaj/Qwen3-4B-instruct-int4-ov" in world.words()
    assert world.focused() is world.button("Download")
    world.press(Qt.Key.Key_Space)
    assert ("add", QWEN) in world.downloads.asked
    assert world.focused() is world.button("Continue in background")
    await until(lambda: "1.00 GB of 3.00 GB" in world.words())
    (running,) = world.downloads.shown
    world.pairs.here[QWEN] = replace(world.have_starter(), id=QWEN)
    world.downloads.change(Transfer(running.request, TransferState.DONE, 3, 3))
    assert world.is_at(SetupStep.READY)
    assert world.pairs.loads == [QWEN]


async def test_without_a_hub_the_page_says_so_and_offers_the_starter(world: SetupWorld) -> None:
    world.downloads.refusal = NO_HUB
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: NO_HUB.headline in world.words())
    assert world.focused() is world.button(Remedy.RETRY.label)
    world.press(Qt.Key.Key_Space)
    await until(lambda: world.downloads.asked == [("plan", QWEN), ("plan", QWEN)])
    await until(lambda: NO_HUB.headline in world.words())
    world.button("Try the starter model instead").click()
    assert world.can_see("Get the starter model")


async def test_offline_leads_to_the_proxy_and_the_mirror(world: SetupWorld) -> None:
    world.downloads.refusal = hub_problem(FetchFailedError("offline", ""))
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see(Remedy.NETWORK_SETTINGS.label))
    asked: list[Remedy] = []
    world.pane.transfer.remedy_chosen.connect(asked.append)
    world.button(Remedy.NETWORK_SETTINGS.label).click()
    assert asked == [Remedy.NETWORK_SETTINGS]


async def test_a_pair_that_arrived_and_cannot_be_loaded_is_no_dead_end(world: SetupWorld) -> None:
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see("Download"))
    world.button("Download").click()
    (running,) = world.downloads.transfers()
    world.downloads.change(Transfer(running.request, TransferState.DONE, 3, 3))
    assert "no pair that this program can load" in world.words()
    assert world.can_see(Remedy.CHOOSE_MODEL.label)
    world.downloads.change(Transfer(running.request, TransferState.DONE, 3, 3))
    world.button("Back").click()
    world.button("Get it").click()  # the models may have been removed since
    await until(lambda: world.can_see("Download 3.00 GB"))


async def test_a_gated_repository_is_named_first_and_tried_again_with_a_token(
    world: SetupWorld,
) -> None:
    draft = "blaj/Qwen3-4B-DFlash-int4-ov"
    world.downloads.refusal = Problem(
        "gated", f"{draft} asks for consent.", "Enter a token.", remedies=(Remedy.ENTER_TOKEN,)
    )
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see(Remedy.ENTER_TOKEN.label))
    asked: list[Remedy] = []
    world.pane.transfer.remedy_chosen.connect(asked.append)
    world.button(Remedy.ENTER_TOKEN.label).click()
    assert asked == [Remedy.ENTER_TOKEN]
    assert world.presenter.repo_ids == (draft, "blaj/Qwen3-4B-instruct-int4-ov")
    world.downloads.refusal = None
    world.presenter.try_again()
    await until(lambda: world.can_see("Download 3.00 GB"))


async def test_a_download_that_does_not_fit_on_the_disk_is_not_started(world: SetupWorld) -> None:
    world.downloads.free_bytes = 1_000_000_000
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see("Download"))
    assert not world.button("Download").isEnabled()
    assert "Free 2.00 GB first" in world.words()


async def test_a_download_goes_on_in_the_background_and_is_found_again(world: SetupWorld) -> None:
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see("Download"))
    world.button("Download").click()
    world.button("Continue in background").click()
    assert world.left == [True]
    await world.presenter.close()
    world.open_anew()
    assert world.is_at(SetupStep.GET)
    assert "1.00 GB of 3.00 GB" in world.words()


async def test_what_arrives_in_the_background_takes_no_place_from_what_is_in_use(
    world: SetupWorld,
) -> None:
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see("Download"))
    world.button("Download").click()
    world.pane.hide()
    world.pairs.chosen = world.have_starter()
    (running,) = world.downloads.shown
    world.pairs.here[QWEN] = replace(world.have_starter(), id=QWEN)
    world.downloads.change(Transfer(running.request, TransferState.DONE, 3, 3))
    assert world.pairs.loads == []
    world.pane.show()
    world.presenter.open()
    assert world.pairs.loads == [QWEN]
    assert world.is_at(SetupStep.READY)


async def test_escape_asks_and_staying_changes_nothing(world: SetupWorld) -> None:
    await on_choose(world)
    world.press(Qt.Key.Key_Escape)
    assert "Leave the setup?" in world.words()
    assert world.focused() is world.button("Stay")
    strip = next(
        f
        for f in world.pane.findChildren(SurfaceFrame)
        if f.accessibleName() == "Leave the setup?"
    )
    (line,) = (line for line in world.pane.findChildren(Line) if line.parent() is world.pane)
    assert line.y() - strip.geometry().bottom() > GAP_SMALL  # it stands free of the footer
    world.press(Qt.Key.Key_Escape)
    assert "Leave the setup?" not in world.words()
    world.press(Qt.Key.Key_Escape)
    world.button("Leave").click()
    assert world.left == [True]
    assert world.settings.value.setup.is_left


async def test_where_one_was_is_kept_over_a_new_start(world: SetupWorld) -> None:
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.pane.choose.context_chosen.emit(16384)
    world.button("Set up later").click()
    await world.presenter.close()
    world.open_anew()
    await until(lambda: bool(cards(world)))
    assert world.is_at(SetupStep.CHOOSE)
    assert cards(world)[QWEN].radio.isChecked()
    lengths = world.pane.choose.findChild(QComboBox)
    assert isinstance(lengths, QComboBox)
    assert lengths.currentData() == 16384


async def test_back_works_on_every_page(world: SetupWorld) -> None:
    await on_choose(world)
    world.button("Get it").click()
    assert world.is_at(SetupStep.GET)
    world.button("Back").click()
    assert world.is_at(SetupStep.CHOOSE)
    world.button("Back").click()
    assert world.is_at(SetupStep.MACHINE)
    assert not world.button("Back").isEnabled()


async def test_an_engine_that_does_not_answer_leaves_the_starter_to_try(world: SetupWorld) -> None:
    world.probe.answer = SILENT
    await until(lambda: world.button("Choose a model").isEnabled())
    world.button("Look again").click()
    await until(lambda: SILENT.headline in world.words())
    await world.presenter.close()
    world.open_anew()
    await until(lambda: SILENT.headline in world.words())
    world.button("Try the starter model").click()
    assert world.can_see("Get the starter model")


async def test_a_starter_that_is_here_is_loaded_at_once(world: SetupWorld) -> None:
    world.starter.state = StarterState.READY
    world.have_starter()
    await on_choose(world)
    assert "Is installed already" in world.words()
    world.button("Use it").click()
    assert world.is_at(SetupStep.READY)
    assert world.pairs.loads == [STARTER_PAIR_ID]


async def test_a_pair_that_is_here_is_used_and_the_hub_is_not_asked(world: SetupWorld) -> None:
    world.pairs.here[QWEN] = replace(world.have_starter(), id=QWEN)
    await on_choose(world)
    assert world.can_see("Get it")  # the starter is marked, and is not here
    cards(world)[QWEN].radio.click()
    content = cards(world)[QWEN].content
    assert content is not None
    assert content.origin.startswith("Is installed already")
    world.button("Use it").click()
    assert world.is_at(SetupStep.READY)
    assert world.pairs.loads == [QWEN]
    assert world.downloads.asked == []


async def test_only_what_the_library_does_not_have_is_asked_of_the_hub(world: SetupWorld) -> None:
    target, draft = "blaj/Qwen3-4B-instruct-int4-ov", "blaj/Qwen3-4B-DFlash-int4-ov"
    world.whole = {target}
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    await until(lambda: world.can_see("Download 1.50 GB"))
    assert world.downloads.planned == (draft,)
    world.button("Download").click()
    (running,) = world.downloads.transfers()
    assert [repo.repo_id for repo in running.request.repos] == [draft]


async def test_a_pair_whose_models_are_here_and_no_pair_asks_for_no_token(
    world: SetupWorld,
) -> None:
    world.whole = {"blaj/Qwen3-4B-instruct-int4-ov", "blaj/Qwen3-4B-DFlash-int4-ov"}
    await on_choose(world)
    cards(world)[QWEN].radio.click()
    world.button("Get it").click()
    assert "no pair that this program can load" in world.words()
    assert world.downloads.asked == []


async def test_the_memory_s_sum_is_told_in_the_unit_of_its_parts(world: SetupWorld) -> None:
    await until(lambda: "24 GB of memory" in world.words())  # as it is sold
    assert "25.3 GB in all" in world.words()


async def test_what_is_kept_free_is_taken_from_what_models_may_use(world: SetupWorld) -> None:
    await until(lambda: "about 21 GB for models" in world.words())
    reserve = world.pane.findChild(QDoubleSpinBox)
    assert isinstance(reserve, QDoubleSpinBox)
    reserve.setValue(10.0)
    assert "about 13 GB for models" in world.words()
    assert world.settings.value.memory_reserve_bytes == 10_000_000_000


async def test_what_the_loaded_model_takes_is_free_for_another(world: SetupWorld) -> None:
    await until(lambda: "about 21 GB for models" in world.words())
    world.loaded_bytes = 2_000_000_000
    world.button("Look again").click()
    await until(lambda: "about 23 GB for models" in world.words())


async def test_a_finding_has_its_command_to_copy(world: SetupWorld) -> None:
    await until(lambda: world.button("Choose a model").isEnabled())
    linux = LinuxGraphics("ubuntu", has_opencl_loader=True, has_opencl_driver=False)
    world.pane.machine.show_machine(tuple(linux_findings(HardwareReport(linux=linux))), "{}")
    assert "Then start the program again." in world.words()
    world.button("Copy").click()
    assert world.can_see("Copied")
    assert QApplication.clipboard().text() == "sudo apt-get install intel-opencl-icd"


async def test_experts_find_everything_folded_away(world: SetupWorld) -> None:
    await until(lambda: world.button("Choose a model").isEnabled())
    texts = world.pane.machine.findChildren(QPlainTextEdit)
    (raw,) = (text for text in texts if "as JSON" in text.accessibleName())
    assert not raw.isVisible()
    world.button("All that was found").click()
    assert raw.isVisible()
    assert '"report_version"' in raw.toPlainText()


async def test_the_device_is_chosen_by_what_it_is_and_the_memory_follows(
    world: SetupWorld,
) -> None:
    world.probe.answer = "two_arc_cards"
    world.button("Look again").click()
    await until(lambda: "A770" in world.words())
    box = world.pane.machine.findChild(DeviceBox)
    assert isinstance(box, DeviceBox)
    assert box.currentText() == "Automatic · Intel Arc A770"
    position = next(i for i in range(box.count()) if "A380" in box.itemText(i))
    box.setCurrentIndex(position)
    box.activated.emit(position)
    assert "A380" in world.settings.value.device
    assert "GPU." not in world.settings.value.device  # never by its place in a list
    assert "Intel Arc A380, 6 GB of its own" in world.words()


async def test_an_own_pair_is_found_marked_in_the_choice(world: SetupWorld) -> None:
    await on_choose(world)
    pair = OwnPairs(world.own_pairs_file).add(
        OwnPairEntry("ada/Mine", parameters=400_000_000_000, title="Mine")
    )
    world.presenter.show_pair(pair.id)
    assert rows(world)[pair.id].radio.isChecked()  # at the end of the list, and still there
    assert "Too big" in world.button("Get it").toolTip()


async def test_damaged_own_pairs_are_told_and_are_not_in_the_way(world: SetupWorld) -> None:
    await on_choose(world)
    world.own_pairs_file.write_text("{", encoding="utf-8")
    world.presenter.show_pair(QWEN)  # which reads them anew
    assert cards(world)[QWEN].radio.isChecked()
    (problem,) = world.problems
    assert "Your own pairs could not be read" in problem.headline


async def test_every_control_has_a_name_and_can_be_reached_with_tab(world: SetupWorld) -> None:
    await on_choose(world)
    world.button("Why?").click()
    world.pane.choose.show_more()
    for step in (SetupStep.CHOOSE, SetupStep.MACHINE):
        assert world.is_at(step)
        QApplication.processEvents()
        controls = {
            widget
            for widget in world.pane.findChildren(QWidget)
            if widget.isVisible()
            and widget.isEnabled()
            and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not isinstance(widget.parent(), QDoubleSpinBox)
        }
        for control in controls:
            words = control.text() if isinstance(control, QAbstractButton) else ""
            assert control.accessibleName() or words, control
        reached = set()
        for _ in range(len(controls) + 5):
            world.press(Qt.Key.Key_Tab)
            reached.add(world.focused())
        radios = {control for control in controls if isinstance(control, QRadioButton)}
        assert controls - radios <= reached  # one Tab goes to all of a group, arrows within it
        world.button("Back").click()
