"""What can go wrong with a hub, by code; and how the library's errors become one of these.

The codes have their sentences in `services/hub_problems.py`. Texts for Details are freed of
secrets here: the token, a proxy's password, and the signatures of redirected addresses.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from dflash_desktop.workers.hub_http import http_client

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

    from dflash_desktop.workers.fetch_messages import HubAccess

_DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOT_WRITABLE: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT}
)
_NO_ROUTE: Final = frozenset({errno.ENETUNREACH, errno.ENETDOWN})
_WINDOWS_DISK_FULL: Final = frozenset({39, 112})
_MAX_RAW_CHARACTERS: Final = 4000


class HubFaultError(Exception):
    """A transfer cannot go on; `code` is stable, the text is raw and may still hold secrets."""

    def __init__(
        self,
        code: str,
        raw: str,
        *,
        facts: Mapping[str, int] | None = None,
        words: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(raw)
        self.code = code
        self.facts = dict(facts or {})
        self.words = dict(words or {})


class CancelledHereError(Exception):
    """The job was asked to stop, or another file's fault stopped this one."""


def scrubbed(text: str, access: HubAccess) -> str:
    """The text without the token, without passwords in addresses and without their queries."""
    for secret in (access.token, access.proxy):
        if secret:
            text = text.replace(secret, "…")
    text = re.sub(r"(://)[^/\s@'\"]+@", r"\1…@", text)
    text = re.sub(r"(https?://[^\s'\"?]+)\?[^\s'\"]*", r"\1?…", text)
    return text[:_MAX_RAW_CHARACTERS]


def fault_of_response(
    response: httpx2.Response, access: HubAccess, *, repo_id: str, path: str = ""
) -> HubFaultError:
    """The fault that an answer of 400 or above tells of, in the hub's own terms."""
    status = response.status_code
    error_code = response.headers.get("X-Error-Code", "")
    message = response.headers.get("X-Error-Message", "")
    host = response.url.host
    raw = f"{status} from {response.url}: {error_code} {message}".strip()
    words = {"repo": repo_id, "host": host} | ({"file": path} if path else {})
    facts: dict[str, int] = {"status": status}
    if status == 429:
        facts["retry_after_seconds"] = _retry_after(response.headers)
        return HubFaultError("rate_limited", raw, facts=facts, words=words)
    if status == 407:
        return HubFaultError("proxy", raw, facts=facts, words=words)
    code = _refusal_code(status, error_code, message, has_token=bool(access.token))
    return HubFaultError(code, raw, facts=facts, words=words)


def _refusal_code(status: int, error_code: str, message: str, *, has_token: bool) -> str:
    if error_code == "GatedRepo":
        return "gated_not_accepted" if has_token else "gated_no_token"
    if error_code == "RevisionNotFound":
        return "revision_gone"
    if error_code == "EntryNotFound":
        return "file_not_found"
    if error_code == "RepoNotFound":
        return "not_found"
    if status == 401:
        if has_token or "Invalid" in message:
            return "token_refused"
        return "not_found"  # the hub tells nobody which private repositories exist
    if status == 403:
        return "token_without_right" if has_token else "access_denied"
    if status in (404, 410):
        return "not_found"
    return "server_error" if status >= 500 or status == 408 else "hub_refused"


def _retry_after(headers: Mapping[str, str]) -> int:
    """Seconds that the server asks to wait; 0 if it does not say."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return min(int(value), 86_400)
    if match := re.search(r";\s*t\s*=\s*([0-9]{1,5})", headers.get("RateLimit", "")):
        return int(match[1])
    try:
        return max(0, min(86_400, int(parsedate_to_datetime(value).timestamp() - time.time())))
    except (ValueError, OverflowError):
        return 0


def fault_of_error(
    error: Exception, access: HubAccess, *, uses_proxy: bool, host: str
) -> HubFaultError:
    """The fault behind an exception of the HTTP client, by its whole chain of causes.

    A certificate's issuer is looked up by the caller, which knows the way to the server.
    """
    http = http_client()
    raw = f"{type(error).__name__}: {error}"
    words = {"host": host}
    chain = _chain(error)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in chain):
        return HubFaultError("certificate", raw, words=words)
    if isinstance(error, http.ProxyError):
        return HubFaultError("proxy", raw, words=words)
    if isinstance(error, http.UnsupportedProtocol | http.InvalidURL):
        return HubFaultError("endpoint_invalid", raw, words=words)
    if isinstance(error, http.ConnectTimeout | http.PoolTimeout):
        return HubFaultError("timeout", raw, words=words)
    if isinstance(error, http.TimeoutException):
        return HubFaultError("stalled", raw, words=words)
    if isinstance(error, http.ConnectError):
        return HubFaultError(_connect_code(chain, access, uses_proxy=uses_proxy), raw, words=words)
    return HubFaultError("connection_lost", raw, words=words)


def _connect_code(chain: list[BaseException], access: HubAccess, *, uses_proxy: bool) -> str:
    if uses_proxy:
        return "proxy"
    if any(isinstance(cause, socket.gaierror) for cause in chain):
        # One's own mirror may be unknown while the network is fine.
        return "hub_unreachable" if access.endpoint else "offline"
    if any(isinstance(cause, OSError) and cause.errno in _NO_ROUTE for cause in chain):
        return "offline"
    if any(isinstance(cause, ssl.SSLError) for cause in chain):
        return "connection_lost"
    return "hub_unreachable"


def _chain(error: BaseException) -> list[BaseException]:
    """The exception and what caused it, outermost first."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain


def fault_of_os_error(error: OSError, *, needed_bytes: int, free_bytes: int) -> HubFaultError:
    """The fault behind an error of the disk, with what is still needed and free."""
    raw = f"{type(error).__name__}: {error}"
    code = "disk_error"
    if error.errno in _DISK_FULL or getattr(error, "winerror", None) in _WINDOWS_DISK_FULL:
        code = "disk_full"
    elif error.errno in _NOT_WRITABLE:
        code = "folder_not_writable"
    elif error.errno == errno.ENAMETOOLONG:
        code = "path_too_long"
    facts = {"needed_bytes": needed_bytes, "free_bytes": free_bytes}
    words = {"file": str(error.filename)} if error.filename else {}
    return HubFaultError(code, raw, facts=facts, words=words)
