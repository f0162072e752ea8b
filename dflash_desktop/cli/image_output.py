"""Where the pictures of `image` go, and what it tells on its way."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.result import print_event, problem_form
from dflash_desktop.domain.made_picture import MadePicture
from dflash_desktop.domain.picture_queue import QueuePhase, pace_words, phase_words
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.units import format_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.made_picture import PictureRecipe, Pixels
    from dflash_desktop.domain.picture_queue import QueuedPicture
    from dflash_desktop.domain.problems import Problem

_JSON_SECONDS: Final = 0.5
_LINE_CELLS: Final = 78


@dataclass(frozen=True, slots=True)
class Written:
    """One picture and its file."""

    path: Path
    picture: MadePicture


class PictureFiles:
    """Keeps pictures where the person wants them, instead of in the gallery."""

    def __init__(self, out: Path, *, count: int, on_written: Callable[[Written], None]) -> None:
        self._out = out
        self._is_file = count == 1 and out.suffix.lower() == ".png"
        self._on_written = on_written

    def add(self, pixels: Pixels, recipe: PictureRecipe, *, seconds: float) -> MadePicture:
        """Write the file; nothing that is there is overwritten but a file that was named.

        Raises `AppError`.
        """
        from dflash_desktop.services.atomic_file import write_atomically, write_problem
        from dflash_desktop.services.gallery_store import picture_file

        path = self._out if self._is_file else self._free_path(recipe.seed)
        picture = MadePicture(path.stem, datetime.now(UTC), recipe, seconds)
        try:
            write_atomically(path, picture_file(pixels, picture))
        except OSError as error:
            raise AppError(
                write_problem(error, what="The picture", kept="It can be made again.")
            ) from error
        self._on_written(Written(path, picture))
        return picture

    def announce(self) -> None:
        """Nobody else looks at them."""

    def _free_path(self, seed: int) -> Path:
        path, number = self._out / f"picture-{seed}.png", 2
        while path.exists():
            path = self._out / f"picture-{seed}-{number}.png"
            number += 1
        return path


class ImageOutput:
    """Lines of JSON for programs, one moving line for a terminal, few lines for a log."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._is_terminal = not as_json and sys.stderr.isatty()
        self._told_at = 0.0
        self._told = ""
        self._count = 0

    def progress(self, queue: tuple[QueuedPicture, ...]) -> None:
        """How far the one is that is being made."""
        item = next((one for one in queue if one.is_active), None)
        if item is None:
            return
        if self._as_json:
            self._json_progress(item)
            return
        words = "  ".join(filter(None, (phase_words(item), pace_words(item))))
        if self._is_terminal:
            print(f"\r{words[:_LINE_CELLS]:<{_LINE_CELLS}}", end="", file=sys.stderr, flush=True)
        elif item.phase is QueuePhase.LOADING and words != self._told:
            self._told = words
            print(words, file=sys.stderr, flush=True)

    def made(self, written: Written) -> None:
        """One is there."""
        self._count += 1
        recipe = written.picture.recipe
        if self._as_json:
            print_event(
                "made",
                {
                    "path": str(written.path.absolute()),
                    "model": recipe.model_title,
                    "prompt": recipe.prompt,
                    "negative_prompt": recipe.negative_prompt,
                    "width": recipe.width,
                    "height": recipe.height,
                    "steps": recipe.steps,
                    "guidance": recipe.guidance,
                    "seed": recipe.seed,
                    "strength": recipe.strength,
                    "seconds": written.picture.seconds,
                    "device_name": recipe.device_name,
                },
            )
            return
        self._end_line()
        took = format_seconds(written.picture.seconds)
        print(f"{written.path}  seed {recipe.seed}, {took}", flush=True)

    def failed(self, problem: Problem) -> None:
        """Why not, and what to do next."""
        if self._as_json:
            print_event("failed", problem_form(problem))
            return
        self._end_line()
        print(f"{problem.headline}\n{problem.advice}", file=sys.stderr)

    def done(self) -> None:
        """All are there."""
        if self._as_json:
            print_event("done", {"count": self._count})

    def _json_progress(self, item: QueuedPicture) -> None:
        now = time.monotonic()
        state = f"{item.id} {item.phase.name}"
        if state == self._told and now - self._told_at < _JSON_SECONDS:
            return
        self._told, self._told_at = state, now
        print_event(
            "progress",
            {
                "phase": item.phase.name.lower(),
                "seed": item.request.seed,
                "done_steps": item.done_steps,
                "total_steps": item.total_steps or None,
                "seconds_per_step": item.seconds_per_step or None,
                "seconds_left": item.seconds_left,
            },
        )

    def _end_line(self) -> None:
        if self._is_terminal:
            print(file=sys.stderr)
