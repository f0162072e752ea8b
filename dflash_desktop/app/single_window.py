"""One window for each data folder: the first start owns it, later ones hand over and end.

The lock says who is first, since the system frees it however a process ends; the socket only
carries what a later start has to say. A socket that nobody listens at is therefore stale.
"""

from __future__ import annotations

import logging
import sys
import time
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from dflash_desktop.services.opened_path import MAX_PATH_CHARACTERS
from dflash_desktop.services.window_address import window_address

if TYPE_CHECKING:
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.install_lock import InstallLock

_log = logging.getLogger(__name__)

PATIENCE_SECONDS: Final = 5.0
"""How long a later start waits for the first window: it may be starting or closing just now."""
_PAUSE_SECONDS: Final = 0.1
_CONNECT_MS: Final = 1000
_ANSWER_MS: Final = 3000
_SPEAKING_MS: Final = 3000
_MAX_SPEAKERS: Final = 8
_MAX_MESSAGE_BYTES: Final = 65_536
_TAKEN: Final = b"taken\n"

_Path = Annotated[str, msgspec.Meta(max_length=MAX_PATH_CHARACTERS)]


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that another start can ask for: to come to the front, and to offer these."""

    version: Literal[1]
    open: Annotated[tuple[_Path, ...], msgspec.Meta(max_length=16)] = ()


class Entry(Enum):
    """What became of this start."""

    FIRST = auto()
    ALONE = auto()  # nobody can tell, since no lock can be made: the folder is write-protected
    HANDED_OVER = auto()
    NO_ANSWER = auto()


def enter(paths: AppPaths, lock: InstallLock, files: tuple[str, ...]) -> Entry:
    """Become the first window, or tell the one that is about `files`. Blocking, for seconds.

    Words for `NO_ANSWER` go to standard error and into a box.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            if lock.acquire():
                return Entry.FIRST
        except OSError:
            return Entry.ALONE
        if _hand_over(paths, files):
            return Entry.HANDED_OVER
        if time.monotonic() > deadline:
            _say_no_answer()
            return Entry.NO_ANSWER
        time.sleep(_PAUSE_SECONDS)


def _hand_over(paths: AppPaths, files: tuple[str, ...]) -> bool:
    """Whether the first window took it."""
    try:
        address = window_address(paths)
    except OSError:
        return False
    _let_come_to_the_front()
    socket = QLocalSocket()
    socket.connectToServer(address)
    if not socket.waitForConnected(_CONNECT_MS):
        return False
    kept = tuple(file[:MAX_PATH_CHARACTERS] for file in files[:16])
    message = msgspec.json.encode(
        _Message(1, tuple(k.encode("utf-8", "replace").decode() for k in kept))
    )
    socket.write(message + b"\n")
    answer = b""
    while not answer.endswith(b"\n") and socket.waitForReadyRead(_ANSWER_MS):
        answer += socket.readAll().data()
    socket.close()
    return answer == _TAKEN


def _let_come_to_the_front() -> None:
    """Windows lets a program take the front only if the one that is there allows it."""
    if sys.platform == "win32":
        import ctypes

        any_process = -1
        ctypes.windll.user32.AllowSetForegroundWindow(any_process)


def _say_no_answer() -> None:
    from dflash_desktop.app.word_box import say_in_box

    say_in_box(
        "DFlash Desktop is open already, but its window does not answer.",
        "Wait a little, then try again. If it stays like that, end the program dflash-desktop "
        "with the system's list of processes; what was saved is kept.",
    )


class Listener(QObject):
    """Hears later starts. Signals: `opened(tuple of texts)`, to come to the front with these.

    What is not exactly such a message is dropped without an answer: too long, too slow, too many
    at once, other fields.
    """

    opened = Signal(tuple)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.setMaxPendingConnections(_MAX_SPEAKERS)
        self._server.newConnection.connect(self._on_connection)
        self._speakers: dict[QLocalSocket, bytes] = {}

    def listen(self, paths: AppPaths) -> None:
        """Begin; only for the holder of the window's lock. Without a socket it goes without."""
        try:
            address = window_address(paths)
        except OSError as error:
            _log.info("later starts cannot reach this window: %s", error)
            return
        # Qt puts its socket in the place of one that a crashed run left; nobody else has the lock.
        if not self._server.listen(address):
            _log.info("later starts cannot reach this window: %s", self._server.errorString())

    @property
    def is_listening(self) -> bool:
        """Whether later starts are heard."""
        return self._server.isListening()

    def close(self) -> None:
        """Hear nobody any more."""
        self._server.close()
        for socket in tuple(self._speakers):
            socket.abort()

    def _on_connection(self) -> None:
        while self._server.hasPendingConnections():
            socket = self._server.nextPendingConnection()
            if len(self._speakers) >= _MAX_SPEAKERS:
                socket.abort()
                socket.deleteLater()
                continue
            self._speakers[socket] = b""
            socket.setReadBufferSize(_MAX_MESSAGE_BYTES)
            socket.readyRead.connect(partial(self._on_bytes, socket))
            socket.disconnected.connect(partial(self._forget, socket))
            QTimer.singleShot(_SPEAKING_MS, socket, socket.abort)
            self._on_bytes(socket)

    def _on_bytes(self, socket: QLocalSocket) -> None:
        if socket not in self._speakers:
            return
        heard = self._speakers[socket] + socket.readAll().data()
        self._speakers[socket] = heard
        line, end, _ = heard.partition(b"\n")
        if len(line) > _MAX_MESSAGE_BYTES:
            socket.abort()
        elif end:
            self._take(socket, line)

    def _take(self, socket: QLocalSocket, line: bytes) -> None:
        del self._speakers[socket]
        try:
            message = msgspec.json.decode(line, type=_Message)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            _log.info("another program said what no start of this one says: %s", error)
            socket.abort()
        else:
            socket.write(_TAKEN)
            socket.disconnectFromServer()
            self.opened.emit(message.open)

    def _forget(self, socket: QLocalSocket) -> None:
        self._speakers.pop(socket, None)
        socket.deleteLater()
