"""One window for each data folder: what later starts do, and what the first makes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalSocket

from dflash_desktop.app.single_window import Listener
from dflash_desktop.paths import app_paths, resources_dir
from dflash_desktop.services.window_address import window_address
from tests.exporting.checkpoints import write_checkpoint
from tests.fakes.gguf_files import small_gguf
from tests.fakes.picture_corpus import saved, scene
from tests.fakes.x_server import x_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 60
IMPATIENT = """
from dflash_desktop.app import single_window
single_window.PATIENCE_SECONDS = 0.3
single_window._ANSWER_MS = 300
from dflash_desktop.__main__ import main
raise SystemExit(main())
"""
not_windows = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


@contextmanager
def first_window(scenario: str = "stay_open") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The real program in a process of its own, and what it said when it was ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.app.scenarios", scenario],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.communicate(timeout=LIMIT_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()


def start_again(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dflash_desktop", *map(str, files)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


@not_windows
def test_a_second_start_hands_its_folder_over_and_ends() -> None:
    folder = resources_dir() / "starter" / "draft"
    with first_window("hear_a_second_start") as (process, said):
        assert said == "ready"
        second = start_again(folder)
        assert (second.returncode, second.stderr) == (0, "")
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    seen = json.loads(out.splitlines()[-1])
    assert seen["told"] == "opened_model_folder"
    assert seen["models_before"] == 0  # it is offered, and the person decides
    assert seen["models"] == [str(folder)]
    assert seen["page"] == "Models"
    assert seen["minimized"] is False


@not_windows
def test_a_gguf_file_is_offered_on_the_models_page(tmp_path: Path) -> None:
    file = small_gguf().write(tmp_path / "tiny.gguf")
    with first_window("hear_of_a_gguf_file") as (process, said):
        assert said == "ready"
        assert start_again(file).returncode == 0
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    seen = json.loads(out.splitlines()[-1])
    assert (seen["told"], seen["page"]) == ("opened_gguf", "Models")
    assert (seen["offered"], seen["models"]) == ("Import “tiny.gguf”", 0)


@not_windows
def test_a_picture_is_offered_for_the_chat(tmp_path: Path) -> None:
    file = tmp_path / "street.png"
    file.write_bytes(saved(scene(), "PNG"))
    with first_window("hear_of_a_picture") as (process, said):
        assert said == "ready"
        assert start_again(file).returncode == 0
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    seen = json.loads(out.splitlines()[-1])
    assert (seen["told"], seen["page"]) == ("opened_picture", "Chat")
    assert seen["attached"] == "Attached picture street.png, 80 × 48"


@not_windows
def test_pictures_are_attached_together_and_a_checkpoint_fills_the_export_form(
    tmp_path: Path,
) -> None:
    files = [tmp_path / "street.png", tmp_path / "house.png"]
    for file in files:
        file.write_bytes(saved(scene(), "PNG"))
    checkpoint = write_checkpoint(tmp_path / "Qwen3 tiny", "text")
    with first_window("hear_of_several_files") as (process, said):
        assert said == "ready"
        assert start_again(*files, checkpoint).returncode == 0
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    seen = json.loads(out.splitlines()[-1])
    assert seen["attached"] == ["street.png", "house.png"]
    assert seen["offered_again"] == ["export"]
    assert (seen["page"], seen["form"]) == ("Export", str(checkpoint))


@not_windows
def test_only_the_first_start_empties_the_trash() -> None:
    trash = app_paths().conversations_dir / "trash"
    trash.mkdir(parents=True)
    (trash / "old.json").write_text("{}", encoding="utf-8")
    with first_window():
        assert list(trash.iterdir()) == []
        (trash / "deleted just now.json").write_text("{}", encoding="utf-8")
        assert start_again().returncode == 0
        assert [path.name for path in trash.iterdir()] == ["deleted just now.json"]


@not_windows
def test_a_first_window_that_is_frozen_is_told_in_words() -> None:
    with first_window() as (process, _):
        process.send_signal(signal.SIGSTOP)
        with subprocess.Popen(
            [sys.executable, "-c", IMPATIENT], cwd=ROOT, stderr=subprocess.PIPE, text=True
        ) as second:
            assert second.stderr is not None
            words = second.stderr.readline()
            second.kill()
    assert "open already, but its window does not answer" in words


@not_windows
def test_after_a_crash_the_next_start_is_first_says_so_once_and_is_heard() -> None:
    with first_window() as (process, said):
        assert said == "ready calm"
        process.kill()
        process.wait()
    assert Path(window_address(app_paths())).exists()  # the stale socket
    with first_window() as (process, said):
        assert said == "ready last_run_ended_badly"
        assert start_again().returncode == 0
        process.terminate()
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0
    assert "Version" in json.loads(out.splitlines()[-1])["problem"]
    with first_window() as (_, said):
        assert said == "ready calm"


@pytest.mark.skipif(sys.platform != "linux", reason="windows are not shown by an X server there")
def test_when_the_screen_goes_the_program_ends_in_peace() -> None:
    mark = app_paths().window_mark_file
    with x_server() as (server, environment):
        process = subprocess.Popen(
            [sys.executable, "-m", "dflash_desktop"],
            cwd=ROOT,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                deadline = time.monotonic() + LIMIT_SECONDS
                while not mark.exists() and time.monotonic() < deadline:
                    time.sleep(0.05)
                assert mark.exists()
                server.terminate()
                _, words = process.communicate(timeout=LIMIT_SECONDS)
            finally:
                process.kill()
    assert process.returncode == 0, words
    assert "Traceback" not in words
    assert not mark.exists()  # else the next start would speak of a crash


@not_windows
def test_a_data_folder_of_its_own_has_a_window_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with first_window():
        monkeypatch.setenv("DFLASH_HOME", str(tmp_path))
        with first_window() as (_, said):
            assert said == "ready calm"


def test_in_folders_that_cannot_be_written_the_window_opens_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"no folder")
    monkeypatch.setenv("DFLASH_HOME", str(tmp_path / "file" / "home"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.scenarios", "look_and_go_on"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["told"] == "home_not_writable"
    assert seen["page"] == "Chat"
    assert "Traceback" not in done.stderr


@pytest.fixture
def listener(qapp: QObject) -> Iterator[Listener]:
    parent = QObject()
    listener = Listener(parent)
    listener.listen(app_paths())
    assert listener.is_listening
    yield listener
    listener.close()


def say(qtbot: QtBot, message: bytes) -> tuple[QLocalSocket, bytes]:
    """Send these bytes, and what came back until the other side hung up."""
    socket = QLocalSocket()
    socket.connectToServer(window_address(app_paths()))
    assert socket.waitForConnected(1000)
    socket.write(message)
    qtbot.waitUntil(
        lambda: socket.state() is QLocalSocket.LocalSocketState.UnconnectedState, timeout=5000
    )
    return socket, cast("bytes", socket.readAll().data())


@pytest.mark.parametrize(
    "message",
    [
        b"hello\n",
        b"\n",
        b"\xff\xfe\n",
        b'{"version": 1, "run": "rm"}\n',
        b'{"version": 2}\n',
        b'{"version": 1, "open": "text"}\n',
        b'{"version": 1, "open": [' + b"[" * 5000 + b"\n",
        b'{"version": 1, "open": ["' + b"a" * 5000 + b'"]}\n',
        b'{"version": 1, "open": [' + b",".join([b'"/"'] * 17) + b"]}\n",
        b"a" * 200_000,
    ],
)
def test_what_no_start_of_the_program_says_is_dropped(
    listener: Listener, qtbot: QtBot, message: bytes
) -> None:
    opened: list[object] = []
    listener.opened.connect(opened.append)
    assert say(qtbot, message)[1] == b""
    assert opened == []
    _, answer = say(qtbot, b'{"version": 1, "open": ["/a"]}\n')
    assert answer == b"taken\n"
    assert opened == [("/a",)]


def test_many_who_say_nothing_do_not_keep_others_out_for_long(
    listener: Listener, qtbot: QtBot
) -> None:
    silent = [QLocalSocket() for _ in range(8)]
    for socket in silent:
        socket.connectToServer(window_address(app_paths()))
        assert socket.waitForConnected(1000)
    qtbot.waitUntil(
        lambda: all(s.state() is QLocalSocket.LocalSocketState.UnconnectedState for s in silent),
        timeout=10_000,
    )
    assert say(qtbot, b'{"version": 1}\n')[1] == b"taken\n"


@not_windows
def test_nobody_else_can_enter_the_folder_of_the_socket(
    listener: Listener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = Path(window_address(app_paths())).parent
    assert folder.stat().st_mode & 0o077 == 0
    # A folder of the session that others may enter is not used.
    tmp_path.chmod(0o755)
    assert (
        tmp_path
        not in Path(
            window_address(app_paths(), environment={"XDG_RUNTIME_DIR": str(tmp_path)})
        ).parents
    )
    tmp_path.chmod(0o700)
    inside = window_address(app_paths(), environment={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert Path(inside).parent == tmp_path or len(os.fsencode(inside)) > 100
