"""Where one goes on from a finished export: the chat, the pair's page, the library, the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.services.record_maker import EXPORT_SOURCE_NAME
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.ui.export.pane import ExportPane

MODEL_CARD: Final = "README.md"


class PairShelf(Protocol):
    """What is asked of the pairs that can be chosen."""

    async def add(self, title: str, target_dir: Path, draft_dir: Path | None) -> PairFolders:
        """Check and remember a pair. Raises `AppError`."""


class ExportResults:
    """`chat(pair_id)` loads a pair and opens the chat; `look_at(title, target, draft)` opens the
    page of a pair, of which the target may be missing; `show_model(model_id)` the library.
    """

    def __init__(
        self,
        *,
        pane: ExportPane,
        runs: Callable[[], tuple[ExportRun, ...]],
        shelf: PairShelf,
        chat: Callable[[str], None],
        look_at: Callable[[str, Path, Path | None], None],
        show_model: Callable[[str], None],
        open_path: Callable[[Path], None],
    ) -> None:
        self._pane = pane
        self._runs = runs
        self._shelf = shelf
        self._chat = chat
        self._look_at = look_at
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        view = pane.run.result
        view.chat_requested.connect(self._on_chat)
        view.pair_requested.connect(self._on_pair)
        view.library_requested.connect(show_model)
        view.folder_requested.connect(open_path)
        view.record_requested.connect(lambda folder: open_path(folder / EXPORT_SOURCE_NAME))
        view.card_requested.connect(lambda folder: open_path(folder / MODEL_CARD))

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        self._tasks.close()
        await self._tasks.wait()

    def _on_chat(self) -> None:
        title, target, draft = self._folders()
        if target is not None and not self._tasks.is_busy:
            self._tasks.start(self._open_chat(title, target, draft))

    async def _open_chat(self, title: str, target: Path, draft: Path | None) -> None:
        pair = await self._shelf.add(title, target, draft)
        self._chat(pair.id)

    def _on_pair(self) -> None:
        title, target, draft = self._folders()
        if target is not None:
            self._look_at(title, target, draft)

    def _folders(self) -> tuple[str, Path | None, Path | None]:
        """Title, target and draft of the export that is shown."""
        run = next((r for r in self._runs() if r.id == self._pane.shown_run_id), None)
        if run is None or run.result is None:
            return "", None, None
        paths = {model.role: model.path for model in run.result.models}
        target, draft = paths.get(ExportRole.TARGET), paths.get(ExportRole.DRAFT)
        return run.plan.request.title, target, draft
