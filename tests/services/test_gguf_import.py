"""Importing a GGUF file on bad days: what is refused, and that nothing half-made ever stays."""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import aclosing
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.gguf_import import ImportWeights
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import gguf_import
from dflash_desktop.services.gguf_file import look_at_gguf
from dflash_desktop.services.gguf_import import GgufImport
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.model_library import ModelLibrary
from tests.fakes.engine import fake_workers, until
from tests.fakes.fake_worker import Mishap, Script, Trouble, When
from tests.fakes.gguf_files import STRING, UINT16, UINT32, small_gguf
from tests.fakes.launcher import fake_launcher
from tests.fakes.library_world import app_paths, many_models

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.paths import AppPaths


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths(tmp_path / "home")


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    return small_gguf().write(tmp_path / "tiny.gguf")


def importing(paths: AppPaths, *mishaps: Mishap) -> GgufImport:
    launcher = fake_launcher(Script(mishaps=mishaps), log_dir=paths.log_dir)
    return GgufImport(paths=paths, launcher=launcher, library=ModelLibrary(paths=paths))


async def refusal(importer: GgufImport, file: Path, *, name: str = "tiny") -> Problem:
    """How the import ends, which must leave nothing behind."""
    with pytest.raises(AppError) as caught:
        await run_to_the_end(importer, file, name=name)
    return caught.value.problem


async def run_to_the_end(importer: GgufImport, file: Path, *, name: str) -> None:
    async with aclosing(importer.run(file, name=name, weights=ImportWeights.KEEP)) as steps:
        async for _ in steps:
            pass


def is_clean(paths: AppPaths) -> bool:
    left = list(paths.incoming_dir.iterdir()) if paths.incoming_dir.is_dir() else []
    return not left and not ModelLibrary(paths=paths).models() and not fake_workers()


@pytest.mark.parametrize(
    ("trouble", "code", "word"),
    [
        (Trouble.KILLED, "conversion_crashed", "memory ran out"),
        (Trouble.ABORT, "conversion_crashed", "inside the runtime"),
        (Trouble.VANISH, "conversion_crashed", "broke off"),
        (Trouble.RUN_OUT_OF_MEMORY, "conversion_crashed", "not enough memory"),
        (Trouble.RAISE, "worker_error", "unexpected"),
    ],
)
async def test_a_conversion_that_breaks_off_is_told_and_leaves_nothing(
    paths: AppPaths, gguf: Path, trouble: Trouble, code: str, word: str
) -> None:
    problem = await refusal(importing(paths, Mishap(trouble, When.CONVERT)), gguf)
    assert problem.code == code
    assert word in problem.headline
    assert "Nothing half-made was left." in problem.advice
    if code == "conversion_crashed":
        assert "MB of memory" in problem.advice
    assert is_clean(paths)
    assert await asyncio.to_thread(gguf.is_file)


async def test_a_checked_file_is_not_called_unsupported_when_memory_ends(
    paths: AppPaths, gguf: Path
) -> None:
    """What GenAI says when the system maps no more memory for the file."""
    raw = "RuntimeError: Failed to open 'x.gguf' with gguf_open"
    mishap = Mishap(Trouble.FAIL, When.CONVERT, code="gguf_unsupported", raw=raw)
    problem = await refusal(importing(paths, mishap), gguf)
    assert problem.code == "conversion_crashed"
    assert "MB of memory" in problem.advice
    assert raw in problem.detail


async def test_a_conversion_without_use_leaves_nothing(paths: AppPaths, gguf: Path) -> None:
    problem = await refusal(importing(paths), gguf)  # the fake engine writes an empty graph
    assert problem.code == "conversion_unusable"
    assert is_clean(paths)


def has_begun(paths: AppPaths) -> bool:
    return any(paths.incoming_dir.glob("gguf-*/model"))


async def test_stopping_ends_the_conversion_and_leaves_nothing(
    paths: AppPaths, gguf: Path
) -> None:
    importer = importing(paths, Mishap(Trouble.IGNORE_CANCEL, When.CONVERT))
    task = asyncio.create_task(run_to_the_end(importer, gguf, name="tiny"))
    await until(lambda: has_begun(paths))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_clean(paths)


async def test_the_library_is_asked_about_the_name_first(paths: AppPaths, gguf: Path) -> None:
    await asyncio.to_thread(many_models, paths, 1)
    assert (await refusal(importing(paths), gguf, name="OWNER/model-0")).code == "name_refused"
    for name in ("con", "a:b", "../x", "\x07"):
        assert (await refusal(importing(paths), gguf, name=name)).code == "name_refused"


async def test_a_model_of_the_same_name_is_never_replaced(paths: AppPaths, gguf: Path) -> None:
    many_models(paths, 1)
    taken = ModelLibrary(paths=paths).models()[0]
    importer = importing(paths)
    importer._library.find = lambda model_id: taken if model_id == "tiny" else None  # type: ignore[method-assign]
    assert (await refusal(importer, gguf)).code == "name_taken"


async def test_two_imports_at_once_are_refused(paths: AppPaths, gguf: Path) -> None:
    lock = InstallLock(paths.import_lock_file)
    assert lock.acquire()
    assert (await refusal(importing(paths), gguf)).code == "import_running"
    lock.release()
    assert (await refusal(importing(paths), gguf)).code == "conversion_unusable"


async def test_too_little_disk_or_memory_is_said_with_numbers(
    paths: AppPaths, gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000))
    problem = await refusal(importing(paths), gguf)
    assert problem.code == "disk_full"
    assert "64.1 MB" in problem.headline
    assert "1.00 MB are free" in problem.headline
    monkeypatch.undo()
    monkeypatch.setattr(gguf_import, "_free_memory_bytes", lambda: 5_000_000)
    problem = await refusal(importing(paths), gguf)
    assert problem.code == "memory_short"
    assert "400 MB of memory" in problem.headline
    assert is_clean(paths)


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("page.gguf", b"<!DOCTYPE html>", "gguf_not_gguf"),
        ("empty.gguf", b"", "gguf_not_gguf"),
        ("cut.gguf", small_gguf().data()[:-100], "gguf_cut"),
        ("other.gguf", small_gguf("bloom").data(), "gguf_architecture"),
    ],
)
async def test_a_bad_file_is_refused_before_any_engine_starts(
    paths: AppPaths, tmp_path: Path, name: str, data: bytes, code: str
) -> None:
    (tmp_path / name).write_bytes(data)
    importer = importing(paths)
    problem = await refusal(importer, tmp_path / name)
    assert problem.code == code
    assert name in problem.headline
    assert problem.advice.startswith("The reason: ")
    assert importer._launcher.starts == 0  # type: ignore[attr-defined]
    assert is_clean(paths)


async def test_what_is_not_there_is_said(paths: AppPaths, tmp_path: Path) -> None:
    assert (await refusal(importing(paths), tmp_path / "no.gguf")).code == "gguf_unreadable"
    assert (await refusal(importing(paths), tmp_path)).code == "gguf_unreadable"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
async def test_a_pipe_that_never_ends_is_not_waited_for(paths: AppPaths, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    problem = await asyncio.wait_for(refusal(importing(paths), tmp_path / "pipe.gguf"), 10)
    assert problem.code == "gguf_not_gguf"


def split(folder: Path, *, count: int = 2) -> list[Path]:
    """A model in parts, as llama.cpp splits it."""
    whole = small_gguf()
    names = list(whole.tensors)
    written = []
    for part in range(count):
        file = small_gguf()
        if part:
            file.metadata = {}
        file.metadata["split.no"] = (UINT16, part)
        file.metadata["split.count"] = (UINT16, count)
        file.tensors = {name: whole.tensors[name] for name in names[part::count]}
        written.append(file.write(folder / f"tiny-{part + 1:05}-of-{count:05}.gguf"))
    return written


def test_the_parts_of_a_split_file_are_read_as_one(tmp_path: Path) -> None:
    parts = split(tmp_path)
    found = look_at_gguf(parts[0])
    assert found.parts == tuple(parts)
    assert found.size_bytes == sum(part.stat().st_size for part in parts)


def test_a_split_file_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    first, second = split(tmp_path)
    with pytest.raises(AppError, match="part of a model") as caught:
        look_at_gguf(second)
    assert first.name in caught.value.problem.advice
    second.write_bytes(second.read_bytes()[:-40])
    with pytest.raises(AppError, match=second.name):
        look_at_gguf(first)
    second.unlink()
    with pytest.raises(AppError) as caught:
        look_at_gguf(first)
    assert caught.value.problem.code == "gguf_split"
    renamed = first.rename(tmp_path / "tiny.gguf")
    with pytest.raises(AppError) as caught:
        look_at_gguf(renamed)
    assert caught.value.problem.code == "gguf_split"


def test_names_from_the_file_are_made_plain(tmp_path: Path) -> None:
    file = small_gguf()
    file.metadata["general.name"] = (STRING, "  Tiny\n Model ")
    file.metadata["general.file_type"] = (UINT32, 7)
    assert look_at_gguf(file.write(tmp_path / "x.gguf")).model.name == "Tiny Model"
