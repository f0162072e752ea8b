"""Pictures through the real process: prepared, kept, found again, and let go."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.conversation import Conversation, Message, with_message
from dflash_desktop.domain.generation import Role
from dflash_desktop.domain.pictures import Picture, PictureLimits
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.conversation_store import TRASH, ConversationStore
from dflash_desktop.services.picture_process import PictureJobError, PictureProcess
from dflash_desktop.services.pictures import Pictures
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.picture_messages import PicturePrepared, PreparePicture
from tests.fakes.picture_bytes import png_chunk, png_header
from tests.fakes.picture_corpus import bad_files, good_files, saved, scene

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def pictures_in(folder: Path) -> AsyncIterator[Pictures]:
    pictures = Pictures(launcher=WorkerLauncher(log_dir=folder / "log"), folder=folder / "kept")
    try:
        yield pictures
    finally:
        await pictures.close()


async def problem_of(pictures: Pictures, source: Path | bytes) -> Problem:
    with pytest.raises(AppError) as caught:
        await pictures.prepare(source)
    return caught.value.problem


async def test_one_process_reads_the_whole_corpus_and_survives_it(tmp_path: Path) -> None:
    async with pictures_in(tmp_path) as pictures:
        await pictures.warm_up()
        process = only_child()
        for good in good_files():
            path = tmp_path / good.name
            path.write_bytes(good.data)
            picture = await pictures.prepare(path)
            assert picture.title == good.name
            assert pictures.is_there(picture)
            assert pictures.thumbnail(picture).is_file()
        for bad in bad_files():
            path = tmp_path / bad.name
            path.write_bytes(bad.data)
            assert (await problem_of(pictures, path)).code in bad.codes
        assert only_child() == process
    assert not psutil.Process().children(recursive=True)


def only_child() -> psutil.Process:
    (child,) = psutil.Process().children(recursive=True)
    return child


async def test_bytes_are_prepared_like_a_file_and_leave_no_copy(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(scene(), "PNG"))
    async with pictures_in(tmp_path) as pictures:
        pasted = await pictures.prepare(path.read_bytes())
        from_file = await pictures.prepare(path)
    assert pasted.title == "Pasted picture"
    assert replace(pasted, title="a.png") == from_file
    assert not list((tmp_path / "kept" / "incoming").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
async def test_a_name_that_is_no_text_and_one_with_control_characters_are_read(
    tmp_path: Path,
) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9\n\x1b[31m.png")
    odd.write_bytes(saved(scene(), "PNG"))
    async with pictures_in(tmp_path) as pictures:
        picture = await pictures.prepare(odd)
    assert picture.title.isprintable()
    assert picture.title.startswith("caf")


async def test_a_file_that_takes_too_long_costs_only_its_own_process(tmp_path: Path) -> None:
    (slow,) = (file for file in good_files() if file.name == "9500x9500.png")
    (tmp_path / "slow.png").write_bytes(slow.data)
    process = PictureProcess(launcher=WorkerLauncher(log_dir=tmp_path / "log"), cpu_seconds=0.01)
    with pytest.raises(PictureJobError) as caught:
        await process.run(job(tmp_path, "slow.png"))
    assert caught.value.code == "picture_too_slow"
    assert not process.is_running
    patient = PictureProcess(launcher=WorkerLauncher(log_dir=tmp_path / "log"))
    assert isinstance(await patient.run(job(tmp_path, "slow.png")), PicturePrepared)
    await patient.close()


def job(folder: Path, name: str, limits: PictureLimits | None = None) -> PreparePicture:
    return PreparePicture(
        1, folder / name, name, folder / "out", folder / "small", limits or PictureLimits()
    )


async def test_a_file_that_takes_all_memory_is_refused_and_the_next_one_read(
    tmp_path: Path,
) -> None:
    """The limit by the header is lifted here: it is the process's own that must hold."""
    header = png_header(30_000, 30_000, 8, 2) + png_chunk(b"IDAT", b"")
    (tmp_path / "greedy.png").write_bytes(header)
    (tmp_path / "good.png").write_bytes(saved(scene(), "PNG"))
    process = PictureProcess(launcher=WorkerLauncher(log_dir=tmp_path / "log"))
    lifted = PictureLimits(max_decoded_pixels=10**10)
    with pytest.raises(PictureJobError) as caught:
        await process.run(job(tmp_path, "greedy.png", lifted))
    assert caught.value.code == "picture_too_much_memory"
    assert not process.is_running  # what is left of its memory may be in pieces
    assert isinstance(await process.run(job(tmp_path, "good.png")), PicturePrepared)
    await process.close()


async def test_a_process_that_dies_is_told_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(scene(), "PNG"))
    async with pictures_in(tmp_path) as pictures:
        await pictures.warm_up()
        only_child().suspend()
        waiting = asyncio.ensure_future(problem_of(pictures, path))
        await asyncio.sleep(0.1)
        only_child().kill()
        problem = await waiting
        assert problem.code == "picture_reader_ended"
        assert "the chat is not affected" in problem.advice
        assert (await pictures.prepare(path)).width == 80


async def test_a_cancelled_picture_leaves_no_process(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(scene(), "PNG"))
    async with pictures_in(tmp_path) as pictures:
        await pictures.warm_up()
        only_child().suspend()
        waiting = asyncio.ensure_future(pictures.prepare(path))
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not psutil.Process().children()


async def test_a_process_without_work_ends_by_itself(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(saved(scene(), "PNG"))
    process = PictureProcess(launcher=WorkerLauncher(log_dir=tmp_path / "log"), idle_seconds=0.01)
    await process.run(job(tmp_path, "a.png"))
    deadline = time.monotonic() + 10
    while psutil.Process().children():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert isinstance(await process.run(job(tmp_path, "a.png")), PicturePrepared)
    await process.close()


async def test_work_that_comes_while_an_idle_process_ends_finds_another_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.png").write_bytes(saved(scene(), "PNG"))
    process = PictureProcess(launcher=WorkerLauncher(log_dir=tmp_path / "log"))
    await process.run(job(tmp_path, "a.png"))
    for _ in range(3):
        process._let_go()
        assert isinstance(await process.run(job(tmp_path, "a.png")), PicturePrepared)
    await process.close()


async def test_a_gallerys_thumbnails_keep_no_picture_waiting(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(scene().resize((800, 480)), "PNG"))
    async with pictures_in(tmp_path) as pictures:
        await pictures.make_thumbnail(path, tmp_path / "small" / "a.png", max_side=64)
        assert (tmp_path / "small" / "a.png").is_file()
        child = only_child()
        child.suspend()
        waiting = asyncio.ensure_future(
            pictures.make_thumbnail(path, tmp_path / "small" / "b.png")
        )
        await pictures.prepare(path)
        child.resume()
        await waiting


def test_a_conversations_file_cannot_point_elsewhere(tmp_path: Path) -> None:
    pictures = Pictures(launcher=WorkerLauncher(log_dir=tmp_path), folder=tmp_path / "kept")
    (tmp_path / "secret.png").write_bytes(b"")
    crafted = replace(picture_of("a"), id="../secret")
    assert pictures.path(crafted).parent == tmp_path / "kept"
    assert not pictures.is_there(crafted)


def picture_of(digit: str) -> Picture:
    return Picture(digit * 64, f"{digit}.png", 80, 48, 80, 48)


def test_only_pictures_that_no_conversation_mentions_are_removed(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "conversations")
    pictures = Pictures(launcher=WorkerLauncher(log_dir=tmp_path), folder=tmp_path / "kept")
    used, deleted, damaged, young, orphan = (picture_of(digit) for digit in "abcde")
    for picture in (used, deleted, damaged, young, orphan):
        for path in (pictures.path(picture), pictures.thumbnail(picture)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x")
            if picture is not young:
                os.utime(path, (1, 1))
    for name, picture in (("one", used), ("two", deleted)):
        empty = Conversation(name, datetime(2026, 1, 2, tzinfo=UTC))
        store.save(with_message(empty, Message(Role.USER, "What is it?", pictures=(picture,))))
    store.delete("two")
    broken = tmp_path / "conversations" / "three.json"
    broken.write_text(f'{{"version": 9, "pictures": ["{damaged.id}"', encoding="utf-8")
    folder = tmp_path / "conversations"
    removed = pictures.remove_orphans(mentioned_in=(folder, folder / TRASH))
    assert removed == 2  # the orphan and its thumbnail
    assert [pictures.is_there(one) for one in (used, deleted, damaged, young, orphan)] == [
        True,
        True,
        True,
        True,
        False,
    ]


@pytest.mark.expects_log("pictures are kept")
def test_a_conversation_that_cannot_be_read_keeps_all_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = Pictures(launcher=WorkerLauncher(log_dir=tmp_path), folder=tmp_path / "kept")
    orphan = picture_of("e")
    pictures.path(orphan).parent.mkdir()
    pictures.path(orphan).write_bytes(b"x")
    (tmp_path / "conversations").mkdir()
    (tmp_path / "conversations" / "a.json").write_bytes(b"{}")

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    mentioned_in = (tmp_path / "conversations",)
    assert pictures.remove_orphans(mentioned_in=mentioned_in, kept_seconds=-1) == 0
    assert pictures.is_there(orphan)
