from __future__ import annotations

import contextlib
import os
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.workers.certificate_issuer import issuer_of
from dflash_desktop.workers.fetch_messages import HubAccess, ReposPlanned
from dflash_desktop.workers.hub_faults import scrubbed
from dflash_desktop.workers.hub_session import prepare_environment
from dflash_desktop.workers.protocol import Failed
from tests.fakes.fake_hub import GOOD_TOKEN, small_repo, write_certificate
from tests.workers.hub_client import client, one_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Proxy(BaseHTTPRequestHandler):
    """Says where it was asked to go; takes nobody there."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(407)

    def do_CONNECT(self) -> None:
        self.asked.append(self.path)
        self.send_error(407)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Keep the output of the tests clean."""


@contextlib.contextmanager
def refusing_proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that lets nobody through, and what it was asked for."""
    asked: list[str] = []
    handler = type("Handler", (_Proxy,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="proxy")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_an_own_certificate_authority_is_trusted_and_the_files_arrive(tmp_path: Path) -> None:
    served, trusted = write_certificate(tmp_path)
    with client(tmp_path, small_repo(), cert_file=served) as asked:
        asked.access = replace_access(asked.access, ca_file=str(trusted))
        asked.fetch_well()
        asked.assert_whole()


def test_a_certificate_of_a_stranger_is_told_with_issuer_and_host(tmp_path: Path) -> None:
    served, _ = write_certificate(tmp_path)
    with client(tmp_path, small_repo(), cert_file=served) as asked:
        failed = asked.ask_plan()
    assert isinstance(failed, Failed)
    assert failed.code == "certificate", failed
    assert failed.words == {"host": "127.0.0.1", "issuer": "Company Proxy"}


def test_a_certificate_that_cannot_be_read_has_no_issuer(tmp_path: Path) -> None:
    served, _ = write_certificate(tmp_path)
    lines = served.read_text().splitlines()
    begin = lines.index("-----BEGIN CERTIFICATE-----")
    end = lines.index("-----END CERTIFICATE-----")
    der = ssl.PEM_cert_to_DER_cert("\n".join(lines[begin : end + 1]))
    assert issuer_of(der) == "Company Proxy"
    for cut in range(0, len(der), 7):
        assert issuer_of(der[:cut]) == ""
    assert issuer_of(b"\xff" * 500) == ""


def test_a_file_that_is_no_certificate_is_told(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    with client(tmp_path, small_repo()) as asked:
        for file in (wrong, tmp_path / "missing.pem"):
            asked.access = replace_access(asked.access, ca_file=str(file))
            failed = asked.ask_plan()
            assert isinstance(failed, Failed)
            assert failed.code == "ca_file_unreadable"
            assert failed.words["file"] == str(file)


def test_a_proxy_of_the_settings_is_asked_and_its_refusal_told(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked, refusing_proxy() as (proxy, seen):
        secret = proxy.replace("://", "://someone:secret@")
        asked.access = replace_access(asked.access, proxy=secret)
        failed = asked.ask_plan()
        assert not asked.hub.seen
    assert isinstance(failed, Failed)
    assert failed.code == "proxy", failed
    assert "secret" not in failed.raw
    assert seen


@pytest.mark.parametrize("is_there", [True, False])
def test_a_proxy_of_the_environment_is_used(is_there: bool, tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked, contextlib.ExitStack() as stack:
        proxy, seen = stack.enter_context(refusing_proxy())
        os.environ["HTTP_PROXY"] = os.environ["http_proxy"] = proxy
        os.environ.pop("NO_PROXY", None)
        os.environ.pop("no_proxy", None)
        if not is_there:
            stack.close()
        failed = asked.ask_plan()
        assert not asked.hub.seen
    assert isinstance(failed, Failed)
    assert failed.code == "proxy", failed
    assert bool(seen) == is_there


def test_a_proxy_address_that_is_none_is_told(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked:
        for proxy in ("socks9://x", "nonsense"):
            asked.access = replace_access(asked.access, proxy=proxy)
            failed = asked.ask_plan()
            assert isinstance(failed, Failed)
            assert failed.code == "proxy_invalid", failed


def test_a_hub_that_is_not_there_cannot_be_reached(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    with client(tmp_path, small_repo()) as asked:
        for endpoint, code in (
            (nobody, "hub_unreachable"),
            ("ftp://127.0.0.1", "endpoint_invalid"),
            ("127.0.0.1", "endpoint_invalid"),
            ("http://[bad", "endpoint_invalid"),
            ("http://host:port", "endpoint_invalid"),
            ("https://", "endpoint_invalid"),
        ):
            asked.access = HubAccess(endpoint=endpoint)
            failed = asked.ask_plan()
            assert isinstance(failed, Failed)
            assert failed.code == code, failed


@pytest.mark.parametrize(
    "location",
    [
        "http://[bad",
        "http://host:99999999/x",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "///",
        "\x7f",
        "http://",
    ],
)
def test_a_redirect_to_nowhere_is_the_hubs_fault(location: str, tmp_path: Path) -> None:
    with client(tmp_path, one_file(redirects_to=location)) as asked:
        failed = asked.fetch_badly()
    assert failed.code in ("hub_refused", "file_not_found", "not_found"), failed


def test_a_redirect_in_a_circle_ends(tmp_path: Path) -> None:
    repo = one_file()
    with client(tmp_path, repo) as asked:
        (plan,) = asked.plan()
        path = plan.files[0].path
        repo.files[0].redirects_to = f"/team/model/resolve/main/{path}"
        assert asked.fetch_badly((plan,)).code == "hub_refused"
    assert len(asked.hub.seen) < 15


def test_a_name_that_no_server_knows_means_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*arguments: object, **options: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with client(tmp_path, small_repo()) as asked:
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        asked.access = HubAccess()
        os.environ.pop("HF_ENDPOINT", None)
        offline = asked.ask_plan()
        asked.access = HubAccess(endpoint="http://mirror.invalid")
        mirror = asked.ask_plan()
    assert isinstance(offline, Failed)
    assert isinstance(mirror, Failed)
    assert (offline.code, mirror.code) == ("offline", "hub_unreachable")
    assert mirror.words["host"] == "mirror.invalid"


def test_a_hub_that_accepts_and_says_nothing_is_stalled(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        asked.access = HubAccess(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        asked.answer_seconds = 0.3
        failed = asked.ask_plan()
    assert isinstance(failed, Failed)
    assert failed.code == "stalled", failed


def test_the_hubs_own_switch_for_no_downloads_is_respected(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked:
        os.environ["HF_HUB_OFFLINE"] = "1"
        failed = asked.ask_plan()
        del os.environ["HF_HUB_OFFLINE"]
        assert isinstance(asked.ask_plan(), ReposPlanned)
    assert isinstance(failed, Failed)
    assert failed.code == "offline_mode"


def test_the_token_is_no_part_of_the_environment_or_of_a_description(tmp_path: Path) -> None:
    before = dict(os.environ)
    try:
        os.environ["HF_DEBUG"] = "1"  # it would print requests with their headers
        access = HubAccess(endpoint="https://mirror.example", token=GOOD_TOKEN)
        prepare_environment(access, own_folder=tmp_path, use_xet=False)
        assert GOOD_TOKEN not in str(dict(os.environ))
        assert "HF_DEBUG" not in os.environ
        assert os.environ["HF_ENDPOINT"] == "https://mirror.example"
        assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
        assert GOOD_TOKEN not in f"{access!r} {access}"
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_texts_for_details_are_freed_of_secrets() -> None:
    access = HubAccess(token="hf_abc", proxy="http://me:pass@proxy:3128")  # noqa: S106 - no secret
    text = (
        "GET https://cdn.example/file?X-Amz-Signature=123 with hf_abc through "
        "http://me:pass@proxy:3128 or http://other:word@proxy"
    )
    assert scrubbed(text, access) == (
        "GET https://cdn.example/file?… with … through … or http://…@proxy"
    )


def replace_access(access: HubAccess, **changes: str) -> HubAccess:
    """`access` with some of its fields changed."""
    fields = {name: getattr(access, name) for name in ("endpoint", "token", "proxy", "ca_file")}
    return HubAccess(**(fields | changes))
