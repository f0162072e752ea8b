"""A package index on this machine that serves one small wheel, well or with a fault."""

from __future__ import annotations

import hashlib
import io
import os
import random
import threading
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from dflash_desktop.services.worker_launch import WorkerCommand, WorkerLauncher, worker_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE, VERSION = "tiny-model", "1.0"
WHEEL_NAME = f"tiny_model-{VERSION}-py3-none-any.whl"
MEMBER = "tiny_model/Tiny Model.gguf"
CONTENT = b"GGUF" + random.Random(0).randbytes(1_500_000)
"""Large enough for pip to show progress, and not compressible."""

SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Fault(StrEnum):
    """How the index misbehaves."""

    NONE = "none"
    NO_PACKAGE = "no_package"  # the index answers, but does not know it
    NO_FILE = "no_file"  # the file that it lists is not there
    CUT = "cut"  # the connection closes half-way, each time
    CUT_ONCE = "cut_once"  # the first time only
    STALLS = "stalls"  # half of it arrives, then nothing, and the connection stays open
    WEB_PAGE = "web_page"  # a sign-in page in place of the file
    RUBBISH = "rubbish"  # bytes that are no wheel
    WRONG_HASH = "wrong_hash"  # the index promises another hash than the file has


def tiny_wheel(content: bytes = CONTENT, member: str = MEMBER) -> bytes:
    """A valid wheel that holds `content`."""
    info = f"tiny_model-{VERSION}.dist-info"
    packed = io.BytesIO()
    members: dict[str, str | bytes] = {
        member: content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {VERSION}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    sizes = [f"{name},,{len(data)}\n" for name, data in members.items()]
    members[f"{info}/RECORD"] = "".join((*sizes, f"{info}/RECORD,,\n"))
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)  # with one date, always the same
    return packed.getvalue()


@dataclass
class PackageIndex:
    """What a running index offers and saw."""

    wheel: bytes
    wheel_name: str
    fault: Fault
    url: str = ""
    half_sent: threading.Event = field(default_factory=threading.Event)
    file_requests: int = 0
    file_starts: list[int] = field(default_factory=list)  # where each whole answer began

    def environment(self) -> dict[str, str]:
        """This process's environment with settings of pip for this index and no others."""
        kept = {name: v for name, v in worker_environment().items() if name[:4] != "PIP_"}
        return kept | {
            "PIP_INDEX_URL": self.url,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DEFAULT_TIMEOUT": "1",
            "PIP_RETRIES": "0",
            "NO_PROXY": "127.0.0.1",
        }


class IndexLauncher(WorkerLauncher):
    """A launcher whose fetcher knows only one index."""

    def __init__(self, *, index: PackageIndex, log_dir: Path) -> None:
        super().__init__(log_dir=log_dir)
        self._index = index

    def fetch(self) -> WorkerCommand:
        """The real fetcher."""
        command = super().fetch()
        return replace(command, env=self._index.environment())


class _Server(ThreadingHTTPServer):
    def __init__(self, index: PackageIndex) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.index = index
        self.closing = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        index = self.server.index
        if self.path.endswith(".whl"):
            index.file_requests += 1
            self._send_wheel(index)
        elif index.fault is Fault.NO_PACKAGE:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            promise = f"#sha256={'0' * 64}" if index.fault is Fault.WRONG_HASH else ""
            link = f'<a href="/files/{index.wheel_name}{promise}">{index.wheel_name}</a>'
            page = f"<!DOCTYPE html><html><body>{link}</body></html>"
            self._send(page.encode(), "text/html")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Keep the output of the tests clean."""

    def _send_wheel(self, index: PackageIndex) -> None:
        match index.fault:
            case Fault.NO_FILE:
                self.send_error(HTTPStatus.NOT_FOUND)
            case Fault.WEB_PAGE:
                self._send(b"<!DOCTYPE html><html>Please sign in</html>", "text/html")
            case Fault.RUBBISH:
                self._send(CONTENT, "application/octet-stream")
            case Fault.CUT | Fault.STALLS:
                self._send_half(index)
            case Fault.CUT_ONCE if index.file_requests == 1:
                self._send_half(index)
            case _:
                self._send(index.wheel, "application/octet-stream")

    def _send_half(self, index: PackageIndex) -> None:
        self._send_head(HTTPStatus.OK, len(index.wheel), "application/octet-stream")
        self.wfile.write(index.wheel[: len(index.wheel) // 2])
        self.wfile.flush()
        index.half_sent.set()
        if index.fault is Fault.STALLS:
            self.server.closing.wait()
        self.close_connection = True

    def _send(self, body: bytes, kind: str) -> None:
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        self._send_head(
            HTTPStatus.PARTIAL_CONTENT if start else HTTPStatus.OK, len(body) - start, kind
        )
        if self.path.endswith(".whl"):
            self.server.index.file_starts.append(start)
        self.wfile.write(body[start:])

    def _send_head(self, status: HTTPStatus, length: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", '"one"')
        self.end_headers()


@contextmanager
def package_index(
    fault: Fault = Fault.NONE, *, wheel: bytes | None = None, wheel_name: str = WHEEL_NAME
) -> Iterator[PackageIndex]:
    """An index that runs while the context is open."""
    index = PackageIndex(wheel or tiny_wheel(), wheel_name, fault)
    server = _Server(index)
    index.url = f"http://127.0.0.1:{server.server_port}/simple/"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="package index")
    thread.start()
    try:
        yield index
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
