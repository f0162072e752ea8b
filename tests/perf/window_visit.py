"""Runs the real window with a made-up engine, asks it one question, and tells its memory.

A child of window_memory: `python -m tests.perf.window_visit CHARACTERS`. The folder that
DFLASH_HOME names must be new.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import psutil
from PySide6.QtWidgets import QApplication, QMainWindow

import dflash_desktop.app.services as services_module
from dflash_desktop import app
from dflash_desktop.domain.engine_state import Loaded
from dflash_desktop.domain.settings import AddedPair
from dflash_desktop.paths import app_paths
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.chat.pane import ChatPane
from tests.fakes.engine import until
from tests.fakes.fake_worker import Script
from tests.fakes.launcher import FakeLauncher, fake_launcher

if TYPE_CHECKING:
    from dflash_desktop.paths import AppPaths

CHUNKS_PER_SECOND = 200.0
CHUNK_CHARACTERS = 20
QUIET_SECONDS = 3.0
PASSAGE = '''## Speculative decoding

A **small draft model** proposes several tokens, and the *target* checks them in one pass. Words
such as `KV cache` appear in the middle of the text.

1. The draft proposes three tokens.
2. The target verifies them.

```python
def accept(draft: list[int], target: list[int]) -> int:
    """How many of the draft's tokens the target accepts."""
    for index, (a, b) in enumerate(zip(draft, target)):
        if a != b:
            return index  # the first difference
    return len(draft)
```

| setting | tok/s | speed-up |
|:--------|------:|:--------:|
| off     |  20.1 |    -     |
| 3       |  48.0 |   2.4x   |

'''


class VisitedServices(services_module.Services):
    """The window's services, which also begin the visit as soon as the window has built them."""

    def __init__(self, *, paths: AppPaths, settings: SettingsStore) -> None:
        super().__init__(paths=paths, settings=settings)
        self.visit = asyncio.create_task(visit(self))


async def visit(services: services_module.Services) -> None:
    """Ask, wait until all is quiet, print the memory before and after, close the window."""
    await until(lambda: isinstance(services.engine.state, Loaded))
    (window,) = (w for w in QApplication.topLevelWidgets() if isinstance(w, QMainWindow))
    pane = window.findChild(ChatPane)
    assert isinstance(pane, ChatPane)
    await asyncio.sleep(QUIET_SECONDS)
    before_bytes = psutil.Process().memory_info().rss
    pane.send_requested.emit("What is speculative decoding?")
    await until(lambda: services.chat.is_answering)
    await until(lambda: not services.chat.is_answering)
    await asyncio.sleep(QUIET_SECONDS)
    after_bytes = psutil.Process().memory_info().rss
    characters = len(services.chat.conversation.messages[-1].text)
    facts = {"before_bytes": before_bytes, "after_bytes": after_bytes, "characters": characters}
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    window.close()


def main() -> int:
    characters = int(sys.argv.pop(1))
    script = Script(
        answers=((PASSAGE * (characters // len(PASSAGE) + 1))[:characters],),
        chunk_characters=CHUNK_CHARACTERS,
        chunks_per_second=CHUNKS_PER_SECOND,
        context_tokens=8192,
    )

    def launcher(*, log_dir: Path) -> FakeLauncher:
        return fake_launcher(script, log_dir=log_dir)

    pair = AddedPair("visit", "Made-up pair", Path("made-up/target"), Path("made-up/draft"))
    SettingsStore(app_paths().settings_file).change(added_pairs=(pair,), last_pair_id=pair.id)
    with (
        patch.object(services_module, "WorkerLauncher", launcher),
        patch.object(services_module, "Services", VisitedServices),
    ):
        return app.main()


if __name__ == "__main__":
    sys.exit(main())
