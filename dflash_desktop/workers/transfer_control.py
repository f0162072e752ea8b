"""What the files of a transfer share: stopping all of them at once, and one bandwidth."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING

from dflash_desktop.workers.hub_faults import CancelledHereError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2


class TransferControl:
    """Stops every file of a transfer within moments, and holds them all to one pace."""

    def __init__(self, *, max_bytes_per_second: int | None) -> None:
        self.last_sign_of_life = time.monotonic()
        self._rate = max_bytes_per_second
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._next_free = 0.0  # when the bandwidth that was given out will have been used up

    def stop(self) -> None:
        """Let every file end: those that wait for bytes wake up, since their sockets close."""
        self._stopped.set()
        with self._lock:
            for each in self._sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def check(self) -> None:
        """Call it often: it tells that something goes on. Raises `CancelledHereError`."""
        self.last_sign_of_life = time.monotonic()
        if self._stopped.is_set():
            raise CancelledHereError

    def sleep(self, seconds: float) -> None:
        """Raises `CancelledHereError` as soon as all is stopped."""
        self.last_sign_of_life = time.monotonic() + seconds
        if self._stopped.wait(seconds):
            raise CancelledHereError

    def take_bandwidth(self, size_bytes: int) -> None:
        """Wait until so many bytes may have arrived. Raises `CancelledHereError`."""
        if self._rate is None:
            return
        with self._lock:
            begin = max(self._next_free, time.monotonic())
            self._next_free = begin + size_bytes / self._rate
            wait = self._next_free - time.monotonic()
        if wait > 0:
            self.sleep(wait)

    @contextlib.contextmanager
    def watching(self, response: httpx2.Response) -> Iterator[None]:
        """While open, `stop` ends this answer, too."""
        stream = response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if stream is not None else None
        if not isinstance(connection, socket.socket):
            yield
            return
        with self._lock:
            self._sockets.add(connection)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._sockets.discard(connection)
