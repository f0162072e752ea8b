from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflash_desktop.domain.benchmark import ContextPoint, FirstDifference
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair import MeasurementKey, PairFingerprint
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import measurement_store
from dflash_desktop.services.measurement_store import MAX_REPORTS, MeasurementStore
from tests.domain.measurements import KEY, bench_run, report, result

OTHER_KEYS = (
    replace(KEY, fingerprint=PairFingerprint("target", "other draft")),
    replace(KEY, fingerprint=PairFingerprint("other target", "draft")),
    replace(KEY, fingerprint=PairFingerprint("target", None)),
    replace(KEY, device_name="Made-up GPU"),
    replace(KEY, driver="1.1"),
    replace(KEY, runtime="fake 1.1"),
    replace(KEY, kv_cache_precision=KvCachePrecision.U8),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "measurements.json"


def test_a_report_comes_back_whole_after_a_restart(file: Path) -> None:
    difference = FirstDifference(7, "the end", "an end", None, 0.01)
    run = bench_run(3, None, rounds=((50.0, 60.0),), difference=difference)
    kept = report(result(run), long_context=(ContextPoint(1000, 40.0, 44.0),))
    MeasurementStore(file).put(kept)
    assert MeasurementStore(file).get(KEY) == kept


@pytest.mark.parametrize("other", OTHER_KEYS)
def test_a_report_is_found_under_its_own_key_only(file: Path, other: MeasurementKey) -> None:
    store = MeasurementStore(file)
    store.put(report())
    store.set_draft_off(KEY, "costs")
    assert store.get(other) is None
    assert store.draft_off(other) is None


@settings(max_examples=25, deadline=None)  # each writes files
@given(st.sets(st.sampled_from((KEY, *OTHER_KEYS))))
def test_each_key_gets_its_own_report(keys: set[MeasurementKey]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = MeasurementStore(Path(folder) / "measurements.json")
        for key in keys:
            store.put(report(key=key))
        for key in (KEY, *OTHER_KEYS):
            found = store.get(key)
            assert (found is not None) == (key in keys)
            assert found is None or found.key == key


def test_a_new_measurement_replaces_the_old_one_and_gives_the_draft_a_new_chance(
    file: Path,
) -> None:
    store = MeasurementStore(file)
    store.put(report())
    store.set_draft_off(KEY, "It cost more than it gave.")
    newer = report(measured_at=datetime(2026, 6, 1, tzinfo=UTC))
    store.put(newer)
    assert MeasurementStore(file).get(KEY) == newer
    assert MeasurementStore(file).draft_off(KEY) is None


def test_the_switch_is_kept_and_can_be_taken_back(file: Path) -> None:
    MeasurementStore(file).set_draft_off(KEY, "It cost more than it gave.")
    store = MeasurementStore(file)
    assert store.draft_off(KEY) == "It cost more than it gave."
    store.set_draft_off(KEY, None)
    assert MeasurementStore(file).draft_off(KEY) is None


def test_listeners_hear_what_changed_until_they_leave(file: Path) -> None:
    store = MeasurementStore(file)
    heard: list[MeasurementKey] = []
    leave = store.subscribe(heard.append)
    store.put(report())
    store.set_draft_off(KEY, "costs")
    store.set_draft_off(KEY, "costs")  # no change
    leave()
    store.set_draft_off(KEY, None)
    assert heard == [KEY, KEY]


def test_what_another_process_wrote_is_seen_and_kept(file: Path) -> None:
    window, command = MeasurementStore(file), MeasurementStore(file)
    assert window.get(KEY) is None
    command.put(report())
    assert window.get(KEY) == report()
    window.set_draft_off(OTHER_KEYS[0], "costs")
    assert command.draft_off(OTHER_KEYS[0]) == "costs"
    assert command.get(KEY) == report()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 99}', b'{"version": 1, "reports": [{}]}', b"\xff"]
)
def test_a_damaged_file_is_set_aside_and_said(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    store = MeasurementStore(file)
    assert store.get(KEY) is None
    assert store.problem is not None
    assert store.problem.code == "measurements_damaged"
    aside = file.with_name(f"{file.name}.damaged")
    assert aside.read_bytes() == content
    assert aside.name in store.problem.advice
    store.put(report())
    assert MeasurementStore(file).get(KEY) == report()
    assert aside.read_bytes() == content


def test_a_full_disk_is_said_and_the_report_still_holds(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(measurement_store, "write_atomically", full)
    store = MeasurementStore(file)
    with pytest.raises(AppError) as caught:
        store.put(report())
    assert caught.value.problem.code == "disk_full"
    assert store.get(KEY) == report()


def test_the_file_does_not_grow_without_end(file: Path) -> None:
    store = MeasurementStore(file)
    for number in range(MAX_REPORTS + 3):
        store.put(report(key=replace(KEY, driver=str(number))))
    kept = msgspec.json.decode(file.read_bytes())["reports"]
    assert len(kept) == MAX_REPORTS
    assert store.get(replace(KEY, driver="2")) is None
    assert store.get(replace(KEY, driver=str(MAX_REPORTS + 2))) is not None
