"""A newcomer's whole way through the real program, with the real engine and starter pair.

    python -m tests.app.journey WHEEL

Drives the window offscreen with keys and clicks as a person would, and prints what it saw as one
JSON object on the last line. `DFLASH_HOME` must name an empty folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING
from unittest.mock import patch

import psutil

from dflash_desktop import app
from dflash_desktop.app.program import Program
from dflash_desktop.domain.engine_state import Crashed, Generating, Loaded
from dflash_desktop.ui.pages import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.wizard.pane import WizardPane

PATIENCE_SECONDS = 240.0
"""For each thing that is waited for: a busy machine converts and loads slowly."""
LONG_QUESTION = "Write a short story about a lighthouse keeper."


class Journey:
    """One window and what was seen in it."""

    def __init__(self, program: Program, wheel: str) -> None:
        self._program = program
        self._wheel = wheel
        self._readings: list[str] = []
        self.seen: dict[str, object] = {}

    async def travel(self) -> None:
        """From an empty folder to the answer after a crash."""
        await self.get_the_starter()
        await self.ask_and_read_numbers()
        await self.stop_an_answer()
        await self.lose_the_engine()
        await self.ask_again()

    async def get_the_starter(self) -> None:
        """The setup looks at the machine and offers the starter; a file brought along will do."""
        window = self._program.window
        await until(lambda: window.page is not None)
        self.seen["first_page"] = window.page
        from PySide6.QtWidgets import QLabel

        from dflash_desktop.ui.wizard.pane import WizardPane

        pane = window.page_widget(Page.SETUP)
        assert isinstance(pane, WizardPane)
        await self.go_on(pane, "Choose a model")  # once the machine was looked at
        self.seen["machine"] = [
            label.text() for label in pane.machine.findChildren(QLabel) if label.text()
        ]
        await self.go_on(pane, "Get it")
        pane.starter.file_chosen.emit(self._wheel)  # what the system's file dialog would answer
        await self.go_on(pane, "Start chatting")
        await until(lambda: window.page is Page.CHAT)
        await self.loaded()
        meter = self._program.pages.chat_pane.meter
        meter.reading_changed.connect(self._readings.append)

    async def ask_and_read_numbers(self) -> None:
        """A short question, typed and sent with Enter."""
        await self.type_and_send("What is the capital of France?")
        await self.answered()
        self.seen["first_answer"] = self.last_text()
        self.seen["readings"] = list(dict.fromkeys(self._readings))

    async def stop_an_answer(self) -> None:
        """Esc stops; the engine is ready again at once."""
        await self.type_and_send(LONG_QUESTION)
        await self.text_arrives()
        stopped_at = time.monotonic()
        self.press_escape()
        await self.loaded()
        self.seen["stop_seconds"] = time.monotonic() - stopped_at
        await self.answered()

    async def lose_the_engine(self) -> None:
        """The kernel kills the engine in mid-answer."""
        await self.type_and_send(LONG_QUESTION)
        await self.text_arrives()
        (engine,) = psutil.Process().children()
        crashed = asyncio.Event()
        unsubscribe = self._program.services.engine.subscribe(
            lambda state: crashed.set() if isinstance(state, Crashed) else None
        )
        engine.send_signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await crashed.wait()
        unsubscribe()
        await self.loaded()
        self.seen["after_crash"] = self.last_text()

    async def ask_again(self) -> None:
        """The engine came back by itself, with the pair."""
        await self.type_and_send("What is the capital of Italy?")
        await self.answered()
        self.seen["last_answer"] = self.last_text()

    # --- what a person does and sees -------------------------------------------------------

    async def type_and_send(self, text: str) -> None:
        """Type into the field that has the focus, and press Enter."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        field = self.field()
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: self._program.services.chat.is_answering)

    async def go_on(self, pane: WizardPane, words: str) -> None:
        """Press the way on as soon as it is open."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest
        from PySide6.QtWidgets import QPushButton

        def ways_on() -> list[QPushButton]:
            buttons = pane.findChildren(QPushButton)
            return [b for b in buttons if b.text() == words and b.isVisible() and b.isEnabled()]

        await until(lambda: bool(ways_on()))
        QTest.keyClick(ways_on()[0], Qt.Key.Key_Space)

    def press_escape(self) -> None:
        """Press Esc in the field."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        QTest.keyClick(self.field(), Qt.Key.Key_Escape)

    def field(self) -> QWidget:
        """The message field."""
        from PySide6.QtWidgets import QPlainTextEdit

        composer = self._program.pages.chat_pane.composer
        fields = composer.findChildren(QPlainTextEdit)
        (field,) = (f for f in fields if f.accessibleName() == "Message")
        return field

    async def text_arrives(self) -> None:
        """The meter shows a rate, so the answer is streaming."""
        seen = len(self._readings)
        await until(
            lambda: (
                isinstance(self._program.services.engine.state, Generating)
                and any("tok/s" in reading for reading in self._readings[seen:])
            )
        )

    async def loaded(self) -> None:
        """The engine waits for a question."""
        await until(lambda: isinstance(self._program.services.engine.state, Loaded))

    async def answered(self) -> None:
        """The answer is over and kept."""
        await until(lambda: not self._program.services.chat.is_answering)

    def last_text(self) -> str:
        """The last message of the open conversation."""
        return self._program.services.chat.conversation.messages[-1].text


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110  # what is waited for sets no event
            await asyncio.sleep(0.01)


def main() -> int:
    """Run the journey; the exit code is the program's."""
    wheel = sys.argv.pop(1)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    real_run = Program.run
    seen: dict[str, object] = {}

    async def travel(program: Program) -> None:
        journey = Journey(program, wheel)
        try:
            await until(program.window.isVisible)
            await journey.travel()
        finally:
            seen.update(journey.seen)
            program.window.close()

    async def run(program: Program) -> None:
        travelling = asyncio.ensure_future(travel(program))
        await real_run(program)
        await travelling

    with patch.object(Program, "run", run):
        code = app.main()
    seen["children_left"] = len(psutil.Process().children(recursive=True))
    sys.stdout.write(json.dumps(seen) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
