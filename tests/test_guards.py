"""Each guard of conftest.py bites: a test session of its own, made of tests that misbehave."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guards import is_local

REPOSITORY = Path(__file__).parents[1]

MISBEHAVING = """
import asyncio, logging, os, pathlib, socket, subprocess, sys, threading
import pytest

release = threading.Event()
kept = []


def test_connects_outside():
    with socket.socket() as sock:
        sock.connect(("203.0.113.1", 80))


def test_looks_up_a_name():
    socket.getaddrinfo("example.org", 443)


def test_leaves_a_thread():
    threading.Thread(target=release.wait, args=(20,), name="forgotten", daemon=True).start()


def test_leaves_a_process():
    kept.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))


async def test_leaves_a_task():
    kept.append(asyncio.create_task(asyncio.Event().wait(), name="orphan"))


def test_warns():
    logging.getLogger("dflash_desktop.services.x").warning("the disk is %s", "full")


@pytest.mark.expects_log("the disk is full")
def test_announces_what_never_comes():
    pass


def test_imports_telemetry():
    import openvino_telemetry


@pytest.mark.expects_log("disk is full")
async def test_behaves():
    assert os.environ["DFLASH_HOME"].startswith(str(pathlib.Path.home()))
    assert list(pathlib.Path.home().iterdir()) == []
    logging.getLogger("dflash_desktop.services.x").warning("the disk is %s", "full")
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    _, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()
    await asyncio.to_thread(lambda: None)
    thread = threading.Thread(target=lambda: None)
    thread.start()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
"""


@pytest.fixture(scope="module")
def session_output(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("misbehaving")
    module = folder / "test_misbehaving.py"
    module.write_text(MISBEHAVING, encoding="utf-8")
    quiet = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-o", "addopts=-ra"]
    without_qt = ("-W", "ignore::pytest.PytestConfigWarning")
    configuration = ("-c", REPOSITORY / "pyproject.toml")
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, *without_qt, *configuration, module],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return finished.stdout + finished.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("connects_outside", r"tried to reach \('203\.0\.113\.1', 80\)"),
        ("looks_up_a_name", r"tried to reach \('example\.org',\)"),
        ("leaves_a_thread", r"thread 'forgotten', started at:\n.*in test_leaves_a_thread"),
        ("leaves_a_process", r"process \d+ .*started at:\n.*in test_leaves_a_process"),
        ("leaves_a_task", r"task 'orphan' .*started at:\n.*in test_leaves_a_task"),
        ("warns", r"WARNING dflash_desktop\.services\.x: the disk is full"),
        ("announces_what_never_comes", r"announced, but not in the log: \['the disk is full'\]"),
        ("imports_telemetry", r"import of openvino_telemetry halted"),
    ],
)
def test_a_test_that(name: str, message: str, session_output: str) -> None:
    assert re.search(rf"(FAILED|ERROR) \S*::test_{name}\b", session_output), session_output
    assert re.search(message, session_output, re.DOTALL), session_output


def test_a_test_that_cleans_up_passes(session_output: str) -> None:
    assert "::test_behaves" not in session_output
    assert re.search(r"3 failed, 6 passed, 5 errors in", session_output), session_output


@pytest.mark.parametrize("address", ["/run/x.sock", ("127.0.0.1", 1), ("::1", 1, 0, 0), ("", 0)])
def test_this_machine_is_local(address: object) -> None:
    assert is_local(address)


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80), ("example.org", 80)])
def test_everything_else_is_not(address: object) -> None:
    assert not is_local(address)
