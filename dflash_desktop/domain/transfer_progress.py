"""How far the files of a transfer are, added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.transfer import FileProgress

if TYPE_CHECKING:
    from dflash_desktop.domain.transfer import RepoPlan


class TransferProgress:
    """The state of each planned file; what the plan does not know is passed over."""

    def __init__(self, plans: tuple[RepoPlan, ...]) -> None:
        self._files = {
            (index, file.path): FileProgress(plan.repo_id, file.path, 0, file.size_bytes)
            for index, plan in enumerate(plans)
            for file in plan.files
        }
        self.total_bytes = sum(file.total_bytes for file in self._files.values())
        self.done_bytes = 0

    def note(self, repo: int, path: str, done_bytes: int, *, is_verified: bool) -> None:
        """One file is this far; a file that is begun again has fewer bytes than before."""
        known = self._files.get((repo, path))
        if known is None:
            return
        done_bytes = min(max(done_bytes, 0), known.total_bytes)
        self.done_bytes += done_bytes - known.done_bytes
        self._files[repo, path] = FileProgress(
            known.repo_id, path, done_bytes, known.total_bytes, is_verified
        )

    def note_all(self) -> None:
        """Every file is here and verified."""
        for (repo, path), file in tuple(self._files.items()):
            self.note(repo, path, file.total_bytes, is_verified=True)

    @property
    def files(self) -> tuple[FileProgress, ...]:
        """All files in the order of the plan."""
        return tuple(self._files.values())

    @property
    def is_all_here(self) -> bool:
        """Whether every byte has arrived, though perhaps not every one was checked."""
        return self.done_bytes >= self.total_bytes
