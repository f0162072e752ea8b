"""What must hold for every file that is kept, and for the pins in pyproject.toml."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]

# Written so that these lines do not find themselves.
PACKAGE_HOSTS = re.compile(r"\b(?:pypi|pythonhosted|npmjs|debian|crates)\.(?:org|com|io)\b")
FOLDERS_OF_ONE_MACHINE = re.compile(r"(?<![\w.>$}/-])/(?:work|tmp|root)/")
KNOWN_HOSTS = {
    "apache.org",
    "github.com",
    "freedesktop.org",
    "fsf.org",
    "gnu.org",
    "huggingface.co",
    "keepachangelog.com",
    "learn.microsoft.com",
    "lucide.dev",
    "semver.org",
    "storage.openvinotoolkit.org",
    "w3.org",
    "example.com",
    "example.org",
    "127.0.0.1",
}


def kept_text_files() -> Iterator[tuple[str, str]]:
    """Name and text of every file that git keeps, but binaries."""
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    names = [name for name in listing.split("\0") if (REPOSITORY / name).is_file()]
    assert "pyproject.toml" in names
    for name in names:
        content = (REPOSITORY / name).read_bytes()
        if b"\0" not in content:
            yield name, content.decode("utf-8")


def findings(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}: {line.strip()[:120]}"
        for name, text in kept_text_files()
        for line in text.splitlines()
        if pattern.search(line)
    ]


def test_no_file_names_a_package_host() -> None:
    assert findings(PACKAGE_HOSTS) == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert findings(FOLDERS_OF_ONE_MACHINE) == []


def test_every_address_in_what_we_ship_is_of_a_known_host() -> None:
    address = re.compile(r"https?://([^/\s:\"'`<>)\]{}]+)")
    strangers = {
        f"{name}: {host}"
        for name, text in kept_text_files()
        if not name.startswith("tests/")
        for host in address.findall(text)
        if host.removeprefix("www.") not in KNOWN_HOSTS
        # Names without a dot, and those under .example, are nobody's.
        and "." in host.strip(".")  # "http://." ends a sentence
        and not host.endswith(".example")
    }
    assert strangers == set()


@pytest.mark.parametrize("parts", [("cd /", "tmp/x"), ('Path("/', 'work/main")')])
def test_a_folder_of_one_machine_is_found(parts: tuple[str, ...]) -> None:
    assert FOLDERS_OF_ONE_MACHINE.search("".join(parts))


@pytest.mark.parametrize("parts", [("see https://pypi", ".org/"), ("deb.debian", ".org")])
def test_a_package_host_is_found(parts: tuple[str, ...]) -> None:
    assert PACKAGE_HOSTS.search("".join(parts))


def requirements(*, python: str) -> dict[str, Requirement]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = [Requirement(line) for line in project["dependencies"]]
    environment = {"python_version": python}
    return {r.name: r for r in every if r.marker is None or r.marker.evaluate(environment)}


@pytest.mark.parametrize(
    ("python", "version", "is_allowed"),
    [
        # PySide6 6.12.0 drops references to None; only from Python 3.12 on is None immortal.
        ("3.11", "6.12.0", False),
        ("3.11", "6.11.3", True),
        ("3.12", "6.12.0", True),
        ("3.13", "6.12.0", True),
    ],
)
def test_qt_that_kills_older_pythons_is_excluded(
    python: str, version: str, is_allowed: bool
) -> None:
    assert (
        requirements(python=python)["PySide6-Essentials"].specifier.contains(version) is is_allowed
    )


def test_the_runtime_packages_are_of_one_release() -> None:
    wanted = requirements(python="3.11")
    names = ["openvino", "openvino-genai", "openvino-tokenizers"]

    assert len({str(wanted[name].specifier) for name in names}) == 1
    assert len({tuple(metadata.version(name).split(".")[:3]) for name in names}) == 1


def test_what_is_installed_is_what_the_pins_say() -> None:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    for name, requirement in requirements(python=python).items():
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            assert name in {"PySide6-Essentials", "qasync"}, "only Qt may be missing"
            continue
        assert requirement.specifier.contains(version), f"{name} {version}"
