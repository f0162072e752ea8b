"""The papers that come with the program: licences of all that is inside, and what that is."""

from __future__ import annotations

import json
import sys
import sysconfig
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from dflash_build import layout, sbom
from dflash_build.components import components, python_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

SBOM_NAME: Final = "sbom.cdx.json"
INDEX_NAME: Final = "Other software.txt"

_WORDS: Final = ("licen", "copying", "notice", "copyright", "third-party", "authors")
_HERE: Final = layout.PACKAGING / "licences"
_OURS: Final = layout.REPOSITORY / "resources" / "licences"
_QT: Final = frozenset({"pyside6-essentials", "shiboken6"})
_SYSTEM_COPYRIGHTS: Final = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}


def write_all(folder: Path) -> None:
    """Write the folder `licences`, the index that the window shows, and the bill of materials.

    Raises `FileNotFoundError` for a package whose licence is nowhere to be found.
    """
    papers = folder / layout.LICENCES
    papers.mkdir(exist_ok=True)
    _write_ours(papers)
    for package in python_packages():
        _write_package(papers, package)
    _write_system(papers, folder / layout.INSIDE)
    text = index()
    (papers / INDEX_NAME).write_text(text, encoding="utf-8")
    shown = folder / layout.INSIDE / "dflash_desktop" / "_resources" / "licences"
    (shown / INDEX_NAME).write_text(text, encoding="utf-8")
    (papers / SBOM_NAME).write_text(json.dumps(sbom.document(), indent=1), encoding="utf-8")


def index() -> str:
    """All of it on one page, for the window's About."""
    lines = [f"{one.name} {one.version}: {one.licence or 'see its text'}" for one in components()]
    return "\n".join(
        (
            f"{layout.APP_NAME} contains the work of others. The full texts are in the folder",
            f'"{layout.LICENCES}" of the program.',
            "",
            *lines,
            "",
            _qt_note(),
        )
    )


def _write_ours(papers: Path) -> None:
    (papers / "DFlash Desktop.txt").write_bytes((layout.REPOSITORY / "LICENSE").read_bytes())
    for file in (*_HERE.glob("*GPL*.txt"), *_OURS.glob("*.txt")):
        (papers / file.name).write_bytes(file.read_bytes())
    (papers / "Qt and PySide6.txt").write_text(_qt_note(), encoding="utf-8")
    (papers / "Python.txt").write_text(_python_licence(), encoding="utf-8")


def _qt_note() -> str:
    version = metadata.version("PySide6-Essentials")
    return (_HERE / "Qt.txt").read_text(encoding="utf-8").replace("{qt}", version)


def _python_licence() -> str:
    places = (
        Path(sysconfig.get_path("stdlib")) / "LICENSE.txt",
        Path(sys.base_prefix) / "LICENSE.txt",
        Path(f"/usr/share/doc/python{sys.version_info[0]}.{sys.version_info[1]}/copyright"),
        Path(f"/usr/share/doc/libpython{sys.version_info[0]}.{sys.version_info[1]}/copyright"),
    )
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise FileNotFoundError("Python's own licence is in none of its usual places")
    form = (_HERE / "Python.txt").read_text(encoding="utf-8")
    version = ".".join(map(str, sys.version_info[:3]))
    licence = found.read_text(encoding="utf-8", errors="replace")
    return form.replace("{python}", version).replace("{licence}", licence)


def _write_package(papers: Path, package: metadata.Distribution) -> None:
    texts = {name: text for name, text in _texts(package) if text.strip()}
    if not texts and package.name.lower().replace("_", "-") not in _QT:
        raise FileNotFoundError(f"{package.name} {package.version} comes without its licence")
    for name, text in texts.items():
        target = papers / f"{package.name}-{package.version}" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _texts(package: metadata.Distribution) -> Iterator[tuple[str, str]]:
    for file in package.files or ():
        place = PurePosixPath(file)
        if not place.parts[0].endswith(".dist-info") or place.suffix in (".py", ".pyc"):
            continue
        if any(word in str(PurePosixPath(*place.parts[1:])).lower() for word in _WORDS):
            name = str(PurePosixPath(*place.parts[1:])).replace("/", " - ")
            yield name, Path(str(file.locate())).read_text(encoding="utf-8", errors="replace")


def _write_system(papers: Path, inside: Path) -> None:
    """Debian's papers for the few libraries that come from the machine of the build."""
    for library, package in _SYSTEM_COPYRIGHTS.items():
        copyright_file = Path("/usr/share/doc") / package / "copyright"
        if (inside / library).exists() and copyright_file.is_file():
            (papers / f"{package}.txt").write_bytes(copyright_file.read_bytes())
