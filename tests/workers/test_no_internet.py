"""A process without a network has none: neither Python, nor native code, nor its children."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dflash_desktop.workers import no_internet

_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
_FORBID = "from dflash_desktop.workers.no_internet import forbid_internet as f; "


def _run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )


@_LINUX
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_internet_sockets_are_refused_and_those_of_the_machine_are_not(family: str) -> None:
    done = _run(
        f"{_FORBID} import socket; assert f(); socket.socket(socket.AF_UNIX).close()\n"
        "a, b = socket.socketpair(); a.close(); b.close()\n"
        f"try: socket.socket(socket.{family})\n"
        "except PermissionError: print('refused')"
    )
    assert done.stdout == "refused\n", done.stderr


@_LINUX
def test_native_code_and_children_are_refused_too() -> None:
    done = _run(
        f"{_FORBID} import ctypes, subprocess, sys; f()\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.socket(2, 1, 0), ctypes.get_errno(), flush=True)\n"
        "code = 'import socket; socket.socket()'\n"
        "print(subprocess.run([sys.executable, '-c', code], capture_output=True).returncode)"
    )
    assert done.stdout == "-1 13\n1\n", done.stderr


@_LINUX
def test_a_test_can_have_whoever_opens_one_ended() -> None:
    done = _run(
        f"{_FORBID} import socket; f(kills=True); print('on', flush=True); socket.socket()"
    )
    assert (done.stdout, done.returncode) == ("on\n", -31)  # SIGSYS


@pytest.mark.parametrize(
    ("event", "arguments", "is_refused"),
    [
        ("socket.connect", (None, ("93.184.216.34", 443)), True),
        ("socket.connect", (None, ("127.0.0.1", 80)), False),
        ("socket.connect", (None, ("::1", 80, 0, 0)), False),
        ("socket.connect", (None, "/run/a.socket"), False),
        ("socket.sendto", (None, ("8.8.8.8", 53)), True),
        ("socket.getaddrinfo", ("huggingface.co", 443, 0, 0, 0), True),
        ("socket.getaddrinfo", ("localhost", 80, 0, 0, 0), False),
        ("socket.getaddrinfo", (b"example.org", 80, 0, 0, 0), True),
        ("open", ("file", "r", 0), False),
    ],
)
def test_where_the_kernel_cannot_help_pythons_own_calls_are_refused(
    event: str, arguments: tuple[object, ...], is_refused: bool
) -> None:
    if is_refused:
        with pytest.raises(PermissionError, match="no network"):
            no_internet._refuse(event, arguments)
    else:
        no_internet._refuse(event, arguments)


@pytest.mark.parametrize(("value", "off"), [("1", True), ("0", False), ("", False), ("yes", True)])
def test_the_environment_can_keep_the_program_off_the_network(
    monkeypatch: pytest.MonkeyPatch, value: str, off: bool
) -> None:
    monkeypatch.setenv(no_internet.NO_NETWORK_VARIABLE, value)
    assert no_internet.is_network_forbidden() is off
