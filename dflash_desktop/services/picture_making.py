"""What the engine does with a model that makes pictures."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import CancelledByPersonError
from dflash_desktop.workers.protocol import (
    ImageModelLoaded,
    LoadImageModel,
    LoadProgress,
    MakePicture,
    PictureMade,
    PictureStep,
)

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.image_models import LoadedImageModel
    from dflash_desktop.domain.picture_request import PictureRequest
    from dflash_desktop.services.engine_supervisor import EngineSupervisor

_STEPS_OF_PATIENCE: Final = 2
_LONGEST_PATIENCE_SECONDS: Final = 60.0


class PictureMaking:
    """Shares the engine's process, and its turn, with everything else that `Engine` does.

    The pair is let go while a model for pictures is loaded; the next question loads it again.
    """

    def __init__(self, *, supervisor: EngineSupervisor, turn: asyncio.Lock) -> None:
        self._supervisor = supervisor
        self._turn = turn
        self._is_busy = False

    @property
    def loaded(self) -> LoadedImageModel | None:
        """The model that makes pictures, while the engine holds one."""
        return self._supervisor.image_model

    @property
    def is_busy(self) -> bool:
        """Whether the engine's job of now is one of these: only then `cancel` may be called."""
        return self._is_busy

    async def load(
        self,
        folder: Path,
        *,
        title: str,
        device: str,
        device_name: str = "",
        cache_dir: Path | None = None,
    ) -> LoadedImageModel:
        """Load a model in place of what is loaded. Raises `AppError` and when cancelled."""
        make = partial(
            LoadImageModel,
            title=title,
            model_dir=folder,
            device=device,
            device_name=device_name,
            cache_dir=cache_dir,
        )
        async with self._in_turn(), self._supervisor.job(make) as job:
            return (await job.answer(ImageModelLoaded)).model

    async def make(
        self, request: PictureRequest
    ) -> AsyncGenerator[LoadProgress | PictureStep | PictureMade, None]:
        """Make one picture; `PictureMade` comes last. Closing the iterator early cancels.

        Raises `AppError`, "nothing_loaded" when another model took the place in between. A
        picture that had to be cancelled by force ends with an empty `PictureMade`.
        """
        make = partial(MakePicture, request=request)
        try:
            async with self._in_turn(), self._supervisor.job(make) as job:
                async for event in job:
                    if isinstance(event, PictureStep):
                        # One step cannot be cut short: to end the process sooner would cost
                        # loading the model again.
                        patience = _STEPS_OF_PATIENCE * event.seconds_per_step
                        job.cancel_seconds = min(patience, _LONGEST_PATIENCE_SECONDS)
                    if isinstance(event, LoadProgress | PictureStep | PictureMade):
                        yield event
        except CancelledByPersonError:
            yield PictureMade(0, 0.0)

    async def cancel(self) -> None:
        """Stop the picture, or the loading; returns when the engine can go on."""
        await self._supervisor.cancel()

    @asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        async with self._turn:
            await self._supervisor.ready()
            self._is_busy = True
            try:
                yield
            finally:
                self._is_busy = False
