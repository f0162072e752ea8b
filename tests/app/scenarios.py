"""Runs the real program, offscreen and over the fake engine, and does one thing to it.

    python -m tests.app.scenarios SCENARIO

Prints one JSON object on the last line: what the scenario saw. The exit code is the program's.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

import psutil

from dflash_desktop import app
from dflash_desktop.app import services
from dflash_desktop.app.program import Program
from dflash_desktop.domain.engine_state import Generating, Loaded, Loading
from dflash_desktop.paths import app_paths
from dflash_desktop.ui.pages import Page
from tests.fakes.fake_worker import Mishap, Script, Trouble, When
from tests.fakes.launcher import FakeLauncher

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from PySide6.QtWidgets import QPushButton

    from dflash_desktop.services.worker_launch import WorkerCommand

PATIENCE_SECONDS = 30.0
EXPORT_SECONDS = 150.0
SLOW = Script(answers=("word " * 400,), chunks_per_second=20)
Seen = dict[str, object]


async def close_at_once(program: Program, seen: Seen) -> None:
    """Close before anything but the window is there."""
    seen["page"] = program.window.page
    program.window.close()


async def close_on_the_setup(program: Program, seen: Seen) -> None:
    """Without any model the program leads to a first one, and looks at the machine."""
    seen["page"] = program.window.page
    program.window.close()


async def close_while_loading(program: Program, seen: Seen) -> None:
    """The engine reads a model."""
    await until(lambda: isinstance(program.services.engine.state, Loading))
    seen["page"] = program.window.page
    program.window.close()


async def close_while_answering(program: Program, seen: Seen) -> None:
    """Half an answer is there."""
    await ask_and_read(program)
    program.window.close()


async def close_with_a_stuck_engine(program: Program, seen: Seen) -> None:
    """The engine neither answers nor obeys (case 64)."""
    await ask_and_read(program)
    program.window.close()


async def close_while_measuring(program: Program, seen: Seen) -> None:
    """A measurement has begun."""
    await until(lambda: isinstance(program.services.engine.state, Loaded))
    program.pages.show(Page.MEASURE)
    buttons = named(program, "Measure fast")
    buttons[0].click()
    await until(lambda: isinstance(program.services.engine.state, Generating))
    program.window.close()


async def errors_everywhere(program: Program, seen: Seen) -> None:
    """A slot, a thread and a coroutine raise; the program lives and says so (case 91)."""
    await until(lambda: isinstance(program.services.engine.state, Loaded))

    def fail() -> None:
        raise ZeroDivisionError("raised on purpose")

    async def fail_later() -> None:
        fail()

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    seen["thread"] = await told(program)
    program.window.header.about_requested.connect(fail)
    program.window.header.about_requested.emit()
    seen["slot"] = await told(program)
    loop = asyncio.get_running_loop()
    loop.call_exception_handler({"message": "m", "exception": ZeroDivisionError("on purpose")})
    seen["loop"] = await told(program)
    program.window.close()


async def wait_for_a_signal(program: Program, seen: Seen) -> None:
    """The parent ends the program with a signal."""
    await ask_and_read(program)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await until(lambda: program.is_closing)


async def stay_open(program: Program, seen: Seen) -> None:
    """Say what the banner says as soon as the program hears later starts; a signal ends it."""
    await until(lambda: program.hears_later_starts)
    problem = program.window.banner.problem
    sys.stdout.write(f"ready {problem.code if problem else 'calm'}\n")
    sys.stdout.flush()
    await until(lambda: program.is_closing)
    seen["problem"] = problem.detail if problem else ""


async def hear_a_second_start(program: Program, seen: Seen) -> None:
    """Another start hands over a model's folder, which is added with a click."""
    from dflash_desktop.domain.problems import Remedy

    await until(lambda: program.hears_later_starts)
    program.window.showMinimized()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await until(lambda: program.window.banner.problem is not None)
    seen["minimized"] = program.window.isMinimized()
    seen["told"] = await told_code(program)
    seen["models_before"] = len(program.services.models.models())
    named(program, Remedy.ADD_MODEL.label)[0].click()
    await until(lambda: bool(program.services.models.models()))
    seen["models"] = [str(model.path) for model in program.services.models.models()]
    seen["page"] = program.window.page
    program.window.close()


async def hear_of_a_picture(program: Program, seen: Seen) -> None:
    """Another start hands over a picture, which is attached with a click."""
    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.ui.pictures.attachment_bar import AttachmentBar

    await until(lambda: program.hears_later_starts)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await until(lambda: program.window.banner.problem is not None)
    seen["told"] = await told_code(program)
    named(program, Remedy.ATTACH_PICTURE.label)[0].click()
    (bar,) = program.window.findChildren(AttachmentBar)
    await until(lambda: bool(bar.cards) and bar.cards[0].thumbnail.isEnabled())
    seen["page"] = program.window.page
    seen["attached"] = bar.cards[0].thumbnail.accessibleName()
    program.window.close()


async def hear_of_several_files(program: Program, seen: Seen) -> None:
    """Another start hands over two pictures and a checkpoint, each of which goes its way."""
    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.ui.export.item_form import ItemForm
    from dflash_desktop.ui.pictures.attachment_bar import AttachmentBar

    await until(lambda: program.hears_later_starts)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await until(lambda: program.window.banner.problem is not None)
    named(program, Remedy.ATTACH_PICTURE.label)[0].click()
    (bar,) = program.window.findChildren(AttachmentBar)
    await until(lambda: len(bar.cards) == 2 and all(c.thumbnail.isEnabled() for c in bar.cards))
    names = [card.thumbnail.accessibleName() for card in bar.cards]
    seen["attached"] = [name.split()[2].rstrip(",") for name in names]
    problem = program.window.banner.problem
    seen["offered_again"] = [] if problem is None else list(problem.remedies)
    named(program, Remedy.EXPORT.label)[0].click()

    def source() -> str:
        forms = program.window.findChildren(ItemForm)
        return next((str(form.read.source.path) for form in forms if form.read.source), "")

    await until(lambda: program.window.page == "Export" and bool(source()))
    seen["page"], seen["form"] = program.window.page, source()
    program.window.close()


async def hear_of_a_gguf_file(program: Program, seen: Seen) -> None:
    """Another start hands over a GGUF file, which is offered twice before anything is done."""
    from dflash_desktop.domain.problems import Remedy

    await until(lambda: program.hears_later_starts)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await until(lambda: program.window.banner.problem is not None)
    seen["told"] = await told_code(program)
    named(program, Remedy.ADD_MODEL.label)[0].click()
    await until(lambda: any(button.isVisible() for button in named(program, "Import")))
    seen["page"] = program.window.page
    seen["offered"] = named(program, "Import")[0].accessibleName()
    seen["models"] = len(program.services.models.models())
    program.window.close()


async def look_and_go_on(program: Program, seen: Seen) -> None:
    """What is said at the start, and a setting and a chat after it."""
    await until(lambda: program.hears_later_starts or program.window.banner.problem is not None)
    seen["told"] = await told_code(program)
    program.pages.show(Page.CHAT)
    seen["page"] = program.window.page
    program.window.close()


class LauncherWithoutEngine(FakeLauncher):
    """Beside the Python of a checkout there is an engine's executable, so another one is named."""

    def self_test(self) -> WorkerCommand:
        """What is not there."""
        command = super().self_test()
        return replace(command, argv=(str(command.log_file.with_name("dflash-engine")),))


async def frozen_without_its_engine(program: Program, seen: Seen) -> None:
    """A packed program of which the second executable is missing tests itself and says so."""
    seen["told"] = await told_code(program)
    seen["detail"] = program.window.banner.problem.detail if program.window.banner.problem else ""
    program.window.close()


async def quit_by_the_system(program: Program, seen: Seen) -> None:
    """A log-off stops the loop itself (case 89)."""
    from PySide6.QtWidgets import QApplication

    await ask_and_read(program)
    QApplication.quit()
    await until(lambda: program.is_closing)


async def last_dialog(program: Program, seen: Seen) -> None:
    """A dialog closes while the window is hidden: the program goes on (case 90)."""
    from PySide6.QtWidgets import QDialog

    await until(lambda: isinstance(program.services.engine.state, Loaded))
    program.window.hide()
    dialog = QDialog()
    dialog.show()
    await asyncio.sleep(0.1)
    dialog.accept()
    await asyncio.sleep(0.3)
    seen["closing"] = program.is_closing
    program.window.show()
    program.window.close()


async def get_a_model_that_asks_who_you_are(program: Program, seen: Seen) -> None:
    """By its name, stopped for want of a token, given one, and then in the library."""
    from PySide6.QtWidgets import QApplication, QLineEdit, QRadioButton

    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.domain.transfer import TransferState
    from dflash_desktop.ui.models.offer_words import request_by_name
    from dflash_desktop.ui.transfers.token_dialog import TokenDialog

    downloads = program.services.downloads

    def state() -> TransferState:
        return downloads.transfers()[0].state

    def dialogs() -> list[TokenDialog]:
        return [w for w in QApplication.topLevelWidgets() if isinstance(w, TokenDialog)]

    await until(lambda: program.window.page is not None)
    program.pages.show(Page.TRANSFERS)
    downloads.add(request_by_name(("team/secret",)))
    await until(lambda: bool(named(program, Remedy.ENTER_TOKEN.label)))
    seen["stopped"] = state().value
    seen["count"] = bool(named(program, "Transfers 1"))
    named(program, Remedy.ENTER_TOKEN.label)[0].click()
    await until(lambda: bool(dialogs()))
    (dialog,) = dialogs()
    dialog.findChildren(QRadioButton)[1].setChecked(True)  # until the program ends
    dialog.findChildren(QLineEdit)[0].setText(sys.argv[1])
    dialog.token_given.emit(sys.argv[1], False)
    await until(lambda: state() is TransferState.DONE)
    await until(lambda: bool(named(program, "Show in Models")))
    named(program, "Show in Models")[0].click()
    seen["page"] = program.window.page
    await until(lambda: bool(program.services.models.models()))
    seen["models"] = [model.id for model in program.services.models.models()]
    program.window.close()


async def get_a_pair_that_asks_who_you_are(program: Program, seen: Seen) -> None:
    """In the setup: every way out of what stops its download leads somewhere."""
    from PySide6.QtWidgets import QApplication

    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.domain.setup import SetupPlace
    from dflash_desktop.ui.transfers.token_dialog import TokenDialog

    def dialogs() -> list[TokenDialog]:
        return [w for w in QApplication.topLevelWidgets() if isinstance(w, TokenDialog)]

    await until(lambda: program.window.page is not None)
    program.services.settings.change(setup=SetupPlace(pair_id=sys.argv[1]))
    program.pages.show(Page.SETUP)
    for words in ("Choose a model", "Get it"):
        await press(program, words)
    await until(lambda: bool(named(program, Remedy.ENTER_TOKEN.label)))
    named(program, Remedy.ENTER_TOKEN.label)[0].click()
    await until(lambda: bool(dialogs()))
    (dialog,) = dialogs()
    dialog.token_given.emit(sys.argv[2], False)
    await until(lambda: any(b.text().startswith("Download ") for b in buttons(program)))
    program.window.close()


real_fsync = os.fsync


def full_disk(handle: int) -> None:
    """Stands in for fsync: nothing that the window's own thread writes fits."""
    if threading.current_thread() is not threading.main_thread():
        real_fsync(handle)  # the model's last use, which the test is not about
        return
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def close_with_a_full_disk(program: Program, seen: Seen) -> None:
    """The conversation cannot be saved: the first close is refused, the second is not."""
    await ask(program)
    with patch.object(os, "fsync", full_disk):
        await until(lambda: bool(program.services.conversations.pending))
        program.window.close()
        seen["visible"] = program.window.isVisible()
        seen["told"] = await told(program)
        program.window.close()
        seen["visible_then"] = program.window.isVisible()


async def space_returns(program: Program, seen: Seen) -> None:
    """The disk was full, and there is space when the window closes."""
    await ask(program)
    with patch.object(os, "fsync", full_disk):
        await until(lambda: bool(program.services.conversations.pending))
    program.window.close()


async def look_at_a_pair(program: Program, seen: Seen) -> None:
    """From its card to its page, a check by running it, and away in the middle of that."""
    await until(lambda: isinstance(program.services.engine.state, Loaded))
    seen["before"] = [name for name in sys.modules if name.startswith("dflash_desktop.ui.pair.")]
    program.pages.show(Page.MODELS)
    await press(program, "Does this pair work?")
    seen["page"] = program.window.page
    await until(lambda: any(b.isVisible() for b in named(program, "Copy report")))
    await press(program, "Check")
    await until(lambda: isinstance(program.services.engine.state, Generating))
    program.window.close()


async def go_from_page_to_page(program: Program, seen: Seen) -> None:
    """What leads from one page to another: a repair, drops on the chat and on the models."""
    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.ui.export.item_form import ItemForm
    from dflash_desktop.ui.models.pane import ModelsPane

    await until(lambda: isinstance(program.services.engine.state, Loaded))
    window, (checkpoint, model) = program.window, sys.argv[1:3]

    def in_the_form() -> bool:
        return any(form.read.source is not None for form in window.findChildren(ItemForm))

    window.remedy_chosen.emit(Remedy.REPAIR)
    pages = [window.page]
    program.pages.show(Page.CHAT)
    program.pages.chat_pane.files_given.emit((model,))
    await until(lambda: bool(program.services.models.models()))
    pages.append(window.page)
    program.pages.show(Page.MODELS)
    pane = window.page_widget(Page.MODELS)
    assert isinstance(pane, ModelsPane)
    pane.library.paths_dropped.emit((checkpoint,))
    await until(lambda: window.page == Page.EXPORT and in_the_form())
    seen["pages"] = [*pages, window.page]
    window.close()


async def close_while_exporting(program: Program, seen: Seen) -> None:
    """Closing asks once, and goes on with a click."""
    from dflash_desktop.domain.problems import Remedy
    from tests.ui.export.export_values import RUNNING

    with patch.object(program.services.exports, "runs", return_value=(RUNNING,)):
        program.window.close()
        seen["told"] = await told_code(program)
        seen["was_closing"] = program.is_closing
        await press(program, Remedy.SHOW_EXPORT.label)
        seen["page"] = program.window.page
        program.window.close()
        await press(program, Remedy.CLOSE_PROGRAM.label)
        seen["is_closing"] = program.is_closing


async def export_a_draft(program: Program, seen: Seen) -> None:
    """From a folder that is dropped on the page to the model in the library."""
    from dflash_desktop.domain.export_run import ExportState
    from dflash_desktop.ui.export.pane import ExportPane

    program.pages.show(Page.EXPORT)
    pane = program.window.page_widget(Page.EXPORT)
    assert isinstance(pane, ExportPane)
    pane.dropped.emit((str(app_paths().data_dir / "checkpoint"),))
    await press(program, "See what it takes")
    await until(lambda: pane.is_at_plan)
    pane.plan.start_requested.emit()
    await until(lambda: bool(program.services.exports.runs()))
    program.pages.show(Page.CHAT)
    said: set[str] = set()
    is_over = asyncio.Event()
    longest = asyncio.ensure_future(longest_turn(is_over))
    async with asyncio.timeout(EXPORT_SECONDS):
        while (run := program.services.exports.runs()[0]).state not in (
            ExportState.DONE,
            ExportState.FAILED,
        ):
            said |= {b.text() for b in buttons(program) if b.text().startswith("Exporting")}
            seen["samples"] = len(run.memory)
            await asyncio.sleep(0.1)
    is_over.set()
    seen["turn_seconds"] = await longest
    program.pages.show(Page.EXPORT)
    await until(lambda: pane.run.result.isVisible())
    seen["said"] = sorted(said)
    seen["state"] = run.state
    seen["problem"] = run.problem.headline if run.problem else ""
    seen["log_lines"] = pane.run.log.text.blockCount()
    await press(program, "Show in Models")
    seen["page"] = program.window.page
    seen["models"] = [model.id for model in program.services.models.models()]
    program.window.close()


async def longest_turn(is_over: asyncio.Event) -> float:
    """The longest that the window's thread computed in one go, in seconds."""
    longest = 0.0
    while not is_over.is_set():
        began = time.thread_time()
        await asyncio.sleep(0.005)
        longest = max(longest, time.thread_time() - began)
    return longest


async def imports(program: Program, seen: Seen) -> None:
    """What this process has loaded once it chats."""
    await ask(program)
    await until(lambda: not program.services.chat.is_answering)
    native = {"openvino", "openvino_genai", "numpy", "torch"}
    seen["native"] = sorted(native & {name.split(".")[0] for name in sys.modules})
    program.window.close()


SCENARIOS: dict[str, tuple[Script, Callable[[Program, Seen], Awaitable[None]]]] = {
    "close_at_once": (SLOW, close_at_once),
    "close_while_exporting": (SLOW, close_while_exporting),
    "export_a_draft": (SLOW, export_a_draft),
    "close_on_the_setup": (SLOW, close_on_the_setup),
    "get_a_model_that_asks_who_you_are": (SLOW, get_a_model_that_asks_who_you_are),
    "get_a_pair_that_asks_who_you_are": (
        Script(genai_version="2026.4.1"),
        get_a_pair_that_asks_who_you_are,
    ),
    "close_while_loading": (Script(load_seconds=60), close_while_loading),
    "close_while_answering": (SLOW, close_while_answering),
    "close_with_a_stuck_engine": (
        Script(mishaps=(Mishap(Trouble.IGNORE_TERMINATE, When.GENERATE, 2),)),
        close_with_a_stuck_engine,
    ),
    "close_while_measuring": (SLOW, close_while_measuring),
    "errors_everywhere": (SLOW, errors_everywhere),
    "wait_for_a_signal": (SLOW, wait_for_a_signal),
    "quit_by_the_system": (SLOW, quit_by_the_system),
    "stay_open": (SLOW, stay_open),
    "hear_a_second_start": (SLOW, hear_a_second_start),
    "hear_of_a_gguf_file": (SLOW, hear_of_a_gguf_file),
    "hear_of_a_picture": (SLOW, hear_of_a_picture),
    "hear_of_several_files": (SLOW, hear_of_several_files),
    "look_and_go_on": (SLOW, look_and_go_on),
    "frozen_without_its_engine": (SLOW, frozen_without_its_engine),
    "last_dialog": (SLOW, last_dialog),
    "close_with_a_full_disk": (Script(), close_with_a_full_disk),
    "space_returns": (Script(), space_returns),
    "imports": (Script(), imports),
    "look_at_a_pair": (SLOW, look_at_a_pair),
    "go_from_page_to_page": (SLOW, go_from_page_to_page),
}


async def ask(program: Program) -> None:
    """Send a question as soon as the model is there."""
    await until(lambda: isinstance(program.services.engine.state, Loaded))
    program.pages.chat_pane.send_requested.emit("What is rain?")


async def ask_and_read(program: Program) -> None:
    """Ask, and wait for the first words of the answer."""
    has_text = asyncio.Event()
    program.pages.chat_pane.meter.reading_changed.connect(
        lambda words: has_text.set() if "tok/s" in words else None
    )
    await ask(program)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await has_text.wait()


async def told(program: Program) -> str:
    """The banner's problem, once it is shown; dismissed afterwards."""
    await until(lambda: program.window.banner.problem is not None)
    problem = program.window.banner.problem
    program.window.clear_problem()
    return f"{problem.code}: {problem.detail}" if problem else ""


async def told_code(program: Program) -> str:
    """The code of the banner's problem, which stays."""
    await until(lambda: program.window.banner.problem is not None)
    problem = program.window.banner.problem
    return problem.code if problem else ""


def named(program: Program, text: str) -> list[QPushButton]:
    """The buttons with these words."""
    return [b for b in buttons(program) if b.text() == text]


async def press(program: Program, text: str) -> None:
    """Click the button with these words as soon as it is there to be clicked."""
    await until(lambda: any(button.isEnabled() for button in named(program, text)))
    named(program, text)[0].click()


def buttons(program: Program) -> list[QPushButton]:
    """All of the window's."""
    from PySide6.QtWidgets import QPushButton

    return program.window.findChildren(QPushButton)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110  # what is waited for sets no event
            await asyncio.sleep(0.005)


def engines() -> list[int]:
    """The children that run now."""
    return [c.pid for c in psutil.Process().children(recursive=True)]


def main() -> int:
    """Run one scenario."""
    name = sys.argv.pop(1)
    script, act = SCENARIOS[name]
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    if act is frozen_without_its_engine:
        vars(sys)["frozen"] = True
    seen: Seen = {}
    closed_at = 0.0
    real_run = Program.run

    def fake(*, log_dir: Path, is_network_off: Callable[[], bool]) -> FakeLauncher:
        assert not is_network_off()  # the fake engine does not ask
        if act is frozen_without_its_engine:
            return LauncherWithoutEngine(script=script, log_dir=log_dir)
        return FakeLauncher(script=script, log_dir=log_dir)

    async def scenario(program: Program) -> None:
        nonlocal closed_at
        await until(program.window.isVisible)
        if act is not close_at_once:
            await until(lambda: program.window.page is not None)
        try:
            await act(program, seen)
        except BaseException:
            program.window.close()
            raise
        finally:
            closed_at = time.monotonic()

    async def run(program: Program) -> None:
        acting = asyncio.ensure_future(scenario(program))
        await real_run(program)
        await acting

    with patch.object(services, "WorkerLauncher", fake), patch.object(Program, "run", run):
        code = app.main()
    seen["goodbye_seconds"] = time.monotonic() - closed_at
    seen["engines_left"] = len(engines())
    log = app_paths().log_dir / "window.log"
    seen["log"] = log.read_text("utf-8") if log.exists() else ""
    sys.stdout.write(json.dumps(seen) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
