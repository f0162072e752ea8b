"""The presenter that loads pairs, over a real engine whose worker is the fake one."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QIcon

from dflash_desktop.domain.benchmark import ChosenSetting
from dflash_desktop.domain.engine_state import Absent, Crashed, Loaded, Loading
from dflash_desktop.domain.generation import DraftState, DraftUse
from dflash_desktop.domain.pair import PairFolders, measurement_key
from dflash_desktop.domain.problems import Remedy, Severity
from dflash_desktop.domain.settings import AddedPair
from dflash_desktop.domain.starter import StarterState, StarterStatus
from dflash_desktop.services.engine import EngineLimits
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.pair_library import PairLibrary
from dflash_desktop.services.pair_loading import PairLoading
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.engine_words import WayOut
from dflash_desktop.ui.main_window import MainWindow
from dflash_desktop.ui.pair_presenter import PairPresenter
from dflash_desktop.workers.model_folder import fingerprint
from tests.domain.measurements import KEY, report
from tests.fakes.damaged_pairs import strip_locators
from tests.fakes.engine import EngineUnderTest, engine_under_test, until
from tests.fakes.fake_worker import Mishap, Script, Trouble, When
from tests.fakes.ir_models import write_draft, write_target
from tests.fakes.library_world import app_paths, arrive
from tests.fakes.vision_models import vision_pair
from tests.ui.shell_values import PAIR, bench_report

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.header import DraftBadge
    from dflash_desktop.ui.theme import Theme


class NoStarter:
    def status(self) -> StarterStatus:
        return StarterStatus(StarterState.MISSING, PAIR.target_dir, PAIR.target_dir)

    def pair(self) -> PairFolders:
        raise NotImplementedError


class Setup:
    """A window and a presenter over one engine."""

    def __init__(self, theme: Theme, folder: Path, under_test: EngineUnderTest) -> None:
        self.under_test = under_test
        self.engine = under_test.engine
        self.settings = SettingsStore(folder / "settings.json")
        self.measurements = MeasurementStore(folder / "measurements.json")
        self.settings.change(
            added_pairs=tuple(
                AddedPair(name, name.title(), folder / name, folder / "draft")
                for name in ("first", "second")
            )
        )
        self.models = ModelLibrary(paths=app_paths(folder))
        self.window = MainWindow(
            theme=theme,
            logo=QIcon(),
            report=lambda problem: problem.detail,
            remember=QSettings(str(folder / "w.ini"), QSettings.Format.IniFormat),
            may_close=lambda: True,
        )
        self.presenter = PairPresenter(
            window=self.window,
            engine=self.engine,
            library=PairLibrary(settings=self.settings, starter=NoStarter(), models=self.models),
            loading=PairLoading(engine=self.engine, compile_cache_dir=folder / "compiled"),
            settings=self.settings,
            measurements=self.measurements,
            draft_plan=lambda: DraftUse(DraftState.ON, "Because.", 3),
        )

    async def loaded(self, title: str) -> None:
        def is_loaded() -> bool:
            state = self.engine.state
            return isinstance(state, Loaded) and state.pair.title == title

        await until(is_loaded)

    @property
    def problem_code(self) -> str:
        problem = self.window.banner.problem
        return problem.code if problem else ""


@asynccontextmanager
async def setup(
    theme: Theme,
    qtbot: QtBot,
    tmp_path: Path,
    script: Script | None = None,
    limits: EngineLimits | None = None,
) -> AsyncIterator[Setup]:
    async with engine_under_test(tmp_path, script, limits) as under_test:
        shell = Setup(theme, tmp_path, under_test)
        qtbot.addWidget(shell.window)
        yield shell
        await shell.presenter.close()


async def test_the_preferred_pair_is_loaded_and_remembered(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        shell.settings.change(last_pair_id="second")
        assert shell.presenter.load_preferred()
        await shell.loaded("Second")
        shell.presenter.load("first")
        await shell.loaded("First")
        await until(lambda: shell.settings.value.last_pair_id == "first")
        assert shell.presenter.chosen is not None
        assert shell.presenter.chosen.id == "first"


async def test_a_pair_that_is_loaded_by_a_check_is_the_chosen_one(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        shell.presenter.load("first")
        await until(lambda: shell.settings.value.last_pair_id == "first")
        second = PairFolders("second", "Second", tmp_path / "target", tmp_path / "draft")
        shell.presenter.follow(second)
        assert shell.presenter.chosen == second
        assert shell.settings.value.last_pair_id == "first"


def with_two_drafts(shell: Setup, folder: Path) -> tuple[PairFolders, PairFolders]:
    """A target with a DFlash draft and its own head, which was measured to be faster."""
    dflash = vision_pair(folder, "qwen3_5")
    own_head = replace(dflash, id="own", title="Own head", draft_dir=dflash.target_dir)
    ways = (replace(dflash, title="DFlash"), own_head)
    shell.settings.change(
        added_pairs=tuple(AddedPair(w.id, w.title, w.target_dir, w.draft_dir) for w in ways)
    )
    for way, speedup in zip(ways, (1.4, 2.0), strict=True):
        key = replace(KEY, fingerprint=fingerprint(way.target_dir, way.draft_dir))
        measured = report(key=key, chosen=ChosenSetting(3, speedup, "because"))
        shell.measurements.put(replace(measured, pair_title=way.title))
    return ways


async def test_a_target_picked_without_a_draft_gets_the_faster_one_and_it_is_said(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        dflash, own_head = with_two_drafts(shell, tmp_path)
        shell.presenter.load_for_model(dflash.id, dflash.target_dir)
        await shell.loaded("Own head")
        await until(lambda: shell.settings.value.last_pair_id == "own")
        assert shell.presenter.chosen == own_head
        assert not shell.settings.value.keeps_way
        said = shell.window.banner.problem
        assert said is not None
        assert said.severity is Severity.INFO
        assert said.headline == "“Own head” was loaded instead of “DFlash”."
        assert "is faster here (2.00x) than “DFlash” (1.40x)" in said.advice


async def test_a_draft_that_was_named_stays_the_persons_choice_at_the_next_start_too(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        dflash, _ = with_two_drafts(shell, tmp_path)
        assert dflash.draft_dir is not None
        shell.presenter.load_for_model(dflash.id, dflash.draft_dir)
        await until(lambda: shell.settings.value.last_pair_id == dflash.id)
        assert shell.settings.value.keeps_way
        shell.presenter.load_preferred()
        await until(lambda: not shell.presenter._loads.is_busy)
        await shell.loaded("DFlash")
        assert shell.problem_code == ""
        shell.settings.change(keeps_way=False)
        shell.presenter.load_preferred()
        await shell.loaded("Own head")


async def test_without_any_pair_nothing_starts(theme: Theme, qtbot: QtBot, tmp_path: Path) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        shell.settings.change(added_pairs=())
        assert not shell.presenter.load_preferred()
        assert shell.under_test.launcher.starts == 0


async def test_the_device_of_the_settings_is_used_and_never_another(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        shell.settings.change(device="GPU.7")
        shell.presenter.load("first")
        await until(lambda: shell.problem_code == "device_missing")
        assert shell.presenter.take_way_out(Remedy.USE_CPU)
        await shell.loaded("First")
        assert shell.settings.value.device == "CPU"
        assert shell.problem_code == ""


async def test_the_graphics_that_automatic_takes_are_remembered(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        shell.presenter.load("first")
        await until(lambda: bool(shell.settings.value.last_graphics))
        assert shell.settings.value.last_graphics == "Intel Arc Made-up Graphics"
        assert shell.problem_code == ""


async def test_graphics_that_automatic_had_before_are_missed_in_words(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path, Script(has_graphics=False)) as shell:
        shell.presenter.load("first")
        await until(lambda: shell.settings.value.last_pair_id == "first")
        assert shell.problem_code == ""  # a machine that never had any
        shell.settings.change(last_graphics="Intel Arc 140V")
        shell.presenter.load("second")
        await until(lambda: shell.problem_code == "graphics_gone")
        assert shell.presenter.take_way_out(Remedy.USE_CPU)
        await until(lambda: shell.problem_code == "")
        await shell.loaded("Second")
        assert shell.problem_code == ""  # what a person chose is no surprise


async def test_a_failed_load_can_be_tried_again_or_without_the_draft(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    once = str(tmp_path / "once")
    mishap = Mishap(Trouble.FAIL, When.LOAD, only_once_file=once, code="draft_broken")
    async with setup(theme, qtbot, tmp_path, Script(mishaps=(mishap,))) as shell:
        shell.presenter.load("first")
        await until(lambda: shell.problem_code == "draft_broken")
        assert shell.presenter.take_way_out(Remedy.LOAD_WITHOUT_DRAFT)
        await shell.loaded("First")
        state = shell.engine.state
        assert isinstance(state, Loaded)
        assert state.pair.draft is None


@pytest.mark.parametrize("is_whole", [False, True])
async def test_a_failed_load_offers_a_repair_only_where_one_would_write_something(
    theme: Theme, qtbot: QtBot, tmp_path: Path, is_whole: bool
) -> None:
    target = write_target(tmp_path / "first")
    write_draft(tmp_path / "draft")
    if not is_whole:
        strip_locators(target)
    script = Script(mishaps=(Mishap(Trouble.FAIL, When.LOAD, code="locators_missing"),))
    async with setup(theme, qtbot, tmp_path, script) as shell:
        shell.presenter.load("first")
        await until(lambda: shell.problem_code == "locators_missing")
        await shell.presenter._looks.wait()
        problem = shell.window.banner.problem
        assert problem is not None
        assert (Remedy.REPAIR in problem.remedies) is not is_whole
        assert Remedy.LOAD_WITHOUT_DRAFT in problem.remedies
        assert ("can be repaired" in problem.advice) is not is_whole


async def test_choosing_another_pair_gives_up_a_load_that_runs(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path, Script(load_seconds=60)) as shell:
        shell.presenter.load("first")
        await until(lambda: isinstance(shell.engine.state, Loading))
        shell.under_test.launcher.script = Script()
        shell.presenter.load("second")
        await shell.loaded("Second")
        assert shell.problem_code == ""


async def test_stop_engine_ends_a_load_for_good(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path, Script(load_seconds=60)) as shell:
        shell.presenter.load("first")
        await until(lambda: isinstance(shell.engine.state, Loading))
        shell.window.status_line.way_out_requested.emit(WayOut.STOP_ENGINE)
        await until(lambda: isinstance(shell.engine.state, Absent))
        assert shell.presenter.chosen is None
        assert shell.problem_code == ""


async def test_restart_engine_loads_the_pair_again(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    script = Script(mishaps=(Mishap(Trouble.VANISH, When.LOAD),))
    async with setup(theme, qtbot, tmp_path, script, EngineLimits(restarts=0)) as shell:
        shell.presenter.load("first")
        await until(lambda: bool(shell.problem_code))
        assert isinstance(shell.engine.state, Crashed)
        shell.under_test.launcher.script = Script()
        shell.window.status_line.way_out_requested.emit(WayOut.RESTART_ENGINE)
        await shell.loaded("First")


async def test_the_badge_shows_what_was_measured_for_exactly_this_pair(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        badges: list[str] = []

        def remember(badge: DraftBadge | None) -> None:
            badges.append(badge.text if badge else "none")

        shell.window.header.show_badge = remember  # type: ignore[method-assign]  # a spy
        shell.presenter.load("first")
        assert badges[-1] == "none"
        await shell.loaded("First")
        await until(lambda: badges[-1] == "draft on")
        state = shell.engine.state
        assert isinstance(state, Loaded)
        shell.measurements.put(replace(bench_report(), key=measurement_key(state.pair)))
        assert badges[-1] == "draft on · 1.25x"


async def test_remedies_of_other_kinds_are_left_to_others(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        shell.presenter.load("first")
        await shell.loaded("First")
        assert not shell.presenter.take_way_out(Remedy.CHOOSE_MODEL)


@pytest.mark.parametrize("with_draft", [True, False])
async def test_a_pair_can_be_loaded_without_its_draft(
    theme: Theme, qtbot: QtBot, tmp_path: Path, with_draft: bool
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        shell.presenter.load("first", with_draft)
        await shell.loaded("First")
        state = shell.engine.state
        assert isinstance(state, Loaded)
        assert (state.pair.draft is not None) is with_draft


async def test_a_model_that_arrives_can_be_chosen_at_once(
    theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    async with setup(theme, qtbot, tmp_path) as shell:
        told = []
        shell.presenter.subscribe(lambda: told.append("now"))
        arrived = arrive(tmp_path / "arrived")
        await shell.models.install(
            arrived.folder, repo_id="owner/new", commit="a" * 40, endpoint="", files=arrived.files
        )
        assert told
