"""What tells a Linux desktop of the program, and which packages the program needs there."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from dflash_build import appimage, icons, layout, linux_files, system_packages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux desktops")
NAME = layout.PACKAGE_NAME


def test_the_entry_starts_the_program_with_what_is_opened() -> None:
    entry = configparser.RawConfigParser()
    entry.optionxform = str  # type: ignore[assignment, method-assign]  # names keep their case
    entry.read_string(linux_files.filled(f"{NAME}.desktop"))
    fields = entry["Desktop Entry"]
    assert fields["Exec"] == "dflash-desktop %F"
    assert fields["Icon"] == fields["StartupWMClass"] == "dflash-desktop"
    assert {"application/x-gguf", "inode/directory"} <= set(fields["MimeType"].split(";"))


def test_metadata_and_file_types_are_of_one_piece_with_the_entry() -> None:
    metadata = ElementTree.fromstring(linux_files.filled(f"{NAME}.metainfo.xml"))  # noqa: S314 - ours
    assert metadata.findtext("launchable") == f"{NAME}.desktop"
    assert metadata.findtext("provides/mediatype") == "application/x-gguf"
    release = metadata.find("releases/release")
    assert release is not None
    assert release.get("version") == layout.project().version
    types = ElementTree.fromstring(linux_files.filled(f"{NAME}.xml"))  # noqa: S314
    assert next(iter(types)).get("type") == "application/x-gguf"


@pytest.mark.skipif(find_spec("PySide6") is None, reason="Qt draws the icons")
def test_everything_lies_where_desktops_look(tmp_path: Path) -> None:
    linux_files.write_share(tmp_path)
    for size in icons.SIZES:
        icon = tmp_path / f"icons/hicolor/{size}x{size}/apps/{NAME}.png"
        width = int.from_bytes(icon.read_bytes()[16:20], "big")
        assert width == size
    tools = (
        ("desktop-file-validate", f"applications/{NAME}.desktop"),
        ("appstreamcli validate --no-net", f"metainfo/{NAME}.metainfo.xml"),
        ("xmllint --noout", f"mime/packages/{NAME}.xml"),
    )
    for tool, place in tools:
        assert (tmp_path / place).is_file()
        if shutil.which(tool.split()[0]):
            done = subprocess.run(
                [*tool.split(), str(tmp_path / place)], capture_output=True, check=False
            )
            assert done.returncode == 0, done.stdout.decode()


def test_libraries_become_the_packages_of_debian_and_ubuntu() -> None:
    libraries = {"libc.so.6", "libssl.so.3", "libcrypto.so.3", "libOpenCL.so.1", "libX11.so.6"}
    assert system_packages.dependencies(libraries) == [
        *("libc6", "libssl3t64 | libssl3", "libx11-6")
    ]


def test_a_library_that_nobody_knows_stops_the_build() -> None:
    with pytest.raises(ValueError, match="libnew"):
        system_packages.dependencies({"libnew.so.7"})


@pytest.mark.skipif(shutil.which("readelf") is None, reason="needs binutils")
def test_what_a_folder_links_to_and_does_not_hold_is_found(tmp_path: Path) -> None:
    program = shutil.which("readelf")
    assert program is not None
    shutil.copy(program, tmp_path / "program")
    (tmp_path / "text").write_text("no program", encoding="utf-8")
    found = system_packages.linked_libraries(tmp_path)
    assert "libc.so.6" in found
    (tmp_path / "libc.so.6").touch()
    assert "libc.so.6" not in system_packages.linked_libraries(tmp_path)


@pytest.mark.skipif(find_spec("PySide6") is None, reason="Qt draws the icons")
def test_an_appimage_is_laid_out_whole_and_starts_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / NAME
    (folder / "_internal").mkdir(parents=True)
    program = folder / NAME
    program.write_text('#!/bin/sh\necho "started with $*"\n', encoding="utf-8")
    program.chmod(0o755)
    tool = tmp_path / "bin" / "appimagetool"
    tool.parent.mkdir()
    # What the real one refuses to work without, and then the file that it would make.
    tool.write_text(
        '#!/bin/sh\ncd "$2" && [ -x AppRun ] && [ -f *.desktop ] && [ -f .DirIcon ] '
        '&& touch "$3"\n',
        encoding="utf-8",
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    made = appimage.write(folder, tmp_path, "made")
    assert made.is_file()
    assert made.suffix == ".AppImage"
    done = subprocess.run(
        [str(tmp_path / "AppDir" / "AppRun"), "a file"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "started with a file\n"


def test_without_appimagetool_the_build_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="appimagetool is not on the PATH"):
        appimage.write(tmp_path, tmp_path, "made")
