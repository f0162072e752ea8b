"""The longest stall of the window's loop while an export loads all cores and prints without rest.

Run: python -m tests.perf.export_stall. The page shows the log, the stages and the memory. One
number is what the loop waited, with all other load of the machine; the other is what the window's
thread itself computed in one go.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtWidgets import QApplication

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.export_run import ExportState
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.export.pane import ExportPane
from dflash_desktop.ui.export.presenter import ExportPresenter
from dflash_desktop.ui.theme import Theme
from tests.fakes.export_plans import until
from tests.fakes.export_world import ExportWorld
from tests.fakes.fake_exporter import HOW_VARIABLE

_BEAT_SECONDS = 0.005


class _Beats:
    """Wakes the loop every few milliseconds and keeps how late that was."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self.worked: list[float] = []
        self.is_over = False

    async def run(self) -> None:
        while not self.is_over:
            began, work = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_BEAT_SECONDS)
            self.late.append(time.perf_counter() - began - _BEAT_SECONDS)
            self.worked.append(time.thread_time() - work)


async def _measure(theme: Theme, folder: Path) -> None:
    world = ExportWorld(folder)
    exports = world.open()
    cores = os.cpu_count() or 2
    pane = ExportPane(theme=theme, report=lambda problem: problem.detail, cores=cores)
    presenter = ExportPresenter(
        pane=pane,
        planning=cast("Any", None),
        exports=exports,
        settings=SettingsStore(folder / "settings.json"),
        load_pairs=lambda: (),
        role_of=lambda _: ExportRole.DRAFT,
        get_pair=lambda _: None,
        open_file=lambda _: None,
        on_remedy=lambda *_: None,
    )
    pane.resize(1100, 800)
    pane.show()
    pane.show_run(exports.start(world.plan(ExportRole.DRAFT)))
    presenter.refresh()
    await until(lambda: exports.runs()[0].log_count > 50)
    beats = _Beats()
    beating = asyncio.ensure_future(beats.run())
    await until(lambda: exports.runs()[0].state is not ExportState.RUNNING, seconds=60)
    beats.is_over = True
    await beating
    late = sorted(beats.late)
    print(
        f"{exports.runs()[0].log_count} lines, {len(exports.runs()[0].memory)} looks, "
        f"{len(late)} beats: stall worst {late[-1] * 1000:.1f} ms, "
        f"99.9 % {late[int(0.999 * len(late))] * 1000:.1f} ms, "
        f"own work worst {max(beats.worked) * 1000:.1f} ms"
    )
    await world.close()


def main() -> None:
    os.environ[HOW_VARIABLE] = "burn"
    application = QApplication(sys.argv[:1])
    theme = Theme(application)
    gc.freeze()
    sys.setswitchinterval(0.001)
    loop = qasync.QEventLoop(application)
    with tempfile.TemporaryDirectory() as folder, loop:
        loop.run_until_complete(_measure(theme, Path(folder)))


if __name__ == "__main__":
    main()
