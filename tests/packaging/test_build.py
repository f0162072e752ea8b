"""The steps of a build, each by itself: what is left out, icons, papers, names, archives."""

from __future__ import annotations

import ctypes
import hashlib
import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from dflash_build import archive, components, elf, icons, layout, sbom, trim, version_info
from dflash_build.products import write_checksums

if TYPE_CHECKING:
    from pathlib import Path

needs_qt = pytest.mark.skipif(find_spec("PySide6") is None, reason="Qt is one of them")


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("libstdc++.so.6", "/lib/x86_64-linux-gnu/libstdc++.so.6"),
        ("libssl.so.3", "/usr/lib/x86_64-linux-gnu/libssl.so.3"),
        ("PySide6/Qt/lib/libQt6Qml.so.6", "/env/PySide6/Qt/lib/libQt6Qml.so.6"),
        ("PySide6/Qt/translations/qt_de.qm", "/env/qt_de.qm"),
        ("openvino/libs/libopenvino_onnx_frontend.so.2641", "/env/x"),
        ("libopenvino_onnx_frontend.so.2641", "openvino/libs/libopenvino_onnx_frontend.so.2641"),
        ("openvino\\libs\\openvino_onnx_frontend.dll", "C:\\env\\x"),
        ("source/dflash_desktop/__pycache__/log.cpython-311.pyc", "/env/x"),
    ],
)
def test_what_nobody_needs_or_the_system_must_give_is_left_out(place: str, source: str) -> None:
    assert trim.reason_to_drop(place, source)


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("libxcb-cursor.so.0", "/lib/x86_64-linux-gnu/libxcb-cursor.so.0"),
        ("libpython3.11.so.1.0", "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"),
        ("python3.11/lib-dynload/_ssl.cpython-311.so", "/usr/lib/python3.11/lib-dynload/x.so"),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", "/env/x"),
        ("openvino/libs/libopenvino_ir_frontend.so.2641", "/env/x"),
        ("openvino/libs/libopenvino_gguf_frontend.so.2641", "/env/x"),
        ("openvino/libs/libopenvino_intel_npu_plugin.so", "/env/x"),
        ("libstdc++.so.6", "/env/lib/libstdc++.so.6"),
    ],
)
def test_what_is_needed_stays(place: str, source: str) -> None:
    assert trim.kept([(place, source, "BINARY")]) == [(place, source, "BINARY")]


def test_every_left_out_thing_says_why() -> None:
    reasons = [*trim.NEVER.values(), *trim.NOT_IN_WINDOW.values(), *trim.NOT_IN_ENGINE.values()]
    assert all(reasons)
    assert all(drop.why for drop in trim.DROPS)


def test_windows_gets_one_icon_with_all_sizes() -> None:
    from PIL import Image

    pictures = {}
    for size in (16, 48, 256):
        buffer = io.BytesIO()
        Image.new("RGBA", (size, size), "blue").save(buffer, "PNG")
        pictures[size] = buffer.getvalue()
    with Image.open(io.BytesIO(icons.ico_of(pictures))) as icon:
        assert icon.info["sizes"] == {(16, 16), (48, 48), (256, 256)}
        assert icon.size == (256, 256)


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.1.0", (0, 1, 0, 0)), ("2.3", (2, 3, 0, 0)), ("1.2.3.4", (1, 2, 3, 4))],
)
def test_windows_counts_versions_in_four_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert version_info.four_numbers(version) == numbers


def test_version_info_has_a_file_for_each_executable(tmp_path: Path) -> None:
    version_info.write_all(tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == [
        *("dflash-desktop", "dflash-desktop-console", "dflash-engine")
    ]
    for path in tmp_path.iterdir():
        text = path.read_text(encoding="utf-8")
        compile(text, str(path), "eval")
        assert layout.project().version in text


@needs_qt
def test_the_components_are_what_the_program_asks_for_and_not_what_builds_it() -> None:
    names = {component.name.lower() for component in components.components()}
    assert {"python", "openvino", "numpy", "pyside6_essentials", "pillow", "msgspec"} <= names
    assert names.isdisjoint({"pytest", "pyinstaller", "openvino-telemetry", "mypy", "setuptools"})
    assert all(component.version for component in components.components())


@needs_qt
def test_the_bill_of_materials_names_each_once_and_is_the_same_twice() -> None:
    first, second = sbom.document(), sbom.document()
    assert json.dumps(first) == json.dumps(second)
    parts = first["components"]
    assert isinstance(parts, list)
    refs = [part["bom-ref"] for part in parts]
    assert len(set(refs)) == len(refs)
    assert first["bomFormat"] == "CycloneDX"
    model = next(part for part in parts if part["type"] == "machine-learning-model")
    assert len(model["hashes"][0]["content"]) == 64


def test_an_archive_has_the_same_bytes_twice_and_names_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "built"
    (folder / "inner").mkdir(parents=True)
    (folder / "program").write_bytes(b"run")
    (folder / "program").chmod(0o700)
    (folder / "inner" / "data").write_bytes(b"data")
    (folder / "link").symlink_to("inner/data")
    digests = set()
    for name in ("one", "two"):
        out_dir = tmp_path / name
        out_dir.mkdir()
        made = archive._tar(folder, out_dir / "x.tar.gz", "top")
        digests.add(hashlib.sha256(made.read_bytes()).hexdigest())
    assert len(digests) == 1
    with tarfile.open(tmp_path / "one" / "x.tar.gz") as packed:
        members = {member.name: member for member in packed}
    assert members.keys() == {"top", "top/program", "top/inner", "top/inner/data", "top/link"}
    assert members["top/program"].mode == 0o755
    assert members["top/inner/data"].mode == 0o644
    assert members["top/link"].linkname == "inner/data"
    assert {member.uname for member in members.values()} == {"root"}


def test_checksums_are_of_everything_but_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"a")
    write_checksums(tmp_path)
    sums = write_checksums(tmp_path)
    assert sums.read_text(encoding="utf-8") == f"{hashlib.sha256(b'a').hexdigest()}  a.deb\n"


@pytest.mark.parametrize("before", [None, "/theirs"])
def test_children_get_the_library_path_that_the_person_had(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/ours")
    monkeypatch.delenv("LD_LIBRARY_PATH_ORIG", raising=False)
    if before:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", before)
    runpy.run_path(str(layout.PACKAGING / "hooks" / "runtime_environment.py"))
    assert os.environ.get("LD_LIBRARY_PATH") == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="programs of Linux")
def test_search_paths_of_the_machine_that_built_it_are_emptied(tmp_path: Path) -> None:
    library = tmp_path / "library.so"
    link = ["cc", "-shared", "-nostdlib", "-x", "c", os.devnull, "-o", str(library)]
    if shutil.which("cc") is None:
        pytest.skip("no compiler here")
    for path, is_foreign in (("/home/ada/lib", True), ("$ORIGIN/../lib", False)):
        subprocess.run([*link, f"-Wl,-rpath,{path}"], check=True)
        assert elf.clear_foreign_paths(library) is is_foreign
        assert (path.encode() in library.read_bytes()) is not is_foreign
        assert elf.clear_foreign_paths(library) is False
        ctypes.CDLL(str(library))


def test_what_is_no_program_has_no_search_paths(tmp_path: Path) -> None:
    file = tmp_path / "text.so"
    file.write_bytes(b"text")
    assert elf.clear_foreign_paths(file) is False
