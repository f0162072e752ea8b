"""The engine's self-test in an installation of which one library was taken away."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

from dflash_desktop.workers.self_test import LIBRARIES

pytestmark = [
    pytest.mark.openvino,
    pytest.mark.skipif(sys.platform == "win32", reason="makes links"),
]

ROOT = Path(__file__).parents[2]
BINDINGS = (("openvino", "_pyopenvino"), ("openvino_genai", "py_openvino_genai"))
LIMIT_SECONDS = 60


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Site packages of which OpenVINO's three may be damaged without damage to the real ones."""
    (real,) = (p for p in map(Path, site.getsitepackages()) if (p / "openvino").is_dir())
    folder = tmp_path_factory.mktemp("installation")
    for path in real.iterdir():
        if path.name in LIBRARIES:
            shutil.copytree(path, folder / path.name, copy_function=link_or_copy, symlinks=True)
        elif path.suffix != ".pth":
            (folder / path.name).symlink_to(path)
    return folder


def self_test(installation: Path) -> tuple[int, bool, dict[str, str]]:
    """The exit code, the verdict, and what failed."""
    done = subprocess.run(
        # Without the real site packages, where a missing module would be found after all.
        [sys.executable, "-S", "-P", "-m", "dflash_desktop.workers.self_test"],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{installation}"},
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    printed = json.loads(done.stdout)
    failed = {c["code"]: c["detail"] for c in printed["checks"] if not c["passed"]}
    return done.returncode, printed["passed"], failed


def files_of(installation: Path, package: str, name: str) -> list[Path]:
    def is_it(path: Path) -> bool:
        stem = path.name.split(".")[0].removeprefix("lib").rstrip("0123456789_")
        return stem == name and ".so" in path.name

    return [path for path in (installation / package).rglob("*") if is_it(path)]


def test_a_whole_installation_passes(installation: Path) -> None:
    assert self_test(installation) == (0, True, {})


def test_every_library_that_is_taken_away_is_missed(installation: Path) -> None:
    wanted = [(package, name) for package, names in LIBRARIES.items() for name in names]
    missed = []
    for package, name in (*wanted, *BINDINGS):
        (file,) = files_of(installation, package, name)
        away = installation / "taken away"
        file.rename(away)
        try:
            code, passed, failed = self_test(installation)
        finally:
            away.rename(file)
        assert (code, passed) == (1, False), name
        assert any(name in detail for detail in failed.values()), (name, failed)
        assert all("Install the program again" in detail for detail in failed.values())
        missed.append(name)
    assert len(missed) == len(wanted) + len(BINDINGS) >= 11


def test_a_package_of_another_release_is_told(installation: Path) -> None:
    papers = next(installation.glob("openvino_tokenizers-*.dist-info"))
    real = papers.resolve()
    papers.unlink()
    other = installation / "openvino_tokenizers-2025.1.0.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: openvino-tokenizers\nVersion: 2025.1.0.0\n", encoding="utf-8"
    )
    try:
        _, passed, failed = self_test(installation)
    finally:
        shutil.rmtree(other)
        papers.symlink_to(real)
    assert passed is False
    assert "2025.1.0.0" in failed["versions"]


def test_the_empty_file_that_a_virus_scanner_leaves_is_told(installation: Path) -> None:
    (file,) = files_of(installation, "openvino", "openvino_intel_cpu_plugin")
    away = installation / "taken away"
    file.rename(away)
    file.touch()
    try:
        _, passed, failed = self_test(installation)
    finally:
        away.replace(file)
    assert passed is False
    assert {"devices", "computing"} & failed.keys()
