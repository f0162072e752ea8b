"""How long the models page takes to be built and painted with a full library.

Run: python -m tests.perf.library_page [--models 200] [--runs 5] [--json]

The first time builds the page, with the library's first reading of the disk; the next ones are
refreshes after a change. No engine runs; the page is drawn offscreen unless QT_QPA_PLATFORM says
otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtWidgets import QApplication

from dflash_desktop.domain.devices import DeviceReport
from dflash_desktop.domain.engine_state import Absent
from dflash_desktop.domain.hardware import HardwareReport
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.own_pairs import OwnPairs
from dflash_desktop.services.pair_library import PairLibrary
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.ui.models.library_presenter import LibraryPresenter
from dflash_desktop.ui.models.pane import ModelsPane
from dflash_desktop.ui.models.presenter import ModelsPresenter
from dflash_desktop.ui.theme import Theme
from tests.fakes.library_world import app_paths, many_models
from tests.machines import machine, pool_of
from tests.perf.report import Measured, show
from tests.ui.test_models_page import FakeStarter

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.refetch import Repaired

BAR_SECONDS = 0.2
BAR_STALL_SECONDS = 0.05


class QuietEngine:
    """Holds nothing and starts no process, which would take a core from what is measured."""

    state = Absent()

    def subscribe(self, listener: Callable[[EngineState], None]) -> Callable[[], None]:
        return lambda: None


class QuietProbe:
    """Finds nothing, at once."""

    async def remembered(self) -> None:
        return None

    async def look(self) -> tuple[HardwareReport, DeviceReport]:
        return HardwareReport(), DeviceReport((), "", "", "", "", "")


class QuietPairs:
    """Loads nothing."""

    chosen = None

    def subscribe(self, listener: Callable[[], None]) -> None:
        pass

    def load(self, pair_id: str, with_draft: bool = True) -> None:
        pass

    def measured(self) -> None:
        pass


class NoRefetch:
    """Fetches nothing."""

    async def repair(self, *_: object) -> Repaired:
        raise NotImplementedError


async def measure(paths: AppPaths, theme: Theme) -> tuple[float, list[float], float, float]:
    """Seconds to the first paint, of each refresh, of the list of pairs, of the processor."""
    started, cpu_started = time.perf_counter(), time.thread_time()
    engine = QuietEngine()
    settings = SettingsStore(paths.settings_file)
    models = ModelLibrary(paths=paths)
    starter = FakeStarter(paths.data_dir)
    library = PairLibrary(settings=settings, starter=starter, models=models)
    pane = ModelsPane(theme=theme, report=lambda problem: problem.detail)
    presenter = ModelsPresenter(
        pane=pane,
        pin=starter_resources().pin,
        starter=starter,
        library=library,
        pairs=QuietPairs(),  # type: ignore[arg-type]  # only what the page asks
        engine=engine,  # type: ignore[arg-type]  # as above
        settings=settings,
        own_pairs=OwnPairs(paths.own_pairs_file),
        models=models.models,
        machine=QuietProbe(),
        pool_of=lambda _: pool_of(machine("arc_140v_32gb")),
        on_problem=lambda problem: None,
    )
    shelf = LibraryPresenter(
        view=pane.library,
        shelf=models,
        engine=engine,  # type: ignore[arg-type]  # as above
        pairs=library.pairs,
        load=lambda *_: None,
        open_folder=lambda _: None,
        refetch=NoRefetch(),
    )
    pane.resize(948, 700)
    pane.show()
    pane.repaint()
    first, cpu = time.perf_counter() - started, time.thread_time() - cpu_started
    await asyncio.sleep(0.2)
    refreshes = []
    for _ in range(5):
        started = time.perf_counter()
        presenter.refresh()
        shelf.refresh()
        pane.repaint()
        refreshes.append(time.perf_counter() - started)
    started = time.perf_counter()
    library.pairs()
    listing = time.perf_counter() - started
    for one in (presenter, shelf):
        await one.close()
    pane.deleteLater()
    return first, refreshes, listing, cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    application = QApplication(sys.argv)
    theme = Theme(application)
    loop = qasync.QEventLoop(application)
    with tempfile.TemporaryDirectory() as folder, loop:
        paths = app_paths(Path(folder))
        many_models(paths, args.models)
        runs = [loop.run_until_complete(measure(paths, theme)) for _ in range(args.runs)]
    first = [run[0] for run in runs]
    refreshes = [seconds for run in runs for seconds in run[1]]
    rows = [
        Measured("built and painted: cold", first[0], "s"),
        Measured("built and painted: median", statistics.median(first), "s", bar=BAR_SECONDS),
        Measured("built and painted: worst", max(first), "s"),
        Measured("processor time until then", statistics.median(run[3] for run in runs), "s"),
        Measured("refresh: median", statistics.median(refreshes), "s", bar=BAR_STALL_SECONDS),
        Measured("list of pairs", statistics.median(run[2] for run in runs), "s"),
    ]
    return show(f"The models page with {args.models} models", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
