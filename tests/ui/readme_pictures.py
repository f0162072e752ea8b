"""Makes the README's pictures: the real program with its real engine and starter pair, grabbed.

    .venv/bin/python -m tests.ui.readme_pictures [FOLDER]

Needs the starter pair of the tests (`.cache/starter`). What is seen was measured here: the
question is asked, and the draft is measured, while the pictures are made.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1.5")

from dflash_desktop import app
from dflash_desktop.app.program import Program
from dflash_desktop.domain.settings import Theme
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.wizard.pane import WizardPane
from tests.app import journey
from tests.app.journey import Journey, until
from tests.perf.window_start import make_home

SIZE = (1120, 720)
WIDTH_PX = 1280
COLOURS = 128
SETTLE_SECONDS = 0.6
QUESTIONS = (
    # Such as the small model comes to an end with.
    "What is the capital of France?",
    "Write a short Python function that adds two numbers.",
)


async def take(program: Program, folder: Path) -> None:
    """Ask, measure, and grab each page in both themes."""
    window = program.window
    window.resize(*SIZE)
    person = Journey(program, "")
    for question in QUESTIONS:
        await person.loaded()
        await person.type_and_send(question)
        await person.answered()
    await person.loaded()
    await grab(program, folder, "chat")
    program.pages.show(Page.SETUP)
    setup = window.page_widget(Page.SETUP)
    assert isinstance(setup, WizardPane)
    await person.go_on(setup, "Choose a model")  # open once the machine was looked at
    await grab(program, folder, "choose")
    window.close()


async def grab(program: Program, folder: Path, name: str) -> None:
    """The window as it is, light and dark."""
    for theme in (Theme.LIGHT, Theme.DARK):
        program.window.header.theme_chosen.emit(theme)
        await asyncio.sleep(SETTLE_SECONDS)
        picture = folder / f"{name}-{theme.value}.png"
        program.window.grab().save(str(picture))
        make_small(picture)


def make_small(picture: Path) -> None:
    """The same picture, narrower and with a palette: a README is read by way of a network."""
    from PIL import Image

    with Image.open(picture) as full:
        height = round(full.height * WIDTH_PX / full.width)
        narrow = full.convert("RGB").resize((WIDTH_PX, height), Image.Resampling.LANCZOS)
    narrow.quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


def main() -> int:
    """Make all of them; the exit code is the program's."""
    folder = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "docs/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    journey.PATIENCE_SECONDS = 120.0
    real_run = Program.run

    async def travel(program: Program) -> None:
        try:
            await until(lambda: program.window.page is not None)
            await take(program, folder)
        except BaseException:
            program.window.close()
            raise

    async def run(program: Program) -> None:
        travelling = asyncio.ensure_future(travel(program))
        await real_run(program)
        await travelling

    with tempfile.TemporaryDirectory() as home:
        make_home(Path(home), fresh=False)
        os.environ["DFLASH_HOME"] = home
        with patch.object(Program, "run", run):
            return app.main()


if __name__ == "__main__":
    sys.exit(main())
