"""What tests must not do: reach a network, leave tasks, threads or processes, warn by surprise.

The fixtures in conftest.py apply these to every test; test_guards.py shows that each one bites.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
import subprocess
import threading
import time
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from contextvars import Context

UNKNOWN = "  (before the test, or not by Python code)\n"

_T = TypeVar("_T")

GRACE_SECONDS = 2.0
"""What is on its way out when a test ends may take this long."""

_LIBRARY_THREADS = re.compile(r"^(asyncio_\d|ThreadPoolExecutor)")
"""Pool threads of the standard library: they end with their loop, after the test's own code."""


_NOT_THE_CALLER = re.compile(
    r"[/\\]lib[/\\](python3\.\d+[/\\])?(?!python|site-packages)|^<frozen|_pytest[/\\]|pluggy[/\\]",
    re.IGNORECASE,
)
"""Files of the standard library and of pytest: frames there say nothing about who started it."""


class NetworkBlockedError(Exception):
    """A test tried to leave this machine."""


def is_local(address: object) -> bool:
    """Unix sockets and loopback addresses; a name counts only if it is "localhost"."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


@contextmanager
def no_network() -> Iterator[None]:
    """Every connection and name look-up beyond loopback raises `NetworkBlockedError`."""
    connect: Callable[..., object] = socket.socket.connect
    connect_ex: Callable[..., object] = socket.socket.connect_ex
    getaddrinfo: Callable[..., object] = socket.getaddrinfo

    def local_connect(self: socket.socket, address: object) -> object:
        _refuse_unless_local(address)
        return connect(self, address)

    def local_connect_ex(self: socket.socket, address: object) -> object:
        _refuse_unless_local(address)
        return connect_ex(self, address)

    def local_getaddrinfo(host: object, *arguments: object, **options: object) -> object:
        name = host.decode() if isinstance(host, bytes) else host
        _refuse_unless_local((name or "",))
        return getaddrinfo(host, *arguments, **options)

    with (
        _patched(socket.socket, {"connect": local_connect, "connect_ex": local_connect_ex}),
        _patched(socket, {"getaddrinfo": local_getaddrinfo}),
    ):
        yield


def _refuse_unless_local(address: object) -> None:
    if not is_local(address):
        raise NetworkBlockedError(f"a test tried to reach {address!r}")


class LeakWatch:
    """Remembers where threads, processes and tasks were started, and tells which are left over."""

    def __init__(self) -> None:
        self._thread_origins: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()
        self._task_origins: WeakKeyDictionary[asyncio.Future[Any], str] = WeakKeyDictionary()
        self._process_origins: dict[int, str] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """While open, every start of a thread or process is remembered with its call site."""
        start_thread = threading.Thread.start
        start_process: Callable[..., None] = subprocess.Popen.__init__

        def start(thread: threading.Thread) -> None:
            self._thread_origins[thread] = _call_site()
            start_thread(thread)

        def init(process: subprocess.Popen[Any], *arguments: object, **options: object) -> None:
            start_process(process, *arguments, **options)
            self._process_origins[process.pid] = _call_site()

        with (
            _patched(threading.Thread, {"start": start}),
            _patched(subprocess.Popen, {"__init__": init}),
        ):
            yield

    def remember_tasks_of(self, loop: asyncio.AbstractEventLoop) -> None:
        """Every task that `loop` makes from now on is remembered with its call site."""

        def make(
            loop: asyncio.AbstractEventLoop,
            coroutine: Coroutine[Any, Any, Any],
            context: Context | None = None,
        ) -> asyncio.Task[Any]:
            task = asyncio.Task(coroutine, loop=loop, context=context)
            self._task_origins[task] = _call_site()
            return task

        loop.set_task_factory(make)  # type: ignore[arg-type]  # generators are no longer tasks

    @staticmethod
    def threads() -> set[threading.Thread]:
        """The threads that run now."""
        return set(threading.enumerate())

    @staticmethod
    def processes() -> set[psutil.Process]:
        """The living descendants of this process; zombies are only unread exit codes."""
        return {child for child in psutil.Process().children(recursive=True) if _is_alive(child)}

    def left_threads(self, before: set[threading.Thread]) -> list[str]:
        """Threads that are not in `before` and do not end within the grace time."""

        def left() -> set[threading.Thread]:
            return {t for t in self.threads() - before if not _LIBRARY_THREADS.match(t.name)}

        return [
            f"thread {thread.name!r}, started at:\n{self._thread_origins.get(thread, UNKNOWN)}"
            for thread in _wait_until_empty(left)
        ]

    def left_processes(self, before: set[psutil.Process]) -> list[str]:
        """Child processes that are not in `before`; killed, so that the next test starts clean."""
        reports = []
        for process in _wait_until_empty(lambda: self.processes() - before):
            try:
                command = " ".join(process.cmdline())
                process.kill()
            except psutil.NoSuchProcess:
                continue
            origin = self._process_origins.get(process.pid, UNKNOWN)
            reports.append(f"process {process.pid} ({command}), started at:\n{origin}")
        return reports

    def left_tasks(self) -> list[str]:
        """Tasks of the running loop besides the one that asks."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        return [
            f"task {task.get_name()!r} ({task.get_coro()}), "
            f"started at:\n{self._task_origins.get(task, UNKNOWN)}"
            for task in tasks
            if not task.done()
        ]


class UnexpectedLogs(logging.Handler):
    """Collects warnings and errors of the program that a test did not announce."""

    def __init__(self, expected: Sequence[str]) -> None:
        super().__init__(logging.WARNING)
        self._expected = dict.fromkeys(expected, False)
        self.unexpected: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging, from any thread."""
        text = f"{record.name}: {record.getMessage()}"
        matching = [pattern for pattern in self._expected if re.search(pattern, text)]
        for pattern in matching:
            self._expected[pattern] = True
        if not matching:
            raised = (
                "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
            )
            self.unexpected.append(f"{record.levelname} {text}\n{raised}")

    @property
    def missing(self) -> list[str]:
        """Announced patterns that nothing matched."""
        return [pattern for pattern, seen in self._expected.items() if not seen]


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _wait_until_empty(left: Callable[[], set[_T]]) -> set[_T]:
    deadline = time.monotonic() + GRACE_SECONDS
    while (found := left()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def _call_site() -> str:
    """The innermost frames that are neither this module's nor the standard library's."""
    frames = [
        frame
        for frame in traceback.extract_stack()
        if frame.filename != __file__ and not _NOT_THE_CALLER.search(frame.filename)
    ]
    return "".join(traceback.format_list(frames[-4:])) or UNKNOWN


@contextmanager
def _patched(owner: object, replacements: dict[str, Callable[..., Any]]) -> Iterator[None]:
    originals = {name: getattr(owner, name) for name in replacements}
    for name, replacement in replacements.items():
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(owner, name, original)
