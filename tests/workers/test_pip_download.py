from __future__ import annotations

import os
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.workers import pip_download
from dflash_desktop.workers.pip_download import (
    DownloadCancelledError,
    DownloadError,
    download_wheel,
    failure_code,
)
from tests.fakes.package_index import (
    PACKAGE,
    VERSION,
    Fault,
    PackageIndex,
    package_index,
    tiny_wheel,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REQUIREMENT = f"{PACKAGE}=={VERSION}"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[PackageIndex], None]:
    def use(index: PackageIndex) -> None:
        for name in list(os.environ):
            if name.startswith("PIP_"):
                monkeypatch.delenv(name)
        for name, value in index.environment().items():
            monkeypatch.setenv(name, value)

    return use


def download(folder: Path, progress: list[tuple[int, int]] | None = None) -> Path:
    seen: list[tuple[int, int]] = [] if progress is None else progress
    return download_wheel(
        REQUIREMENT,
        folder,
        report=lambda done, total: seen.append((done, total)),
        is_cancelled=lambda: False,
    )


def test_a_wheel_arrives_whole_with_rising_progress(
    tmp_path: Path, serve: Callable[[PackageIndex], None]
) -> None:
    folder = tmp_path / "Ordner mit Leerzeichen äöü 模型"
    progress: list[tuple[int, int]] = []
    with package_index() as index:
        serve(index)
        wheel = download(folder, progress)
    assert wheel.read_bytes() == tiny_wheel()
    assert wheel.is_relative_to(folder)
    assert progress == sorted(progress)
    assert progress[-1] == (len(tiny_wheel()), len(tiny_wheel()))


def test_a_transfer_that_breaks_off_is_taken_up_where_it_stopped(
    tmp_path: Path, serve: Callable[[PackageIndex], None]
) -> None:
    with package_index(Fault.CUT_ONCE) as index:
        serve(index)
        wheel = download(tmp_path)
        assert index.file_starts == [len(index.wheel) // 2]
    assert zipfile.ZipFile(wheel).testzip() is None


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault.NO_PACKAGE, "package_missing"),
        (Fault.NO_FILE, "download_failed"),
        (Fault.CUT, "download_failed"),
        (Fault.STALLS, "download_failed"),
        (Fault.WEB_PAGE, "wheel_damaged"),
        (Fault.RUBBISH, "wheel_damaged"),
        (Fault.WRONG_HASH, "hash_mismatch"),
    ],
)
def test_each_fault_of_an_index_has_its_code(
    fault: Fault,
    code: str,
    tmp_path: Path,
    serve: Callable[[PackageIndex], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pip_download, "_RESUME_ATTEMPTS", 1)
    with package_index(fault) as index:
        serve(index)
        with pytest.raises(DownloadError) as caught:
            download(tmp_path)
    assert caught.value.code == code, str(caught.value)
    assert str(caught.value)


def test_a_server_that_is_gone_means_no_network(
    tmp_path: Path, serve: Callable[[PackageIndex], None]
) -> None:
    with package_index() as index:
        pass
    serve(index)
    with pytest.raises(DownloadError) as caught:
        download(tmp_path)
    assert caught.value.code == "no_network", str(caught.value)


def test_cancelling_ends_pip_in_the_middle_of_a_file(
    tmp_path: Path, serve: Callable[[PackageIndex], None]
) -> None:
    # That no process is left behind is checked after every test.
    with package_index(Fault.STALLS) as index:
        serve(index)
        with pytest.raises(DownloadCancelledError):
            download_wheel(
                REQUIREMENT,
                tmp_path,
                report=lambda done, total: None,
                is_cancelled=index.half_sent.is_set,
            )
    assert not list(tmp_path.glob("wheel/*"))


def test_an_installation_without_pip_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pip_download, "_pip_version", lambda: None)
    with pytest.raises(DownloadError) as caught:
        download(tmp_path)
    assert caught.value.code == "pip_missing"


def test_an_old_pip_is_not_asked_for_what_it_cannot_do(tmp_path: Path) -> None:
    old = pip_download._command("a==1", tmp_path, tmp_path, (23, 2))
    new = pip_download._command("a==1", tmp_path, tmp_path, (26, 0))
    assert "raw" not in old
    assert "raw" in new
    assert not any("resume" in argument for argument in old)
    assert any("resume" in argument for argument in new)


def test_a_frozen_program_asks_itself_for_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    command = pip_download._command("a==1", tmp_path, tmp_path, (26, 0))
    assert command[:4] == [sys.executable, "pip", "download", "a==1"]


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("OSError: [Errno 28] Kein Speicherplatz mehr verfügbar", "disk_full"),
        ("ERROR: Could not install packages due to an OSError: [WinError 112] ...", "disk_full"),
        (
            "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]",
            "certificate_refused",
        ),
        ("error: ssl-verification-failed", "certificate_refused"),
        ("ProxyError('Cannot connect to proxy.'...) No matching distribution found", "no_network"),
        ("NewConnectionError(...): Failed to establish a new connection", "no_network"),
        ("Could not fetch URL http://x/: 503 Server Error: Busy - skipping", "download_failed"),
        (
            "Could not fetch URL http://x/: 404 No\nNo matching distribution found",
            "package_missing",
        ),
        ("PermissionError: [Errno 13] Keine Berechtigung", "folder_not_writable"),
        ("something that nobody has seen yet", "download_failed"),
    ],
)
def test_what_pip_prints_elsewhere_has_codes_too(output: str, code: str) -> None:
    assert failure_code(output) == code
