from __future__ import annotations

import pytest

from dflash_desktop.domain.file_names import colliding_paths, too_long_path, unsafe_reason

SAFE = [
    "config.json",
    "assets/tokenizer Ä 模.json",
    "a/b/c.bin",
    ".gitattributes",
    "..a/b..c",
    "console.txt",
    "com10",
    "x" * 255,
    "nullable/aux1",
]
UNSAFE = {
    "": "empty",
    "/etc/passwd": "absolute",
    "../x": "leads out",
    "a/../../x": "leads out",
    "a//b": "empty",
    "./a": "empty",
    "a/": "empty",
    "C:/x": "drive",
    "c:x": "drive",
    r"a\b": "contains",
    r"..\x": "contains",
    "ab:stream": "contains",
    "a\x00b": "contains",
    "a\nb": "contains",
    "a*": "contains",
    "CON": "device",
    "a/nul.txt": "device",
    "Aux .json": "device",
    "COM¹": "device",
    "lpt9.bin.xml": "device",
    "a.": "dot or a space",
    "a /b": "dot or a space",
    "ä" * 128: "longer",
    "a\ud800": "valid text",
    ".dflash/manifest.json": "own records",
    ".DFlash": "own records",
}


@pytest.mark.parametrize("path", SAFE)
def test_ordinary_names_are_allowed(path: str) -> None:
    assert unsafe_reason(path) is None


@pytest.mark.parametrize(("path", "word"), UNSAFE.items())
def test_a_name_that_could_leave_its_folder_or_is_no_file_has_a_reason(
    path: str, word: str
) -> None:
    assert word in (unsafe_reason(path) or "nothing")


def test_paths_that_are_one_on_windows_collide() -> None:
    assert colliding_paths(["a/B.bin", "c", "A/b.BIN"]) == ("a/B.bin", "A/b.BIN")
    assert colliding_paths(["straße", "STRASSE"]) == ("straße", "STRASSE")
    assert colliding_paths(["a\u0308", "ä"]) == ("a\u0308", "ä")
    assert colliding_paths(["a", "a/b"]) == ("a", "a/b")
    assert colliding_paths(["a/b", "A"]) == ("A", "a/b")
    assert colliding_paths(["Data/a", "data/b"]) == ("Data", "data/b")
    assert colliding_paths(["a/b", "a/c", "a.b", "ab"]) is None


def test_a_path_is_too_long_by_the_systems_own_measure() -> None:
    folder = "C:/Users/someone/models"
    long = "x" * (259 - len(folder) - 1)
    assert too_long_path(folder, [long, "y"], is_windows=True) is None
    assert too_long_path(folder, ["y", long + "x"], is_windows=True) == long + "x"
    assert too_long_path(folder, [long], spare_characters=1, is_windows=True) == long
    assert too_long_path(folder, [long + "x"], is_windows=False) is None
    assert too_long_path(folder, ["模/" * 1400], is_windows=False) == "模/" * 1400
    assert too_long_path(folder, [], is_windows=True) is None
