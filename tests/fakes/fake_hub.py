"""A hub on this machine: what it offers, how it misbehaves, and what it was asked.

`serve(hub)` runs it on two ports: the hub itself and, under another origin, the storage that large
files are redirected to. As a program, for tests that need it in a process of its own:
`python -m tests.fakes.fake_hub description.json` prints one line of JSON with its addresses and
ends when its standard input does; `GET /_seen` then tells what was asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

ALWAYS = 1_000_000_000
GOOD_TOKEN = "hf_good"  # noqa: S105 - no secret
COMMIT = "c0ffee" + "0" * 34


@dataclass
class Refusal:
    """An error answer in the hub's own form; `times` counts down."""

    status: int
    error_code: str = ""  # X-Error-Code: GatedRepo, RepoNotFound, EntryNotFound, RevisionNotFound
    error_message: str = ""
    retry_after: int | None = None
    times: int = ALWAYS
    at_storage: bool = False  # of a large file: not the hub but the storage answers so


@dataclass
class HubFile:
    """One file with its content, and what goes wrong with it; positions are in the file.

    `times` says how many answers a stall or a drop spoils; one that begins behind it is spoilt
    only when it always does so.
    """

    path: str
    content: bytes = b""
    random_bytes: int = 0  # makes content of this size from `seed`
    seed: int = 0
    is_large: bool | None = None  # None: from 100,000 bytes on
    stall_at: int | None = None
    drop_at: int | None = None
    times: int = ALWAYS
    ignores_range: bool = False
    is_web_page: bool = False  # a sign-in page with status 200
    sent_content: bytes | None = None  # other bytes than the listing's hash is of
    truncated_to: int | None = None  # a whole, well-formed answer that is too short
    announced_bytes: int | None = None  # the size that listing and headers claim
    bytes_per_second: int | None = None
    refusal: Refusal | None = None
    xet_hash: str = ""
    redirects_to: str = ""  # in place of the storage

    def __post_init__(self) -> None:
        if self.random_bytes:
            source = random.Random(self.seed)
            whole, rest = divmod(self.random_bytes, 50_000_000)  # it makes no more at once
            self.content = b"".join(
                source.randbytes(size) for size in (*[50_000_000] * whole, rest)
            )

    @property
    def is_lfs(self) -> bool:
        """Whether it lies in the storage, known by its sha256."""
        return len(self.content) >= 100_000 if self.is_large is None else self.is_large

    @property
    def listed_bytes(self) -> int:
        """The size that the hub announces."""
        return len(self.content) if self.announced_bytes is None else self.announced_bytes

    @cached_property
    def sha256(self) -> str:
        """Of the true content."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def blob_id(self) -> str:
        """Git's name of the blob: for a large file that of its pointer, as the hub has it."""
        body = self.content
        if self.is_lfs:
            body = (
                "version https://git-lfs.github.com/spec/v1\n"
                f"oid sha256:{self.sha256}\nsize {len(self.content)}\n"
            ).encode()
        return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()

    @property
    def etag(self) -> str:
        """As in the hub's headers and in the names of its cache's blobs."""
        return self.sha256 if self.is_lfs else self.blob_id


@dataclass
class HubRepo:
    """One repository; change `commit` or `files` while it runs to change it under the client."""

    repo_id: str
    files: list[HubFile]
    commit: str = COMMIT
    branches: list[str] = field(default_factory=lambda: ["main"])
    licence: str = "apache-2.0"
    gated: str = ""  # "auto" or "manual": files need a token of `accepted_tokens`
    is_private: bool = False  # everything needs one
    accepted_tokens: list[str] = field(default_factory=lambda: [GOOD_TOKEN])
    tokens_without_right: list[str] = field(default_factory=list)  # fine-grained ones
    refusal: Refusal | None = None  # of its listing
    answered_commit: str = ""  # what the files' headers claim, if not `commit`
    listing: str | None = None  # raw JSON in place of the true listing

    def file(self, path: str) -> HubFile:
        """Raises `KeyError`."""
        for file in self.files:
            if file.path == path:
                return file
        raise KeyError(path)


@dataclass
class SeenRequest:
    """One request and what was sent in answer; the bytes grow while they are sent."""

    method: str
    where: str  # "hub" or "storage"
    target: str  # path and query as asked
    path: str  # of the file, or empty
    range_start: int | None
    authorization: str
    user_agent: str
    status: int
    sent_bytes: int = 0


@dataclass
class FakeHub:
    """What a running hub offers and saw; change it at any time."""

    repos: list[HubRepo] = field(default_factory=list)
    valid_tokens: list[str] = field(default_factory=lambda: [GOOD_TOKEN])
    redirects_small_files: bool = True  # to its own cache by a relative address, as the hub does
    url: str = ""
    storage_url: str = ""
    seen: list[SeenRequest] = field(default_factory=list)
    active: int = 0  # answers with a body that are being sent now

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.stalled = threading.Event()  # set when an answer has stalled
        self.closing = threading.Event()

    def repo(self, repo_id: str) -> HubRepo:
        """Raises `KeyError`."""
        for repo in self.repos:
            if repo.repo_id == repo_id:
                return repo
        raise KeyError(repo_id)

    def bodies(self, path: str) -> list[SeenRequest]:
        """The answers that brought bytes of this file."""
        with self.lock:
            return [
                seen
                for seen in self.seen
                if seen.path == path and seen.method == "GET" and seen.status in (200, 206)
            ]

    def sent_bytes(self, path: str) -> int:
        """How much of this file was sent in all."""
        return sum(seen.sent_bytes for seen in self.bodies(path))


def small_repo(repo_id: str = "team/tiny-model", *, weights_bytes: int = 3_000_000) -> HubRepo:
    """A model as small as a test likes: three small files and a large one."""
    return HubRepo(
        repo_id,
        [
            HubFile("config.json", b'{"model_type": "tiny"}'),
            HubFile("openvino_model.xml", b"<net/>" * 300),
            HubFile("openvino_model.bin", random_bytes=weights_bytes, seed=len(repo_id)),
            HubFile("assets/tokenizer Ä 模.json", b"{}" * 50),
        ],
    )


@contextmanager
def serve(hub: FakeHub, *, cert_file: Path | None = None, port: int = 0) -> Iterator[FakeHub]:
    """The hub, running while the context is open; `cert_file` (chain and key in PEM) means TLS."""
    from tests.fakes.fake_hub_server import HubServer

    # Tests keep children off the network by this variable; this hub is no network.
    offline = os.environ.pop("HF_HUB_OFFLINE", None)
    hub.closing.clear()
    servers = [
        HubServer(hub, "hub", cert_file=cert_file, port=port),
        HubServer(hub, "storage", cert_file=cert_file),
    ]
    hub.url, hub.storage_url = (server.url for server in servers)
    threads = [
        threading.Thread(target=server.serve_forever, args=(0.02,), name="fake hub")
        for server in servers
    ]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        if offline is not None:
            os.environ["HF_HUB_OFFLINE"] = offline
        hub.closing.set()
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.close()


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """(file for `cert_file`, file of the authority that signed it) for 127.0.0.1."""
    import trustme

    authority = trustme.CA(organization_name="Company Proxy")
    own = authority.issue_cert("127.0.0.1", "localhost")
    served, trusted = folder / "served.pem", folder / "authority.pem"
    own.private_key_and_cert_chain_pem.write_to_path(str(served))
    authority.cert_pem.write_to_path(str(trusted))
    return served, trusted


def main(description: Path) -> None:
    """Serve what the JSON file describes until standard input ends."""
    hub = msgspec.json.decode(description.read_bytes(), type=FakeHub)
    with serve(hub):
        print(json.dumps({"url": hub.url, "storage_url": hub.storage_url}), flush=True)  # noqa: T201
        sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
