"""What the engine is busy with, and whether it has been quiet for long."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dflash_desktop.domain.engine_state import Generating, Loading, MakingPicture
from dflash_desktop.services.announced_state import AnnouncedState
from dflash_desktop.services.quiet_watch import QuietWatch

if TYPE_CHECKING:
    from dflash_desktop.domain.image_models import LoadedImageModel
    from dflash_desktop.domain.pair import LoadedPair
    from dflash_desktop.services.engine_process import EngineLimits


class EngineActivity(AnnouncedState):
    """The announced state; work that says nothing for long becomes slow, and is never ended."""

    def __init__(self, *, limits: EngineLimits) -> None:
        super().__init__()
        self._limits = limits
        self._watch = QuietWatch(on_quiet=partial(self._be_slow, True))

    def begin_loading(self, stage: str) -> None:
        """A model is read, converted or compiled; each stage begins anew."""
        self.enter(Loading(stage))
        self._watch.start(self._limits.quiet_loading_seconds)

    def begin_generating(self, pair: LoadedPair) -> None:
        """An answer is on its way."""
        self.enter(Generating(pair))
        self._watch.start(self._limits.quiet_generating_seconds)

    def begin_making(self, model: LoadedImageModel, resting: LoadedPair | None) -> None:
        """A picture is on its way; one step may take as long as loading."""
        self.enter(MakingPicture(model, resting))
        self._watch.start(self._limits.quiet_loading_seconds)

    @property
    def is_working(self) -> bool:
        """Whether an answer or a picture is on its way."""
        return isinstance(self.now, Generating | MakingPicture)

    def hear(self) -> None:
        """The work said something."""
        if self._watch.hear():
            self._be_slow(False)

    def rest(self) -> None:
        """The work is over."""
        self._watch.stop()

    def _be_slow(self, is_slow: bool) -> None:
        """Say that it takes long, and never end it for that: it may be compiling."""
        if isinstance(self.now, Loading | Generating | MakingPicture):
            self.enter(replace(self.now, slow=is_slow))
