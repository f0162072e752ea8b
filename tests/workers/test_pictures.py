"""Every kind, mode, orientation and damage: the right pixels or the right sentence."""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.pictures import PictureLimits
from dflash_desktop.services.picture_problems import picture_problem
from dflash_desktop.workers.picture_file import PictureFaultError
from dflash_desktop.workers.picture_messages import MakeThumbnail, PreparePicture
from dflash_desktop.workers.pictures import make_thumbnail, prepare
from tests.fakes.picture_bytes import HEIC, P3_TO_XYZ, matrix_profile
from tests.fakes.picture_corpus import (
    SCENE,
    GoodFile,
    bad_files,
    exif_of,
    good_files,
    saved,
    scene,
)

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

    from dflash_desktop.domain.pictures import Picture


def prepared(path: Path, folder: Path, limits: PictureLimits | None = None) -> Picture:
    command = PreparePicture(
        1, path, path.name, folder / "out", folder / "small", limits or PictureLimits()
    )
    return prepare(command).picture


def opened(path: Path) -> PillowImage:
    from PIL import Image

    with Image.open(path) as image:
        image.load()
        return image


def fault(path: Path, folder: Path) -> PictureFaultError:
    with pytest.raises(PictureFaultError) as caught:
        prepared(path, folder)
    return caught.value


def complaints(file: GoodFile, made: Picture, image: PillowImage) -> list[str]:
    """What is wrong with what was made of a file."""
    found = []
    size = file.prepared_size or file.size
    if image.mode != "RGB" or image.size != size or (made.width, made.height) != size:
        found.append(f"{image.mode} {image.size}, not RGB {size}")
    if (made.original_width, made.original_height) != file.size:
        found.append(f"original {made.original_width} × {made.original_height}")
    for at, wanted in file.pixels.items():
        got = image.getpixel(at)
        assert isinstance(got, tuple)
        if max(abs(a - b) for a, b in zip(got, wanted, strict=True)) > file.tolerance:
            found.append(f"{at}: {got}, not {wanted}")
    said = " ".join(made.notes)
    found += [f"not said: {words}" for words in file.notes if words not in said]
    if not file.notes and said:
        found.append(f"said: {said}")
    return [f"{file.name}: {one}" for one in found]


def test_every_file_that_can_be_read_gives_the_right_pixels(tmp_path: Path) -> None:
    wrong = []
    names = set()
    for file in good_files():
        names.add(file.name)
        path = tmp_path / file.name
        path.write_bytes(file.data)
        made = prepared(path, tmp_path)
        output = tmp_path / "out" / f"{made.id}.png"
        wrong += complaints(file, made, opened(output))
        assert hashlib.sha256(output.read_bytes()).hexdigest() == made.id
        small = opened(tmp_path / "small" / f"{made.id}.png")
        assert max(small.size) <= 256
    assert not wrong, "\n".join(wrong)
    assert len(names) >= 80


def test_every_other_file_gives_a_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    wrong = []
    names = set()
    for file in bad_files():
        names.add(file.name)
        path = tmp_path / file.name
        path.write_bytes(file.data)
        error = fault(path, tmp_path)
        if error.code not in file.codes:
            wrong.append(f"{file.name}: {error.code} {error}")
        problem = picture_problem(
            error.code, title=file.name, raw=str(error), facts=error.facts, words=error.words
        )
        text = f"{problem.headline} {problem.advice}"
        assert problem.code == error.code
        assert file.name in problem.headline
        assert problem.advice
        wrong += [f"{file.name}: {text}" for words in file.words if words not in text]
    assert not wrong, "\n".join(wrong)
    assert len(names) >= 45
    assert not list((tmp_path / "out").glob("*"))


def test_nothing_but_the_pixels_leaves(tmp_path: Path) -> None:
    from PIL import PngImagePlugin

    exif = exif_of(6)
    exif[0x010F] = "Secret Camera"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 0.0)
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Comment", "Secret Words")
    texts.add_itxt("XML:com.adobe.xmp", "Secret Place")
    for name, data in {
        "a.jpg": saved(scene(), "JPEG", exif=exif, comment=b"Secret", xmp=b"<x>Secret</x>"),
        "b.png": saved(scene(), "PNG", exif=exif, pnginfo=texts),
        "c.jpg": saved(scene(), "JPEG", icc_profile=matrix_profile("Secret", P3_TO_XYZ, 2.2)),
    }.items():
        assert b"Secret" in data
        path = tmp_path / name
        path.write_bytes(data)
        made = prepared(path, tmp_path)
        for folder in ("out", "small"):
            written = (tmp_path / folder / f"{made.id}.png").read_bytes()
            assert b"Secret" not in written
            assert set(chunk_names(written)) == {b"IHDR", b"IDAT", b"IEND"}


def chunk_names(png: bytes) -> list[bytes]:
    names, at = [], 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        names.append(png[at + 4 : at + 8])
        at += 12 + length
    return names


def test_the_models_own_limits_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(saved(scene().resize((800, 480)), "PNG"))
    made = prepared(path, tmp_path, PictureLimits(max_side=400))
    assert (made.width, made.height) == (400, 240)
    made = prepared(path, tmp_path, PictureLimits(max_pixels=96_000))
    assert (made.width, made.height) == (400, 240)
    assert (made.original_width, made.original_height) == (800, 480)


def test_a_thumbnail_shows_the_same_and_is_small(tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    path.write_bytes(saved(scene().resize((1600, 960)), "JPEG", quality=95))
    answer = make_thumbnail(MakeThumbnail(1, path, tmp_path / "deep" / "small.png", 80))
    assert (answer.width, answer.height) == (80, 48)
    small = opened(tmp_path / "deep" / "small.png")
    for at, wanted in SCENE.items():
        got = small.getpixel(at)
        assert isinstance(got, tuple)
        assert max(abs(a - b) for a, b in zip(got, wanted, strict=True)) <= 12


def test_what_is_no_file_is_never_read(tmp_path: Path) -> None:
    assert fault(tmp_path, tmp_path).code == "picture_folder"
    assert fault(tmp_path / "gone.png", tmp_path).code == "picture_missing"
    assert fault(tmp_path / "a\0b.png", tmp_path).code == "picture_unreadable"
    file = tmp_path / "file"
    file.write_bytes(b"x")
    assert fault(file / "below.png", tmp_path).code == "picture_missing"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_a_device_and_a_socket_keep_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    assert fault(tmp_path / "pipe.png", tmp_path).code == "picture_not_a_file"
    assert fault(Path("/dev/zero"), tmp_path).code == "picture_not_a_file"
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.png")
        assert fault(Path("s.png"), tmp_path).code in ("picture_not_a_file", "picture_unreadable")


def test_a_file_that_may_not_be_read_is_told_from_one_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "private.png"
    path.write_bytes(saved(scene(), "PNG"))

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # root, as in CI, may read everything
    assert fault(path, tmp_path).code == "picture_denied"


def test_a_file_of_gigabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "film.png"
    path.write_bytes(saved(scene(), "PNG"))
    os.truncate(path, 3_000_000_000)
    error = fault(path, tmp_path)
    assert error.code == "picture_file_too_large"
    assert error.facts["file_bytes"] == 3_000_000_000


def test_a_disk_that_refuses_leaves_no_half_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(scene(), "PNG"))

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        prepared(path, tmp_path)
    assert not list((tmp_path / "out").iterdir())


def test_the_same_picture_again_is_the_same_file_and_young(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(scene(), "PNG"))
    made = prepared(path, tmp_path)
    kept = tmp_path / "out" / f"{made.id}.png"
    os.utime(kept, (1, 1))
    number = kept.stat().st_ino
    assert prepared(path, tmp_path) == made
    assert kept.stat().st_ino == number
    assert kept.stat().st_mtime > 1_000_000  # or it would go as an orphan
    kept.write_bytes(b"damaged")
    prepared(path, tmp_path)
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == made.id


def test_without_its_library_heic_is_named_and_not_taken_for_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "phone.jpg"
    path.write_bytes(HEIC)
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    error = fault(path, tmp_path)
    assert (error.code, error.words) == ("picture_kind_not_read", {"kind": "HEIC"})
