"""Links, junctions and other disks are seen, told and never followed; Windows' by their facts."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from dflash_desktop.services.file_tree import is_link, tree_entries
from tests.fakes.library_world import arrive


def facts_of(path: Path, monkeypatch: pytest.MonkeyPatch, **changes: int) -> None:
    """Let one path have other facts."""
    original = os.lstat

    def lstat(asked: str | Path) -> object:
        real = original(asked)
        if Path(asked) != path:
            return real
        names = ("st_mode", "st_size", "st_dev", "st_ino", "st_nlink")
        return SimpleNamespace(**{name: getattr(real, name) for name in names} | changes)

    monkeypatch.setattr(os, "lstat", lstat)


def test_a_junction_is_a_link_though_its_mode_says_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrive(tmp_path, {"junction/precious.txt": b"1", "plain/a.txt": b"1"})
    facts_of(
        tmp_path / "junction",
        monkeypatch,
        st_mode=stat.S_IFDIR | 0o755,
        st_file_attributes=0x400 | 0x10,
    )
    assert is_link(tmp_path / "junction")
    entries = {entry.path: entry for entry in tree_entries(tmp_path)}
    assert set(entries) == {"junction", "plain", "plain/a.txt"}
    assert not entries["junction"].is_plain
    assert not entries["junction"].is_folder


def test_another_disk_that_is_mounted_inside_is_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrive(tmp_path, {"mounted/precious.txt": b"1"})
    facts_of(tmp_path / "mounted", monkeypatch, st_dev=123456)
    (entry,) = tree_entries(tmp_path)
    assert (entry.path, entry.is_folder, entry.is_plain) == ("mounted", False, False)


def test_more_than_any_model_holds_ends_in_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dflash_desktop.services.file_tree._ENTRY_LIMIT", 10)
    arrive(tmp_path, {f"{number}": b"" for number in range(11)})
    with pytest.raises(OSError, match="too much"):
        list(tree_entries(tmp_path))


def test_a_deep_tree_ends_in_an_error(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(70):
        folder /= "d"
        folder.mkdir()
    with pytest.raises(OSError, match="too much"):
        list(tree_entries(tmp_path))
