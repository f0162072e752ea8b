"""The Windows installer's script, which cannot be compiled here: is it whole and of one piece?"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from dflash_build import installer, layout

if TYPE_CHECKING:
    from pathlib import Path

TEXT = installer.SCRIPT.read_text(encoding="utf-8")
SECTIONS = {
    *("Setup", "Languages", "Tasks", "InstallDelete", "Files", "Icons", "Registry", "Run", "Code")
}
FLAGS = {
    "Tasks": {"unchecked"},
    "Files": {"ignoreversion", "recursesubdirs", "createallsubdirs"},
    "Registry": {"uninsdeletevalue", "uninsdeletekey"},
    "Run": {"nowait", "postinstall", "skipifsilent"},
}
"""Those in use; each was looked up for its section in Inno Setup's manual."""

PARAMETER = re.compile(r'(\w+): ("(?:[^"]|"")*"|[^;"]+)(?:; |$)')


def lines_of(section: str) -> list[str]:
    body = TEXT.split(f"[{section}]\n", 1)[1]
    body = re.split(r"^\[\w+\]$", body, maxsplit=1, flags=re.MULTILINE)[0]
    return [line for line in body.splitlines() if line and not line.startswith(";")]


def entries_of(section: str) -> list[dict[str, str]]:
    """Each line's parameters; every character of it belongs to one."""
    entries = []
    for line in lines_of(section):
        found = PARAMETER.findall(line)
        assert PARAMETER.sub("", line) == "", f"cannot be read: {line}"
        assert len({name for name, _ in found}) == len(found), line
        entries.append({name: value.strip('"') for name, value in found})
    return entries


def made_here(folder: Path) -> Path:
    """What a build on Windows makes, as empty files."""
    for name in ("dflash-desktop.exe", "dflash-desktop.com", "dflash-engine.exe"):
        (folder / name).touch()
    for name in (layout.INSIDE, layout.TOOLS, layout.LICENCES):
        (folder / name).mkdir()
    return folder


def test_it_has_the_sections_of_inno_setup_each_once() -> None:
    assert Counter(re.findall(r"^\[(\w+)\]$", TEXT, re.MULTILINE)) == dict.fromkeys(SECTIONS, 1)


@pytest.mark.parametrize("section", sorted(SECTIONS - {"Setup", "Code"}))
def test_every_entry_can_be_read_and_has_known_flags(section: str) -> None:
    entries = entries_of(section)
    assert entries
    for entry in entries:
        assert set(entry.get("Flags", "").split()) <= FLAGS.get(section, set()), entry


def test_every_constant_is_defined_before_it_is_used() -> None:
    defined = {*installer.DEFINED_HERE, *re.findall(r"^#define (\w+)", TEXT, re.MULTILINE)}
    used = set(re.findall(r"\{#(\w+)\}", TEXT))
    assert used <= defined
    assert set(installer.DEFINED_HERE) <= used


def test_tasks_that_are_asked_for_exist() -> None:
    names = {entry["Name"] for entry in entries_of("Tasks")}
    asked = {e["Tasks"] for s in ("Icons", "Registry") for e in entries_of(s) if "Tasks" in e}
    assert asked <= names
    assert names == {"desktopicon", "gguf", "path"}


def test_every_file_that_it_names_is_made_by_the_build_and_nothing_is_forgotten(
    tmp_path: Path,
) -> None:
    folder = made_here(tmp_path)
    assert installer.missing_files(folder) == []
    assert {name.split("/")[0] for name in installer.named_files()} == {
        path.name for path in folder.iterdir()
    }
    (folder / "dflash-engine.exe").unlink()
    assert installer.missing_files(folder) == ["dflash-engine.exe"]


def test_an_update_in_place_first_removes_what_the_program_brought() -> None:
    removed = {entry["Name"] for entry in entries_of("InstallDelete")}
    folders = {name.split("/")[0] for name in installer.named_files() if name.endswith("/*")}
    assert removed == {rf"{{app}}\{name}" for name in folders}


def test_it_needs_no_rights_and_asks_before_it_deletes_what_people_made() -> None:
    setup = dict(line.split("=", 1) for line in lines_of("Setup"))
    assert setup["PrivilegesRequired"] == "lowest"
    assert setup["AppId"].startswith("{{")
    assert setup["AppId"][2:] in TEXT.replace(setup["AppId"], ""), "the key of an older version"
    code = "\n".join(lines_of("Code"))
    before_deleting = code.split("DelTree(", 1)[0]
    assert "MB_DEFBUTTON2) = IDYES" in before_deleting.rsplit("procedure", 1)[1]
    assert "UninstallSilent" in before_deleting


def test_its_code_opens_and_closes_alike() -> None:
    code = re.sub(r"'[^']*'|\{[^}]*\}", "", "\n".join(lines_of("Code")))
    assert code.count("(") == code.count(")")
    words = Counter(re.findall(r"\b(begin|end)\b", code))
    assert words["begin"] == words["end"] >= 5


def test_the_data_folder_is_the_programs_own() -> None:
    from dflash_desktop import paths

    assert f'#define DataName "{paths.APP_NAME}"' in TEXT


def test_wingets_manifests_name_the_installer_and_its_hash(tmp_path: Path) -> None:
    setup = tmp_path / "dflash-desktop-setup.exe"
    setup.write_bytes(b"setup")
    folder = installer.write_winget(setup, "https://example.org/files/")
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert sorted(texts) == [
        "DFlashDesktop.DFlashDesktop.installer.yaml",
        "DFlashDesktop.DFlashDesktop.locale.en-US.yaml",
        "DFlashDesktop.DFlashDesktop.yaml",
    ]
    assert all("@" not in text for text in texts.values())
    assert len({re.search("PackageVersion: (.+)", text)[1] for text in texts.values()}) == 1  # type: ignore[index]
    text = texts["DFlashDesktop.DFlashDesktop.installer.yaml"]
    assert "https://example.org/files/dflash-desktop-setup.exe" in text
    assert re.search(r"InstallerSha256: [0-9A-F]{64}\n", text)
