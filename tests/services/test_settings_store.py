from __future__ import annotations

import errno
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dflash_desktop.domain.generation import KvCachePrecision, SamplingParams
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.setting_bounds import SAMPLING_BOUNDS, within_bounds
from dflash_desktop.domain.settings import (
    SAMPLING_TEXTS,
    SETTING_TEXTS,
    SETTINGS_VERSION,
    AddedPair,
    Settings,
    SettingsChange,
    Theme,
)
from dflash_desktop.services.settings_store import MIGRATIONS, SettingsStore


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def test_without_a_file_the_defaults_hold_and_nothing_is_written(file: Path) -> None:
    store = SettingsStore(file)
    assert store.value == Settings()
    assert store.problem is None
    assert not file.exists()


def test_every_changed_field_survives_a_restart(file: Path) -> None:
    changed = SettingsStore(file).change(
        theme=Theme.DARK,
        device="GPU.0",
        kv_cache_precision=KvCachePrecision.F16,
        sampling=SamplingParams(temperature=0.7, seed=3),
        system_prompt="Be brief. ✓",
        show_draft_tokens=True,
        last_pair_id="mine",
        keeps_way=True,
        added_pairs=(AddedPair("mine", "Mine", Path("/models/t"), Path("/models/d")),),
    )
    assert changed != Settings()
    assert SettingsStore(file).value == changed


def test_listeners_hear_changes_only_and_can_leave(file: Path) -> None:
    store = SettingsStore(file)
    heard: list[Settings] = []
    leave = store.subscribe(heard.append)
    store.change(theme=Theme.DARK)
    store.change(theme=Theme.DARK)
    leave()
    store.change(theme=Theme.LIGHT)
    assert [s.theme for s in heard] == [Theme.DARK]


def test_numbers_outside_their_bounds_are_moved_inside(file: Path) -> None:
    value = SettingsStore(file).change(
        sampling=SamplingParams(
            temperature=float("nan"),
            top_p=-1,
            top_k=-5,
            repetition_penalty=99,
            seed=2**40,
            max_new_tokens=0,
        )
    )
    assert value.sampling == SamplingParams(0.0, 0.01, 0, 2.0, 2**31 - 1, 1)
    assert SettingsStore(file).value == value


@given(
    st.builds(
        SamplingParams,
        temperature=st.floats(),
        top_p=st.floats(),
        top_k=st.integers(),
        repetition_penalty=st.floats(),
        seed=st.integers(),
        max_new_tokens=st.integers(),
    )
)
def test_any_sampling_ends_within_its_bounds(sampling: SamplingParams) -> None:
    clamped = within_bounds(Settings(sampling=sampling)).sampling
    for name, bounds in SAMPLING_BOUNDS.items():
        assert bounds.minimum <= getattr(clamped, name) <= bounds.maximum


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(), st.text().map(lambda t: t.encode("utf-8", "replace"))))
def test_a_damaged_file_is_kept_aside_whatever_is_in_it(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(data)
    store = SettingsStore(file)
    assert store.value == Settings()
    assert store.problem is not None
    assert store.problem.code == "settings_damaged"
    kept = max(tmp_path.glob("settings.json.damaged*"), key=lambda p: p.stat().st_mtime_ns)
    assert kept.name in store.problem.advice
    assert kept.read_bytes() == data
    for old in tmp_path.iterdir():
        old.unlink()


def test_a_second_damaged_file_does_not_replace_the_first(file: Path) -> None:
    file.parent.mkdir()
    for text in ("first", "second"):
        file.write_text(text, encoding="utf-8")
        SettingsStore(file)
    kept = sorted(p.read_text("utf-8") for p in file.parent.glob("*.damaged*"))
    assert kept == ["first", "second"]


@pytest.mark.parametrize("version", ["0", "99", '"1"', "null"])
def test_settings_of_a_version_we_do_not_know_are_kept_aside(file: Path, version: str) -> None:
    file.parent.mkdir()
    file.write_text(f'{{"version": {version}, "theme": "dark"}}', encoding="utf-8")
    store = SettingsStore(file)
    assert store.value.theme is Theme.SYSTEM
    assert store.problem is not None


def test_a_file_that_cannot_be_moved_is_never_overwritten(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.parent.mkdir()
    file.write_text("damaged", encoding="utf-8")

    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(errno.EACCES, "locked", str(self))

    monkeypatch.setattr(Path, "rename", refuse)
    store = SettingsStore(file)
    with pytest.raises(AppError) as raised:
        store.change(theme=Theme.DARK)
    assert raised.value.problem.code == "not_writable"
    assert file.read_text("utf-8") == "damaged"
    monkeypatch.undo()
    store.change(theme=Theme.LIGHT)
    assert SettingsStore(file).value.theme is Theme.LIGHT
    assert [p.read_text("utf-8") for p in file.parent.glob("*.damaged*")] == ["damaged"]


def test_a_full_disk_keeps_the_old_file_and_the_change_in_memory(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SettingsStore(file)
    store.change(theme=Theme.LIGHT)
    before = file.read_bytes()
    monkeypatch.setattr(os, "fsync", _full_disk)
    with pytest.raises(AppError) as raised:
        store.change(theme=Theme.DARK)
    assert raised.value.problem.code == "disk_full"
    assert store.value.theme is Theme.DARK
    assert file.read_bytes() == before
    lock = file.with_name(f"{file.name}.lock")  # stays, since others may wait on it
    assert set(file.parent.iterdir()) == {file, lock}


def test_half_a_character_in_the_system_prompt_does_not_keep_the_rest_from_saving(
    file: Path,
) -> None:
    SettingsStore(file).change(system_prompt="broken \ud83d paste", theme=Theme.DARK)
    value = SettingsStore(file).value
    assert (value.system_prompt, value.theme) == ("broken ? paste", Theme.DARK)


def test_every_field_has_words_a_change_entry_and_every_old_version_a_migration() -> None:
    names = {f.name for f in fields(Settings)} - {"version"}
    assert set(SETTING_TEXTS) == names
    assert set(SettingsChange.__annotations__) == names
    hints = get_type_hints(Settings)
    assert {n: hints[n] for n in names} == get_type_hints(SettingsChange, globalns=_domain_names())
    assert set(SAMPLING_TEXTS) == set(SAMPLING_BOUNDS)
    assert set(MIGRATIONS) == set(range(1, SETTINGS_VERSION))


def _domain_names() -> dict[str, object]:
    return {c.__name__: c for c in (Theme, KvCachePrecision, SamplingParams, AddedPair)}


def _full_disk(handle: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_command_beside_the_window_and_the_window_keep_each_others_changes(file: Path) -> None:
    window, command = SettingsStore(file), SettingsStore(file)
    told: list[Settings] = []
    window.subscribe(told.append)
    command.change(device="GPU.1")
    window.change(theme=Theme.DARK)
    command.change(show_draft_tokens=True)
    for kept in (SettingsStore(file).value, told[-1], command.value):
        assert kept.device == "GPU.1"
        assert kept.theme is Theme.DARK
    assert SettingsStore(file).value.show_draft_tokens is True
    assert window.look_again().show_draft_tokens is True
    assert told[-1].show_draft_tokens is True


def test_what_a_full_disk_refused_is_not_lost_to_another_process(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, command = SettingsStore(file), SettingsStore(file)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _full_disk)
        with pytest.raises(AppError):
            window.change(theme=Theme.DARK)
    command.change(device="GPU.1")
    window.change(show_draft_tokens=True)
    kept = SettingsStore(file).value
    assert (kept.theme, kept.device, kept.show_draft_tokens) == (Theme.DARK, "GPU.1", True)


def test_what_a_newer_version_wrote_meanwhile_is_set_aside_and_never_lost(file: Path) -> None:
    window = SettingsStore(file)
    window.change(theme=Theme.DARK)
    newer = b'{"version": 99, "theme": "neon"}'
    file.write_bytes(newer)
    window.change(device="GPU.1")
    assert file.with_name("settings.json.damaged").read_bytes() == newer
    assert SettingsStore(file).value.theme is Theme.DARK


def test_two_processes_that_change_at_once_lose_nothing(file: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from dflash_desktop.services.settings_store import SettingsStore;"
        "store = SettingsStore(Path(sys.argv[1]));"
        "[store.change(**{sys.argv[2]: f'{n}'}) for n in range(40)]"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", code, str(file), field])
        for field in ("device", "system_prompt", "last_pair_id")
    ]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    kept = SettingsStore(file).value
    assert (kept.device, kept.system_prompt, kept.last_pair_id) == ("39", "39", "39")
