"""The locks that come with the program hold every package to hashes, on each platform alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.export_environment import ENVIRONMENTS, export_environment
from dflash_desktop.services import export_lock
from dflash_desktop.services.export_lock import export_locks_dir, read_lock

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.export_environment import ExportEnvironment

RELEASED = [one for one in ENVIRONMENTS if not one.is_development]
PLATFORMS = ("linux-x86_64", "windows-x86_64")
FILES = [
    export_locks_dir() / platform / f"{one.id}.txt" for platform in PLATFORMS for one in RELEASED
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_requirement_is_one_version_with_hashes_and_says_its_sizes(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    entry = (
        r"# [1-9]\d* [1-9]\d*\n"
        r"[a-z0-9-]+==[\w.+]+(?: ; python_version <= '3\.\d+')?"
        r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    )
    _, _, body = text.partition("what is in it.\n")
    assert re.fullmatch(f"(?:{entry})+", body)


@pytest.mark.parametrize("environment", RELEASED, ids=lambda one: one.id)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_lock_has_the_release_that_its_environment_promises(
    environment: ExportEnvironment,
    platform: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export_lock, "platform_name", lambda: platform)
    lock = read_lock(environment)
    versions = {package.name: package.version for package in lock.packages}
    assert versions["transformers"] == ".".join(map(str, environment.transformers))
    assert versions["torch"].partition("+")[0] == "2.13.0"
    assert "openvino-telemetry" not in versions
    assert "torchvision" not in versions
    assert 1_000_000_000 < lock.unpacked_bytes < 2_500_000_000


@pytest.mark.parametrize("platform", PLATFORMS)
def test_environments_differ_only_where_transformers_makes_them(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_lock, "platform_name", lambda: platform)
    locks = [read_lock(one) for one in RELEASED]
    everything = [{(one.name, one.version) for one in lock.packages} for lock in locks]
    shared = set.intersection(*everything)
    sizes = {(one.name, one.version): one.unpacked_bytes for one in locks[0].packages}
    assert sum(sizes[one] for one in shared) > 0.94 * locks[0].unpacked_bytes


def test_development_builds_are_told_by_having_no_hashes() -> None:
    lock = read_lock(export_environment("development"))
    assert not lock.is_hashed
    assert lock.unpacked_bytes > 1_000_000_000
