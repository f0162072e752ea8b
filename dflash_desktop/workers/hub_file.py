"""Brings in one file: from an earlier attempt, a cache, or the network, and verified in any case.

The bytes are written here and not by `hf_hub_download`: huggingface_hub 2.4 collects them under a
random name and deletes them when anything goes wrong, so it can never go on where another process
stopped; it writes pieces of 10 MB, and it does not compare hashes. Its addresses, its listings and
its error codes are used (`hub_session.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.library import ModelFile
from dflash_desktop.workers.hub_answer import AnswerStart, check_answer, looks_like_a_web_page
from dflash_desktop.workers.hub_faults import CancelledHereError, HubFaultError
from dflash_desktop.workers.incoming_folder import cached_blob, link
from dflash_desktop.workers.part_file import PartFile
from dflash_desktop.workers.stream_digest import FileHashes, StreamDigest, feed_file

if TYPE_CHECKING:
    from pathlib import Path

    import httpx2

    from dflash_desktop.domain.transfer import PlannedFile
    from dflash_desktop.workers.hub_sources import Sources

_XET_HEADER: Final = "X-Xet-Hash"

RETRY_SECONDS: Final = (0.2, 0.6, 1.5)
"""Waits after a lost connection that brought nothing; after the last one the file is given up."""


class _StartAgainError(Exception):
    """What is here cannot be continued: begin with the first byte."""


class _OfferedByXetError(Exception):
    """The hub has this file in its newer storage."""


class FileTransfer:
    """One file; `done_bytes` and `is_verified` may be read from another thread."""

    def __init__(self, sources: Sources, file: PlannedFile) -> None:
        self.file = file
        self.done_bytes = 0
        self.is_verified = False
        self._sources = sources
        self._control = sources.control
        self._part = PartFile(
            sources.folder.part_path(file),
            file.size_bytes,
            wants_git=file.git_blob_id is not None,
            on_block=sources.control.check,
        )
        self._is_continued = False
        self._is_xet_usable = sources.fetch_by_xet is not None

    def run(self) -> ModelFile:
        """Bring it in. Raises `HubFaultError`, `CancelledHereError` or `OSError`."""
        try:
            sha256 = self._from_folder() or self._from_cache() or self._from_network()
        finally:
            self._part.close()
        self.done_bytes = self.file.size_bytes
        self.is_verified = True
        return ModelFile(self.file.path, self.file.size_bytes, sha256)

    # --- what is here already ------------------------------------------------------------------

    def _from_folder(self) -> str | None:
        folder = self._sources.folder
        known = folder.verified_sha256(self.file)
        if known is not None:
            return known
        final = folder.final_path(self.file)
        if not final.is_file():
            return None
        if final.stat().st_size == self.file.size_bytes:
            hashes = self._hash_file(final)
            if self._is_right(hashes):
                folder.record(self.file, hashes.sha256)
                return hashes.sha256
        final.unlink()
        return None

    def _from_cache(self) -> str | None:
        sources = self._sources
        blob = cached_blob(sources.cache_dirs, sources.plan.repo_id, self.file)
        if blob is None:
            return None
        try:
            hashes = self._hash_file(blob)
        except OSError:
            return None  # a cache that cannot be read is no reason not to download
        if not self._is_right(hashes):
            return None
        is_linked = link(blob, self._part.path)
        if not is_linked:
            self._part.copy(blob)
            hashes = self._part.hashes()
            if not self._is_right(hashes):
                return None  # it was changed meanwhile
        sources.folder.adopt(self.file, hashes.sha256, is_linked=is_linked)
        return hashes.sha256

    def _hash_file(self, file: Path) -> FileHashes:
        size_bytes, wants_git = self.file.size_bytes, self.file.git_blob_id is not None
        digest = StreamDigest(size_bytes, wants_git=wants_git)
        try:
            feed_file(digest, file, size_bytes, on_block=self._control.check)
        except BaseException:
            digest.abandon()
            raise
        return digest.result()

    # --- the network ---------------------------------------------------------------------------

    def _from_network(self) -> str:
        while True:
            self._collect()
            hashes = self._part.hashes()
            if self._is_right(hashes):
                self._sources.folder.adopt(self.file, hashes.sha256)
                return hashes.sha256
            fault = self._wrong_bytes(hashes)
            self._part.path.unlink(missing_ok=True)
            # What an earlier attempt left may have been the wrong part: once more, from nothing.
            if not self._is_continued:
                raise fault

    def _collect(self) -> None:
        """Until all bytes are here; each new connection goes on where the last one ended."""
        self._is_continued = self._part.present_bytes > 0
        best, fruitless, begun_again = -1, 0, 0
        while True:
            try:
                self._attempt()
            except _StartAgainError as error:
                begun_again += 1
                if begun_again > 2:
                    raise self._fault("server_error", str(error)) from error
                self._begin_again()
            except HubFaultError as fault:
                if fault.code != "connection_lost":
                    raise
                here = self._part.present_bytes
                fruitless = 0 if here > best else fruitless + 1
                best = max(best, here)
                if fruitless >= len(RETRY_SECONDS):
                    fault.facts.update(done_bytes=here, total_bytes=self.file.size_bytes)
                    fault.words.update(file=self.file.path)
                    raise
                self._control.sleep(RETRY_SECONDS[fruitless])
            else:
                return

    def _attempt(self) -> None:
        try:
            self._by_http()
        except _OfferedByXetError:
            self._by_xet()

    def _by_http(self) -> None:
        self._control.check()
        start = self._part.present_bytes
        if start > self.file.size_bytes:
            self._begin_again()
            start = 0
        self.done_bytes = start
        if start == self.file.size_bytes:
            self._part.path.touch()
            return
        self._part.catch_up()
        sources = self._sources
        url = sources.session.file_url(sources.plan.repo_id, sources.plan.commit, self.file.path)
        # Xet cannot go on with a part, so one that was begun is finished in the plain way.
        by_xet = _XET_HEADER if self._is_xet_usable and start == 0 else ""
        with (
            sources.session.request("GET", url, first_byte=start, stops_at_header=by_xet) as (
                response,
                headers,
            ),
            self._control.watching(response),
        ):
            if by_xet and by_xet in headers:
                raise _OfferedByXetError
            answer = check_answer(
                response, headers, sources.access, plan=sources.plan, file=self.file, start=start
            )
            if answer is AnswerStart.UNUSABLE:
                raise _StartAgainError(f"{response.status_code} to a request from byte {start}")
            if answer is AnswerStart.FIRST_BYTE and start:
                self._begin_again()  # the server ignores ranges
            self._receive(response, url)

    def _receive(self, response: httpx2.Response, url: str) -> None:
        with self._part.appending():
            try:
                for chunk in response.iter_raw():
                    self._control.check()
                    self.done_bytes += len(chunk)
                    self._part.append(chunk)
                    self._control.take_bandwidth(len(chunk))
                    if self.done_bytes > self.file.size_bytes:
                        break
            except Exception as error:
                self._control.check()
                fault = self._sources.session.body_fault(error, url)
                if fault is None:
                    raise
                raise fault from error
        if self.done_bytes > self.file.size_bytes:
            raise self._fault("wrong_bytes", "more bytes came than were announced")
        if self.done_bytes < self.file.size_bytes:
            raise self._fault("truncated", "the answer ended too early")

    def _by_xet(self) -> None:
        sources = self._sources
        assert sources.fetch_by_xet is not None  # noqa: S101 - asked before
        self._begin_again()

        def count(more_bytes: int) -> None:
            self._control.check()
            self.done_bytes = min(self.file.size_bytes, self.done_bytes + more_bytes)

        try:
            fetched = sources.fetch_by_xet(
                sources.plan, self.file, sources.folder.xet_folder(), count
            )
        except (CancelledHereError, HubFaultError):
            raise
        except Exception as error:
            self._control.check()
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's own
            # Whatever it was, the plain way is left.
            self._is_xet_usable = False
            raise self._fault("connection_lost", f"by Xet: {error!r}") from error
        fetched.replace(self._part.path)
        if self._part.present_bytes != self.file.size_bytes:
            raise self._fault("truncated", "Xet brought too little")

    def _begin_again(self) -> None:
        self._part.empty()
        self.done_bytes = 0

    def _is_right(self, hashes: FileHashes) -> bool:
        if self.file.sha256 is not None:
            return hashes.sha256 == self.file.sha256
        return hashes.git_blob_id == self.file.git_blob_id

    # --- faults --------------------------------------------------------------------------------

    def _wrong_bytes(self, hashes: FileHashes) -> HubFaultError:
        with self._part.path.open("rb") as part:
            head = part.read(512)
        if looks_like_a_web_page(head, self.file.path):
            return self._fault("html_instead_of_file", f"it begins with {head[:80]!r}")
        return self._fault(
            "wrong_bytes", f"SHA-256 {hashes.sha256}, git {hashes.git_blob_id} came instead"
        )

    def _fault(self, code: str, raw: str) -> HubFaultError:
        return HubFaultError(
            code,
            f"{self.file.path} ({self.file.size_bytes} bytes, SHA-256 {self.file.sha256}, git "
            f"{self.file.git_blob_id}): {raw}",
            facts={"done_bytes": self.done_bytes, "total_bytes": self.file.size_bytes},
            words={
                "file": self.file.path,
                "repo": self._sources.plan.repo_id,
                "host": self._sources.session.host,
            },
        )
