"""The way to a hub: settings, certificates, proxy, token, and requests that follow redirects.

huggingface_hub reads its settings from the environment when it is imported, so they are put
there first, in this process only. The token is not among them: it goes into the header of
requests to the hub's own address, and to no other.
"""

from __future__ import annotations

import contextlib
import os
import re
import ssl
from typing import TYPE_CHECKING, Final

from dflash_desktop import __version__
from dflash_desktop.domain.file_names import unsafe_reason
from dflash_desktop.domain.transfer import incoming_folder_name
from dflash_desktop.workers.certificate_issuer import issuer_seen_at
from dflash_desktop.workers.hub_addresses import endpoint_of, joined, origin
from dflash_desktop.workers.hub_faults import HubFaultError, fault_of_error, fault_of_response
from dflash_desktop.workers.hub_http import http_client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx2
    from huggingface_hub.hf_api import ModelInfo

    from dflash_desktop.workers.fetch_messages import HubAccess

PRODUCT: Final = "dflash-desktop"
_CONNECT_SECONDS: Final = 20.0
_MAX_REDIRECTS: Final = 10
_UNREADABLE: Final = (
    *(ValueError, TypeError, AttributeError),
    *(LookupError, ArithmeticError, RecursionError),
)
_TRUE: Final = frozenset({"1", "on", "yes", "true"})


def prepare_environment(access: HubAccess, *, own_folder: Path, use_xet: bool) -> None:
    """Set what huggingface_hub reads at its import; call it before that, and once a process.

    `own_folder` is what the library takes for its home, if it ever writes anything.
    """
    os.environ |= {
        "HF_ENDPOINT": endpoint_of(access),
        "HF_HOME": str(own_folder),
        "HF_XET_CACHE": str(own_folder / "xet"),
        "HF_HUB_DISABLE_XET": "0" if use_xet else "1",
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",  # a login is used only when a person agreed to it
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_SYMLINKS": "1",
        "HF_HUB_DISABLE_SYMLINKS_WARNING": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_VERBOSITY": "error",
        "HF_XET_CHUNK_CACHE_SIZE_BYTES": "0",  # it would be a second copy on the disk
        "HF_XET_TELEMETRY_ENABLED": "0",
    }
    # With this one it prints every request with its headers.
    os.environ.pop("HF_DEBUG", None)
    if access.ca_file:
        os.environ["SSL_CERT_FILE"] = access.ca_file  # for Xet, which has its own HTTP client
    if access.proxy:
        os.environ |= {"HTTPS_PROXY": access.proxy, "HTTP_PROXY": access.proxy}


class HubSession:
    """Requests to one hub, from several threads; close it at the end."""

    def __init__(self, access: HubAccess, *, timeout_seconds: float) -> None:
        """`timeout_seconds` is how long nothing may arrive. Raises `HubFaultError`."""
        from huggingface_hub import constants, set_client_factory

        http = http_client()
        if os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE:
            raise HubFaultError("offline_mode", "HF_HUB_OFFLINE is set in the environment")
        self._access = access
        self._endpoint = endpoint_of(access)
        scheme, host, _ = origin(self._endpoint)
        if scheme not in ("http", "https") or not host:
            raise HubFaultError("endpoint_invalid", f"the hub's address is {self._endpoint!r}")
        self._headers = {
            "User-Agent": f"{PRODUCT}/{__version__}",
            "Accept-Encoding": "identity",  # sizes of compressed answers are not the files'
        }
        self._timeout_seconds = timeout_seconds
        timeout = http.Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds))
        self._client = self._make_client(timeout)
        self._errors: tuple[type[Exception], ...] = (http.HTTPError, http.InvalidURL)
        constants.HF_HUB_OFFLINE = False  # judged above; a test's process has imported it before
        # A client of its own, since it closes it when it cannot connect.
        set_client_factory(lambda: self._make_client(timeout))

    def _make_client(self, timeout: httpx2.Timeout) -> httpx2.Client:
        http = http_client()
        try:
            client: httpx2.Client = http.Client(
                timeout=timeout,
                verify=_ssl_context(self._access.ca_file),
                proxy=self._access.proxy or None,
                follow_redirects=True,
                limits=http.Limits(max_connections=16),
            )
        except (ValueError, ImportError, http.InvalidURL) as error:
            words = {"host": origin(self._access.proxy)[1]}
            raise HubFaultError("proxy_invalid", str(error), words=words) from error
        return client

    @property
    def endpoint(self) -> str:
        """Without a slash at the end."""
        return self._endpoint

    @property
    def host(self) -> str:
        """The name of the hub's machine."""
        return origin(self._endpoint)[1]

    def close(self) -> None:
        """Let go of all connections."""
        from huggingface_hub import close_session

        close_session()
        self._client.close()

    @staticmethod
    def check_repo_id(repo_id: str) -> None:
        """Raises `HubFaultError` for what is no "owner/name", or no name of a folder."""
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

        words = {"repo": repo_id}
        try:
            validate_repo_id(repo_id)
        except HFValidationError as error:
            raise HubFaultError("repo_name_invalid", str(error), words=words) from error
        if reason := unsafe_reason(incoming_folder_name(repo_id)):
            raise HubFaultError("repo_name_invalid", f"{repo_id!r}: {reason}", words=words)

    def model_info(self, repo_id: str, revision: str) -> ModelInfo:
        """The commit and all files of a revision. Raises `HubFaultError`."""
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError

        api = HfApi(
            endpoint=self._endpoint,
            token=self._access.token or False,
            library_name=PRODUCT,
            library_version=__version__,
        )
        try:
            return api.model_info(
                repo_id,
                revision=revision,
                files_metadata=True,
                timeout=self._timeout_seconds,  # its own default is to wait for ever
            )
        except HfHubHTTPError as error:
            raise fault_of_response(error.response, self._access, repo_id=repo_id) from error
        except self._errors as error:
            raise self._fault(error, self._endpoint) from error
        except _UNREADABLE as error:
            # Its parser trusts the answer: a sign-in page or another kind of server ends here.
            raw = f"the listing of {repo_id} cannot be read: {type(error).__name__}: {error}"
            words = {"repo": repo_id, "host": self.host}
            raise HubFaultError("not_a_hub", raw, words=words) from error

    def file_url(self, repo_id: str, commit: str, path: str) -> str:
        """Where a file of a commit is asked for."""
        from huggingface_hub import hf_hub_url

        return hf_hub_url(repo_id, path, revision=commit, endpoint=self._endpoint)

    @contextlib.contextmanager
    def request(
        self,
        method: str,
        url: str,
        *,
        first_byte: int = 0,
        stays_on_hub: bool = False,
        stops_at_header: str = "",
    ) -> Iterator[tuple[httpx2.Response, httpx2.Headers]]:
        """The last answer behind all redirects, its body unread, and the hub's own headers.

        The latter are all answers' headers together, the first having precedence: only the hub
        tells the commit, and a storage does not. With `stays_on_hub` a redirect to elsewhere is
        an answer, too: a storage's signed address is for one method only. With `stops_at_header`
        so is a redirect that has it.

        Raises `HubFaultError` when no answer comes.
        """
        http = http_client()
        merged = http.Headers()
        headers = dict(self._headers)
        if first_byte:
            headers["Range"] = f"bytes={first_byte}-"
        for _ in range(_MAX_REDIRECTS):
            response = self._send(method, url, headers | self._authorization(url))
            with contextlib.closing(response):
                merged = http.Headers({**response.headers, **merged})
                target = joined(url, response.headers.get("Location", ""))
                if (
                    not response.has_redirect_location
                    or (stays_on_hub and origin(target) != origin(self._endpoint))
                    or (stops_at_header and stops_at_header in response.headers)
                ):
                    yield response, merged
                    return
                _use_connection_again(response)
                url = target
        raise HubFaultError("hub_refused", f"more than {_MAX_REDIRECTS} redirects from {url}")

    def _send(self, method: str, url: str, headers: dict[str, str]) -> httpx2.Response:
        try:
            request = self._client.build_request(method, url, headers=headers)
            return self._client.send(request, stream=True, follow_redirects=False)
        except self._errors as error:
            raise self._fault(error, url) from error

    def body_fault(self, error: Exception, url: str) -> HubFaultError | None:
        """The fault behind an error while a body is read; None if it is not of the network."""
        return self._fault(error, url) if isinstance(error, self._errors) else None

    def _authorization(self, url: str) -> dict[str, str]:
        if not self._access.token or origin(url) != origin(self._endpoint):
            return {}
        return {"Authorization": f"Bearer {self._access.token}"}

    def _fault(self, error: Exception, url: str) -> HubFaultError:
        with contextlib.suppress(AttributeError, RuntimeError):
            url = str(error.request.url)  # type: ignore[attr-defined]  # after a redirect
        uses_proxy = self._uses_proxy(url)
        fault = fault_of_error(error, self._access, uses_proxy=uses_proxy, host=origin(url)[1])
        if "location header" in str(error) or (
            fault.code == "endpoint_invalid" and not url.startswith(f"{self._endpoint}/")
        ):
            fault.code = "hub_refused"  # it redirected us to what is no address
        if fault.code == "certificate" and not uses_proxy:
            _, host, port = origin(url)
            fault.words["issuer"] = issuer_seen_at(host, port)
        return fault

    def _uses_proxy(self, url: str) -> bool:
        from urllib.request import getproxies, proxy_bypass

        if self._access.proxy:
            return True
        scheme, host, _ = origin(url)
        return not {scheme, "all"}.isdisjoint(getproxies()) and not proxy_bypass(host)


def _ssl_context(ca_file: str) -> ssl.SSLContext:
    """The system's certificates, which company proxies and virus scanners join; plus one's own."""
    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:  # ssl.SSLError is one, for a file that holds no certificate
            raise HubFaultError(
                "ca_file_unreadable", str(error), words={"file": ca_file}
            ) from error
    return context


def _use_connection_again(response: httpx2.Response) -> None:
    """Read the few bytes of a redirect's body: else the next request needs a new connection."""
    length = response.headers.get("Content-Length", "")
    if re.fullmatch(r"[0-9]{1,4}", length):
        with contextlib.suppress(http_client().HTTPError):
            response.read()
