"""Which device a pair is loaded on, and how the choice is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.engine_state import loaded_pair
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair import measurement_key
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import pair_loading
from dflash_desktop.services.engine import EngineLimits
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.pair_loading import PairLoading
from dflash_desktop.services.settings_store import SettingsStore
from tests.domain.measurements import bench_run, report, result
from tests.fakes.engine import PAIR, EngineUnderTest, engine_under_test
from tests.fakes.fake_worker import Mishap, Script, Trouble, When

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

ARC = "Intel Arc Made-up Graphics"
HANGING_DRIVER = Script(mishaps=(Mishap(Trouble.IGNORE_CANCEL, When.DEVICES),))


def loading(under_test: EngineUnderTest, folder: Path) -> tuple[PairLoading, SettingsStore]:
    settings = SettingsStore(folder / "settings.json")
    made = PairLoading(
        engine=under_test.engine, compile_cache_dir=folder / "compiled", settings=settings
    )
    return made, settings


@pytest.mark.parametrize("old", ["GPU", "gpu.0"])
async def test_a_choice_that_was_kept_by_its_place_is_kept_by_what_it_is(
    tmp_path: Path, old: str
) -> None:
    async with engine_under_test(tmp_path) as under_test:
        service, settings = loading(under_test, tmp_path)
        settings.change(device=old)

        await service.load(PAIR, device=settings.value.device)

        assert settings.value.device == ARC
        await service.load(PAIR, device=settings.value.device)
        loaded = loaded_pair(under_test.engine.state)
        assert loaded is not None
        assert loaded.device_name == ARC


@pytest.mark.parametrize("kept", ["", "CPU", ARC])
async def test_other_choices_stay_as_they_are(tmp_path: Path, kept: str) -> None:
    async with engine_under_test(tmp_path) as under_test:
        service, settings = loading(under_test, tmp_path)
        settings.change(device=kept)

        await service.load(PAIR, device=settings.value.device)

        assert settings.value.device == kept


async def test_a_choice_that_is_gone_is_kept_and_told(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        service, settings = loading(under_test, tmp_path)
        settings.change(device="GPU.1")

        with pytest.raises(AppError, match="device_missing"):
            await service.load(PAIR, device=settings.value.device)

        assert settings.value.device == "GPU.1"
        assert loaded_pair(under_test.engine.state) is None


async def test_the_processor_is_used_without_asking_a_driver_that_hangs(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path, HANGING_DRIVER) as under_test:
        service, _ = loading(under_test, tmp_path)

        assert (await service.load(PAIR, device="cpu")).device == "CPU"


async def test_a_driver_that_hangs_is_a_problem_in_time_and_the_engine_comes_back(
    tmp_path: Path,
) -> None:
    limits = replace(EngineLimits(), devices_seconds=0.3, cancel_seconds=0.3)
    async with engine_under_test(tmp_path, HANGING_DRIVER, limits) as under_test:
        service, _ = loading(under_test, tmp_path)

        with pytest.raises(AppError, match="devices_silent"):
            await service.load(PAIR)

        assert (await service.load(PAIR, device="CPU")).device == "CPU"


async def test_the_folders_of_a_pair_are_in_use_from_its_loading_to_its_end(
    tmp_path: Path,
) -> None:
    noted: list[PairFolders] = []
    seen: dict[str, tuple[Path, ...]] = {}

    async def note(folders: PairFolders) -> None:
        noted.append(folders)

    async with engine_under_test(tmp_path) as under_test:
        service = PairLoading(
            engine=under_test.engine, compile_cache_dir=tmp_path / "c", note_used=note
        )
        under_test.engine.subscribe(
            lambda state: seen.update({type(state).__name__: service.folders_in_use()})
        )
        assert service.folders_in_use() == ()
        await service.load(PAIR, device="CPU")
        assert noted == [PAIR]
        both = (PAIR.target_dir, PAIR.draft_dir)
        assert seen["Loading"] == service.folders_in_use() == both
        alone = replace(PAIR, target_dir=tmp_path / "other", draft_dir=None)
        await under_test.engine.load(alone, device="CPU")  # not through this service
        assert service.folders_in_use() == (tmp_path / "other",)
        await under_test.engine.stop()
        assert service.folders_in_use() == ()


def measured_with(
    under_test: EngineUnderTest, folder: Path, precision: KvCachePrecision
) -> MeasurementStore:
    """A store with one measurement of the loaded pair in which all texts were identical."""
    store = MeasurementStore(folder / "measurements.json")
    loaded = loaded_pair(under_test.engine.state)
    assert loaded is not None
    key = replace(measurement_key(loaded), kv_cache_precision=precision)
    store.put(report(result(bench_run(3, 60.0)), key=key))
    return store


async def test_the_exact_setting_takes_the_precision_that_was_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_under_test(tmp_path) as under_test:
        service, settings = loading(under_test, tmp_path)
        first = await service.load(PAIR, device=ARC)
        monkeypatch.setattr(pair_loading, "installed_runtime", lambda: first.runtime)
        monkeypatch.setattr(pair_loading, "fingerprint", lambda *_: first.fingerprint)
        monkeypatch.setattr(pair_loading, "parse_version", lambda text: text)
        service = PairLoading(
            engine=under_test.engine,
            compile_cache_dir=tmp_path,
            settings=settings,
            measurements=measured_with(under_test, tmp_path, KvCachePrecision.U8),
        )
        for exact, expected in ((False, first.kv_cache_precision), (True, KvCachePrecision.U8)):
            settings.change(exact_text=exact)
            assert (await service.load(PAIR, device=ARC)).kv_cache_precision is expected
        named = KvCachePrecision.F16
        loaded = await service.load(PAIR, device=ARC, kv_cache_precision=named)
        assert loaded.kv_cache_precision is named


async def test_without_a_proof_the_exact_setting_takes_the_finest(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        service, _ = loading(under_test, tmp_path)
        loaded = await service.load(PAIR, device=ARC, exact=True)
        assert loaded.kv_cache_precision is KvCachePrecision.F32
