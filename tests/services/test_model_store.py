from __future__ import annotations

import errno
import os
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from dflash_desktop.domain.library import ModelCondition, ModelFile
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.model_store import install_folder, own_models, superseded_models
from tests.fakes.library_world import FILES, NOW, arrive


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    return tmp_path / "incoming" / "owner--name"


def test_an_installed_model_is_there_with_all_that_is_known_of_it(
    incoming: Path, models_dir: Path
) -> None:
    arrived = arrive(incoming)
    model = install_folder(incoming, arrived.manifest(), models_dir=models_dir)

    assert own_models(models_dir) == (model,)
    assert (model.id, model.title, model.is_ours) == ("owner/name", "name", True)
    assert model.condition is ModelCondition.VERIFIED
    assert model.manifest == arrived.manifest()
    assert {path: (model.path / path).read_bytes() for path in FILES} == FILES
    assert not incoming.exists()


def test_a_folder_without_a_valid_manifest_does_not_exist(
    incoming: Path, models_dir: Path
) -> None:
    model = install_folder(incoming, arrive(incoming).manifest(), models_dir=models_dir)
    manifest = model.path / ".dflash" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    arrive(models_dir / "by hand")
    (models_dir / "a file").write_text("x")
    assert own_models(models_dir) == ()
    assert own_models(models_dir / "nowhere") == ()


def test_what_a_transfer_left_beside_the_files_is_dropped(
    incoming: Path, models_dir: Path, tmp_path: Path
) -> None:
    manifest = arrive(incoming).manifest()
    arrive(incoming, {".cache/huggingface/download/x.lock": b"", "half.incomplete": b"12"})
    elsewhere = tmp_path / "elsewhere"
    arrive(elsewhere, {"mine.txt": b"mine"})
    (incoming / "link").symlink_to(elsewhere, target_is_directory=True)

    model = install_folder(incoming, manifest, models_dir=models_dir)
    found = {p.relative_to(model.path).as_posix() for p in model.path.rglob("*") if p.is_file()}
    assert found == {*FILES, ".dflash/manifest.json"}
    assert not (model.path / ".cache").exists()
    assert (elsewhere / "mine.txt").read_bytes() == b"mine"


@pytest.mark.parametrize("fault", ["gone", "short", "link"])
def test_a_folder_that_is_not_whole_is_not_taken_in(
    incoming: Path, models_dir: Path, tmp_path: Path, fault: str
) -> None:
    manifest = arrive(incoming).manifest()
    file = incoming / "openvino_model.bin"
    if fault == "short":
        file.write_bytes(b"1")
    else:
        file.rename(tmp_path / "moved")
    if fault == "link":
        file.symlink_to(tmp_path / "moved")

    with pytest.raises(AppError) as raised:
        install_folder(incoming, manifest, models_dir=models_dir)
    assert raised.value.problem.code == "model_incomplete"
    assert "openvino_model.bin" in raised.value.problem.detail
    assert own_models(models_dir) == ()
    assert (incoming / "config.json").exists()


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "nul", ".dflash/manifest.json"])
def test_a_manifest_with_unsafe_names_is_refused_before_anything_is_touched(
    incoming: Path, models_dir: Path, path: str
) -> None:
    manifest = arrive(incoming).manifest()
    arrive(incoming, {"other": b""})
    hostile = replace(manifest, files=(*manifest.files, ModelFile(path, 1, "0" * 64)))
    with pytest.raises(AppError) as raised:
        install_folder(incoming, hostile, models_dir=models_dir)
    assert raised.value.problem.code == "model_refused"
    assert (incoming / "other").exists()


def test_the_same_model_again_counts_once_it_is_whole_and_keeps_its_last_use(
    incoming: Path, models_dir: Path
) -> None:
    old = install_folder(incoming, arrive(incoming).manifest(), models_dir=models_dir)
    again = arrive(incoming, {**FILES, "config.json": b'{"new": 1}'})
    earlier = NOW - timedelta(days=1)  # the clock was set back
    manifest = again.manifest(commit="b" * 40, repo_id="Owner/Name", installed_at=earlier)
    new = install_folder(incoming, manifest, models_dir=models_dir)

    assert own_models(models_dir) == (new,)
    assert [model.path for model in superseded_models(models_dir)] == [old.path]
    assert new.manifest.installed_at > old.manifest.installed_at
    assert (old.path / "config.json").read_bytes() == b"{}"


def test_a_failure_at_any_write_keeps_the_old_model_and_what_arrived(
    incoming: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call that changes the disk fails once, in turn."""
    old = install_folder(incoming, arrive(incoming).manifest(), models_dir=models_dir)
    manifest = arrive(incoming).manifest(commit="b" * 40)
    calls, fail_at = 0, 0

    def failing(original: object) -> object:
        def call(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == fail_at:
                raise OSError(errno.ENOSPC, "No space left on device")
            return original(*arguments, **options)  # type: ignore[operator]

        return call

    monkeypatch.setattr(os, "fsync", failing(os.fsync))
    for name in ("rename", "replace", "mkdir"):
        monkeypatch.setattr(Path, name, failing(getattr(Path, name)))
    codes = []
    while own_models(models_dir) == (old,):
        calls, fail_at = 0, fail_at + 1
        try:
            install_folder(incoming, manifest, models_dir=models_dir)
        except AppError as error:
            codes.append(error.problem.code)
    assert set(codes) == {"disk_full"}
    assert len(codes) >= len(FILES) + 3
    assert own_models(models_dir)[0].manifest.commit == "b" * 40
    assert not incoming.exists()


def test_a_glance_finds_files_that_are_gone_or_cut(incoming: Path, models_dir: Path) -> None:
    model = install_folder(incoming, arrive(incoming).manifest(), models_dir=models_dir)
    (model.path / "deep/er/notes é.txt").write_bytes(b"tex")
    assert own_models(models_dir)[0].condition is ModelCondition.DAMAGED
    shutil.rmtree(model.path / "deep")
    assert own_models(models_dir)[0].condition is ModelCondition.DAMAGED


def test_a_link_in_the_models_folder_is_no_model(
    incoming: Path, models_dir: Path, tmp_path: Path
) -> None:
    model = install_folder(incoming, arrive(incoming).manifest(), models_dir=models_dir)
    model.path.rename(tmp_path / "elsewhere")
    model.path.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert own_models(models_dir) == ()


def test_folder_names_are_short_and_plain_whatever_the_model_is_called(
    incoming: Path, models_dir: Path
) -> None:
    for number, name in enumerate(["o/" + "x" * 200, "o/模型", "o/a b..", "o/CON", "p/CON"]):
        manifest = arrive(incoming).manifest(repo_id=name)
        model = install_folder(incoming, manifest, models_dir=models_dir)
        assert len(model.path.name) <= 31
        assert model.path.name.isascii()
        assert model.id == name
        assert len(own_models(models_dir)) == number + 1
