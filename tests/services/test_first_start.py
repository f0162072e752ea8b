"""What a start finds: files to open, a last run that ended badly, folders that refuse."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.gguf_draft import ARCHITECTURE
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.paths import app_paths
from dflash_desktop.services import install_lock
from dflash_desktop.services.home_check import home_problem
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.last_run import LastRun
from dflash_desktop.services.opened_path import offer_of, opened_of
from tests.exporting.checkpoints import write_checkpoint
from tests.fakes.gguf_files import small_gguf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

not_windows = pytest.mark.skipif(sys.platform == "win32", reason="no such files")


def model_folder(parent: Path) -> Path:
    folder = parent / "My model"
    folder.mkdir()
    (folder / "openvino_model.xml").write_text("<net/>", encoding="utf-8")
    return folder


@pytest.mark.parametrize("inside", ["", "openvino_model.xml"])
def test_a_models_folder_or_its_graph_is_offered(tmp_path: Path, inside: str) -> None:
    folder = model_folder(tmp_path)
    problem, offered = offer_of(str(folder / inside))
    assert offered == folder
    assert problem.remedies == (Remedy.ADD_MODEL,)
    assert "My model" in problem.headline


def test_a_gguf_file_is_told_by_its_content_and_offered(tmp_path: Path) -> None:
    file = tmp_path / "a model.gguf"
    file.write_bytes(b"GGUF\x03\0\0\0")
    problem, offered = offer_of(str(file))
    assert (problem.code, offered) == ("opened_gguf", file)
    assert problem.remedies == (Remedy.ADD_MODEL,)
    file.write_bytes(b"MZ")
    assert offer_of(str(file))[0].code == "opened_unknown"


@pytest.mark.parametrize("inside", ["", "config.json", "model.safetensors"])
def test_a_checkpoint_or_a_file_of_it_is_offered_for_export(tmp_path: Path, inside: str) -> None:
    folder = write_checkpoint(tmp_path / "Qwen3 tiny", "text")
    problem, offered = offer_of(str(folder / inside))
    assert (problem.code, offered) == ("opened_checkpoint", folder)
    assert problem.remedies == (Remedy.EXPORT,)
    (folder / "openvino_model.xml").write_text("<net/>", encoding="utf-8")
    assert offer_of(str(folder / inside))[0].code == "opened_model_folder"


def test_settings_without_weights_are_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert offer_of(str(tmp_path))[0].code == "opened_unknown"
    assert offer_of(str(tmp_path / "config.json"))[0].code == "opened_unknown"


def test_a_draft_as_gguf_is_told_from_a_model_by_its_head(tmp_path: Path) -> None:
    file = small_gguf(ARCHITECTURE).write(tmp_path / "draft.gguf")
    problem, offered = offer_of(str(file))
    assert (problem.code, offered) == ("opened_draft", file)
    assert problem.remedies == (Remedy.EXPORT,)


def test_several_things_at_once_are_all_offered_each_in_its_way(tmp_path: Path) -> None:
    pictures = tuple(tmp_path / name for name in ("a.jpg", "b.jpg"))
    for file in pictures:
        file.write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 20)
    folder, nothing = model_folder(tmp_path), tmp_path / "gone"
    opened = opened_of([str(path) for path in (*pictures, folder, nothing)])
    assert opened.ways == {Remedy.ATTACH_PICTURE: pictures, Remedy.ADD_MODEL: (folder,)}
    assert opened.problem.headline == "2 pictures and 1 model can be opened here."
    assert "1 other is nothing" in opened.problem.advice
    assert opened.problem.remedies == (Remedy.ATTACH_PICTURE, Remedy.ADD_MODEL)
    left = opened.without(Remedy.ATTACH_PICTURE)
    assert left is not None
    assert left.ways == {Remedy.ADD_MODEL: (folder,)}
    assert left.without(Remedy.ADD_MODEL) is None
    assert opened_of([str(nothing), str(nothing)]).problem.remedies == ()


def test_a_picture_is_told_by_its_content_and_offered_for_the_chat(tmp_path: Path) -> None:
    file = tmp_path / "a photo without ending"
    file.write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 20)
    problem, offered = offer_of(str(file))
    assert (problem.code, offered) == ("opened_picture", file)
    assert problem.remedies == (Remedy.ATTACH_PICTURE,)
    file.write_bytes(b"<svg/>")
    assert offer_of(str(file))[0].code == "opened_unknown"


@pytest.mark.parametrize(
    "text",
    ["", "model.gguf", "../model.gguf", "a\0b", "/" + "a" * 5000, "\\\\.\\PhysicalDrive0"],
)
def test_what_is_no_path_of_a_person_is_nothing(text: str) -> None:
    assert offer_of(text)[0].code == "opened_unknown"


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    assert offer_of(str(tmp_path / "gone"))[0].code == "opened_unreadable"


@not_windows
def test_a_pipe_is_not_opened_since_that_would_wait_for_ever(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    assert offer_of(str(tmp_path / "pipe.gguf"))[0].code == "opened_unknown"
    assert stat.S_ISCHR(os.stat("/dev/zero").st_mode)  # noqa: PTH116
    assert offer_of("/dev/zero")[0].code == "opened_unknown"


def test_only_a_run_that_ended_well_is_not_told_about(tmp_path: Path) -> None:
    faults = tmp_path / "faults.log"

    def run() -> LastRun:
        return LastRun(mark_file=tmp_path / "data" / "running", faults_file=faults)

    first = run()
    assert first.begin() is None
    first.end()
    assert run().begin() is None  # and ends without a word
    faults.write_text("Fatal Python error: Segmentation fault\n", encoding="utf-8")
    problem = run().begin()
    assert problem is not None
    assert "Segmentation fault" in problem.detail
    assert Remedy.REPORT in problem.remedies


def test_the_faults_of_an_earlier_run_are_not_told_as_the_last_ones(tmp_path: Path) -> None:
    faults = tmp_path / "faults.log"
    faults.write_text("Fatal Python error: long ago\n", encoding="utf-8")
    os.utime(faults, (0, 0))
    run = LastRun(mark_file=tmp_path / "running", faults_file=faults)
    run.begin()
    problem = run.begin()
    assert problem is not None
    assert "long ago" not in problem.detail


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b'{"version": 1}'])
def test_a_mark_that_was_cut_off_is_a_mark(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "running").write_bytes(content)
    run = LastRun(mark_file=tmp_path / "running", faults_file=tmp_path / "none")
    assert run.begin() is not None


def test_a_run_that_can_leave_no_mark_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run = LastRun(mark_file=tmp_path / "file" / "running", faults_file=tmp_path / "none")
    assert run.begin() is None
    run.end()


def test_a_good_place_is_not_mentioned() -> None:
    assert home_problem(app_paths()) is None


def test_a_disk_with_little_space_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(".")._replace(free=3_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    problem = home_problem(app_paths())
    assert problem is not None
    assert problem.code == "disk_nearly_full"
    assert "3.00 MB" in problem.headline


def test_a_full_disk_is_told_by_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(**options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    problem = home_problem(app_paths())
    assert problem is not None
    assert problem.code == "home_not_writable"
    assert os.strerror(errno.ENOSPC) in problem.detail


def test_a_home_of_dots_stays_where_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DFLASH_HOME", ".")
    paths = app_paths()
    monkeypatch.chdir("/")
    assert paths.data_dir == tmp_path / "data"


def test_a_file_system_without_locks_is_no_lock_that_somebody_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refusing(code: int) -> Callable[[int], None]:
        def refuse(handle: int) -> None:
            raise OSError(code, os.strerror(code))

        return refuse

    monkeypatch.setattr(install_lock, "_try_lock", refusing(errno.EAGAIN))
    assert InstallLock(tmp_path / "lock").acquire() is False
    monkeypatch.setattr(install_lock, "_try_lock", refusing(errno.ENOLCK))
    with pytest.raises(OSError, match="lock"):
        InstallLock(tmp_path / "lock").acquire()
