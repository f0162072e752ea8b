"""Is an answer the file that was asked for, as far as its head tells?"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Final

from dflash_desktop.workers.hub_faults import HubFaultError, fault_of_response

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

    from dflash_desktop.domain.transfer import PlannedFile, RepoPlan
    from dflash_desktop.workers.fetch_messages import HubAccess

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_CONTENT_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PAGE_NAMES: Final = (".html", ".htm", ".xhtml", ".md", ".svg", ".xml")


class AnswerStart(Enum):
    """Which byte of the file the body begins with."""

    WHERE_ASKED = 1
    FIRST_BYTE = 2
    UNUSABLE = 3  # somewhere else, or nowhere


def check_answer(
    response: httpx2.Response,
    headers: Mapping[str, str],
    access: HubAccess,
    *,
    plan: RepoPlan,
    file: PlannedFile,
    start: int,
) -> AnswerStart:
    """Judge the head of an answer to a request for `file` from byte `start` on.

    `headers` holds the hub's own, too. Raises `HubFaultError` when its body is not the file.
    """
    status = response.status_code
    words = {"repo": plan.repo_id, "file": file.path, "host": response.url.host}
    if status == 416 and start:
        return AnswerStart.UNUSABLE
    if status >= 400:
        raise fault_of_response(response, access, repo_id=plan.repo_id, path=file.path)
    if status not in (200, 206):
        raise HubFaultError(
            "hub_refused", f"{status} for {file.path}", facts={"status": status}, words=words
        )
    _check_identity(headers, plan, file, words)
    kind = response.headers.get("Content-Type", "")
    if kind.startswith("text/html") and not file.path.lower().endswith(_PAGE_NAMES):
        raise HubFaultError("html_instead_of_file", f"{file.path} came as {kind!r}", words=words)
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise HubFaultError("hub_refused", f"{file.path} came compressed", words=words)
    return _start_and_size(response, file, start, words)


def _check_identity(
    headers: Mapping[str, str], plan: RepoPlan, file: PlannedFile, words: dict[str, str]
) -> None:
    commit = headers.get("X-Repo-Commit", plan.commit)
    if commit != plan.commit:
        text = f"{file.path} is of commit {commit[:60]}, not {plan.commit}"
        raise HubFaultError("commit_changed", text, words=words)
    etag = headers.get("X-Linked-Etag", "").removeprefix("W/").strip('"')
    if file.sha256 is not None and _SHA256.fullmatch(etag) and etag != file.sha256:
        text = f"{file.path} is announced as {etag}, not {file.sha256}"
        raise HubFaultError("commit_changed", text, words=words)


def _start_and_size(
    response: httpx2.Response, file: PlannedFile, start: int, words: dict[str, str]
) -> AnswerStart:
    total = response.headers.get("Content-Length", "")
    answer = AnswerStart.WHERE_ASKED if start == 0 else AnswerStart.FIRST_BYTE
    if response.status_code == 206:
        match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if match is None or int(match[1]) != start:
            return AnswerStart.UNUSABLE
        total = match[2]
        answer = AnswerStart.WHERE_ASKED
    if _NUMBER.fullmatch(total) and int(total) != file.size_bytes:
        code = "truncated" if int(total) < file.size_bytes else "wrong_bytes"
        raise HubFaultError(
            code,
            f"{file.path} has {total} bytes in the answer and {file.size_bytes} in the listing",
            facts={"done_bytes": int(total), "total_bytes": file.size_bytes},
            words=words,
        )
    return answer


def looks_like_a_web_page(head: bytes, path: str) -> bool:
    """Whether a file's first bytes are a sign-in or error page, and the file is no page itself."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    is_page = text.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))
    return is_page and not path.lower().endswith(_PAGE_NAMES)
