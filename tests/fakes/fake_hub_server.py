"""The HTTP side of the fake hub: answers as the hub does, or as its faults say."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import threading
import time
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.fakes.fake_hub import FakeHub, HubFile, HubRepo, Refusal, SeenRequest
from tests.fakes.fake_hub_forms import listing, tree

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK_BYTES = 1 << 20
_WEB_PAGE = b"<!DOCTYPE html><html><body>Please sign in to the hotel's network</body></html>"


class HubServer(ThreadingHTTPServer):
    """One of the two servers: "hub" or "storage"."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, hub: FakeHub, where: str, *, cert_file: Path | None = None, port: int = 0
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.hub = hub
        self.where = where
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        if cert_file is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(cert_file)

    @property
    def url(self) -> str:
        """Without a slash at the end."""
        return f"{'https' if self._context else 'http'}://127.0.0.1:{self.server_port}"

    def process_request_thread(self, request: Any, client_address: object) -> None:  # noqa: ANN401 - as above it
        """Keep account of open connections, so that closing can end them."""
        if self._context is not None:
            try:
                request = self._context.wrap_socket(request, server_side=True)
            except OSError:
                request.close()
                return
        with self._open_lock:
            self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._open_lock:
                self._open.discard(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""

    def close(self) -> None:
        """End all connections and wait until nobody serves one."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            with self._open_lock:
                open_now = list(self._open)
            if not open_now:
                break
            for connection in open_now:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            time.sleep(0.005)
        self.server_close()


class _RefusedError(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.error_message)
        self.refusal = refusal


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer
    timeout = 60

    def setup(self) -> None:
        super().setup()
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Keep the output of the tests clean."""

    def do_HEAD(self) -> None:
        self._route()

    def do_GET(self) -> None:
        self._route()

    # --- which question is it ----------------------------------------------------------------

    def _route(self) -> None:
        self._file_path = ""
        self._seen: SeenRequest | None = None
        split = urlsplit(self.path)
        path, query = unquote(split.path), parse_qs(split.query)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if path == "/_seen":
                with self.server.hub.lock:
                    seen = [asdict(request) for request in self.server.hub.seen]
                self._send_json(seen)
                return
            try:
                self._answer(path, query)
            except _RefusedError as error:
                self._refuse(error.refusal)
            except KeyError:
                self._refuse(Refusal(404, "EntryNotFound", "Entry not found"))

    def _answer(self, path: str, query: dict[str, list[str]]) -> None:
        if self.server.where == "storage":
            _, _, owner, name, file_path = path.split("/", 4)
            self._storage(self.server.hub.repo(f"{owner}/{name}"), file_path)
        elif path == "/api/whoami-v2":
            self._whoami()
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?", path):
            self._listing(match[1], match[2] or "main", with_blobs="blobs" in query)
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)(/.*)?", path):
            self._tree(match[1], match[2])
        elif match := re.fullmatch(r"/api/resolve-cache/models/([^/]+/[^/]+)/[^/]+/(.+)", path):
            repo = self.server.hub.repo(match[1])
            self._body(repo, repo.file(match[2]))
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(match[1], match[2], match[3])
        else:
            self._refuse(Refusal(404))

    def _whoami(self) -> None:
        if self._token in self.server.hub.valid_tokens:
            self._send_json({"type": "user", "name": "tester"})
        else:
            self._refuse(Refusal(401, "", "Invalid credentials in Authorization header"))

    # --- listings ----------------------------------------------------------------------------

    def _listing(self, repo_id: str, revision: str, *, with_blobs: bool) -> None:
        repo = self._known_repo(repo_id, revision, for_files=False)
        if repo.listing is not None:
            self._send(200, repo.listing.encode(), "application/json")
            return
        self._send_json(listing(repo, with_blobs=with_blobs))

    def _tree(self, repo_id: str, revision: str) -> None:
        repo = self._known_repo(repo_id, revision, for_files=False)
        self._send_json(tree(repo))

    def _known_repo(self, repo_id: str, revision: str, *, for_files: bool) -> HubRepo:
        """Raises `_RefusedError` with the hub's reason."""
        hub = self.server.hub
        token = self._token
        if token and token not in hub.valid_tokens:
            message = "Invalid credentials in Authorization header"
            raise _RefusedError(Refusal(401, "", message))
        repo = next((repo for repo in hub.repos if repo.repo_id == repo_id), None)
        if repo is None or (repo.is_private and token not in repo.accepted_tokens):
            status = 404 if token else 401  # the hub tells nobody what exists
            raise _RefusedError(Refusal(status, "RepoNotFound", "Repository not found"))
        if not for_files:
            self._take_turn(repo.refusal)
        if revision not in (*repo.branches, repo.commit):
            message = f"Invalid rev id: {revision}"
            raise _RefusedError(Refusal(404, "RevisionNotFound", message))
        if for_files and token in repo.tokens_without_right:
            message = (
                "Please enable access to public gated repositories in your fine-grained token "
                "settings to view this repository."
            )
            raise _RefusedError(Refusal(403, "", message))
        if for_files and repo.gated and token not in repo.accepted_tokens:
            message = f"Access to model {repo_id} is restricted"
            raise _RefusedError(Refusal(403 if token else 401, "GatedRepo", message))
        return repo

    # --- files -------------------------------------------------------------------------------

    def _resolve(self, repo_id: str, revision: str, file_path: str) -> None:
        self._file_path = file_path
        repo = self._known_repo(repo_id, revision, for_files=True)
        file = repo.file(file_path)
        if file.refusal is not None and not file.refusal.at_storage:
            self._take_turn(file.refusal)
        if file.is_web_page and not file.is_lfs:
            self._send(200, _WEB_PAGE, "text/html; charset=utf-8")
        elif file.redirects_to:
            self._redirect(302, file.redirects_to, repo, file)
        elif file.is_lfs:
            where = f"{self.server.hub.storage_url}/{file.sha256[:8]}/{repo_id}/"
            self._redirect(302, where + quote(file_path) + "?signature=secret", repo, file)
        elif self.server.hub.redirects_small_files:
            where = f"/api/resolve-cache/models/{repo_id}/{repo.commit}/{quote(file_path)}"
            self._redirect(307, where, repo, file)
        else:
            self._body(repo, file)

    def _redirect(self, status: int, location: str, repo: HubRepo, file: HubFile) -> None:
        headers = self._file_headers(repo, file) | {
            "Location": location,
            "X-Linked-Size": str(file.listed_bytes),
            "X-Linked-Etag": f'"{file.etag}"',
        }
        if file.xet_hash:
            headers["X-Xet-Hash"] = file.xet_hash
            route = f"/api/models/{repo.repo_id}/xet-read-token/{repo.commit}"
            headers["X-Xet-Refresh-Route"] = self.server.hub.url + route
        self._send(status, b"", "text/plain", headers)

    def _storage(self, repo: HubRepo, file_path: str) -> None:
        self._file_path = file_path
        file = repo.file(file_path)
        if self._token:
            # As real storages do: a signed address and a token at once are too much.
            self._refuse(Refusal(400, "", "Only one auth mechanism allowed"))
        else:
            self._take_turn(file.refusal)
            self._body(repo, file)

    def _file_headers(self, repo: HubRepo, file: HubFile) -> dict[str, str]:
        return {
            "X-Repo-Commit": repo.answered_commit or repo.commit,
            "ETag": f'"{file.etag}"',
            "Accept-Ranges": "bytes",
        }

    def _body(self, repo: HubRepo, file: HubFile) -> None:
        self._file_path = file.path
        if file.is_web_page:
            self._send(200, _WEB_PAGE, "text/html; charset=utf-8")
            return
        content = file.content if file.sent_content is None else file.sent_content
        if file.truncated_to is not None:
            content = content[: file.truncated_to]
        start = 0 if file.ignores_range else (self._range_start or 0)
        if start >= len(content) and start:
            headers = {"Content-Range": f"bytes */{len(content)}"}
            self._send(416, b"", "text/plain", headers)
            return
        headers = self._file_headers(repo, file)
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self._send_head(
            206 if start else 200, len(content) - start, "application/octet-stream", headers
        )
        if self.command == "GET":
            with self.server.hub.lock:
                self.server.hub.active += 1
            try:
                self._send_content(file, memoryview(content), start)
            finally:
                with self.server.hub.lock:
                    self.server.hub.active -= 1

    def _send_content(self, file: HubFile, content: memoryview, start: int) -> None:
        ends = [end for end in (file.stall_at, file.drop_at) if end is not None]
        stop = min(ends) if ends and file.times > 0 else None
        if stop is not None and (start < stop or file.times > 1_000_000):
            with self.server.hub.lock:
                file.times -= 1
        else:
            stop = None
        end = len(content) if stop is None else max(start, min(stop, len(content)))
        rate = file.bytes_per_second
        block_bytes = _BLOCK_BYTES if rate is None else max(1, min(_BLOCK_BYTES, rate // 20))
        for position in range(start, end, block_bytes):
            block = content[position : min(position + block_bytes, end)]
            self.wfile.write(block)
            self._count(len(block))
            if rate is not None and self.server.hub.closing.wait(len(block) / rate):
                break
        if stop is None:
            return
        self.close_connection = True
        if stop == file.stall_at:
            self.server.hub.stalled.set()
            self._wait_for_the_end()

    def _wait_for_the_end(self) -> None:
        """Neither send nor close, until the client goes away or the hub closes."""
        self.connection.settimeout(0.05)
        while not self.server.hub.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    # --- answers -----------------------------------------------------------------------------

    @property
    def _token(self) -> str:
        return str(self.headers.get("Authorization", "")).removeprefix("Bearer ")

    @property
    def _range_start(self) -> int | None:
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(match[1]) if match else None

    def _take_turn(self, refusal: Refusal | None) -> None:
        """Give this answer if it has not been given often enough."""
        if refusal is not None and refusal.times > 0:
            refusal.times -= 1
            raise _RefusedError(refusal)

    def _refuse(self, refusal: Refusal) -> None:
        headers = {}
        if refusal.error_code:
            headers["X-Error-Code"] = refusal.error_code
        if refusal.error_message:
            headers["X-Error-Message"] = refusal.error_message
        if refusal.retry_after is not None:
            headers["Retry-After"] = str(refusal.retry_after)
        body = json.dumps({"error": refusal.error_message}).encode()
        self._send(refusal.status, body, "application/json", headers)

    def _send_json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), "application/json")

    def _send(
        self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None
    ) -> None:
        self._send_head(status, len(body), kind, headers or {})
        if self.command != "HEAD":
            self.wfile.write(body)
            self._count(len(body))

    def _send_head(self, status: int, length: int, kind: str, headers: dict[str, str]) -> None:
        self._remember(status)
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(length),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def _remember(self, status: int) -> None:
        """Before the client can know the answer, so that a test never looks too early."""
        self._seen = SeenRequest(
            method=self.command,
            where=self.server.where,
            target=self.path,
            path=self._file_path,
            range_start=self._range_start,
            authorization=self.headers.get("Authorization", ""),
            user_agent=self.headers.get("User-Agent", ""),
            status=status,
        )
        if self.path != "/_seen":
            with self.server.hub.lock:
                self.server.hub.seen.append(self._seen)

    def _count(self, sent_bytes: int) -> None:
        if self._seen is not None:
            self._seen.sent_bytes += sent_bytes
