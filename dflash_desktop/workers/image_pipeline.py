"""Makes pictures with OpenVINO GenAI: one pipeline at a time, one picture at a time."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.made_picture import Pixels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy
    from numpy.typing import NDArray
    from PIL.Image import Image

    from dflash_desktop.domain.picture_request import PictureRequest

_PREVIEW_SHARE: Final = 0.1
"""Previews may take this much of the time that a picture has taken so far."""
_PREVIEW_SIDE_PX: Final = 384
_FIRST_PREVIEW_STEP: Final = 1
"""Before it there is only noise to see, and no step's time to compare with."""
_WORTH_WAITING_SECONDS: Final = 0.5
_MOST_PIXELS: Final = 50_000_000
"""Of a source; the worker that prepares pictures makes none so large."""


class SourcePictureError(Exception):
    """The picture to begin with, or its mask, cannot be read."""


@dataclass(frozen=True, slots=True)
class Step:
    """After one step; `preview` is there when one was worth its time."""

    done: int
    total: int
    seconds_per_step: float
    preview: Pixels | None


class PreviewAllowance:
    """Decides which steps show a preview, so that all of them together stay cheap.

    What one costs is not known before the first; a model whose first one was too dear for its
    steps shows none in later pictures of that size or larger.
    """

    def __init__(self) -> None:
        self._seconds_per_pixel: float | None = None
        self._spent = 0.0
        self._pixels = 0

    def begin(self, width: int, height: int) -> None:
        """A new picture begins."""
        self._spent, self._pixels = 0.0, width * height

    def allows(self, *, step: int, seconds: float, seconds_per_step: float, steps: int) -> bool:
        """Whether one more is cheap enough, `seconds` after the picture's begin."""
        if step < _FIRST_PREVIEW_STEP or step >= steps - 1:  # the last one is the picture itself
            return False
        if self._seconds_per_pixel is None:
            return seconds_per_step * (steps - step) > _WORTH_WAITING_SECONDS
        expected = self._seconds_per_pixel * self._pixels
        return self._spent + expected <= _PREVIEW_SHARE * (seconds - self._spent)

    def spend(self, seconds: float) -> None:
        """One was shown and took this long."""
        self._spent += seconds
        per_pixel = seconds / max(1, self._pixels)
        known = self._seconds_per_pixel
        self._seconds_per_pixel = per_pixel if known is None else (known + per_pixel) / 2

    @property
    def spent_seconds(self) -> float:
        """What previews took of this picture's time."""
        return self._spent


class ImagePipeline:
    """One model with the pipeline that the last picture needed.

    The runtime has a class each for pictures from words, from a picture and with a mask. Another
    one takes the place of the loaded one, since converting one into another ends the process for
    Qwen-Image (2026.4.1, measured) and two would take the memory twice.
    """

    def __init__(self, folder: Path, *, device: str, cache_dir: Path | None) -> None:
        self._folder = folder
        self._device = device
        self._properties = {"CACHE_DIR": str(cache_dir)} if cache_dir is not None else {}
        self._pipeline: Any = None
        self._class_name = ""
        self._previews = PreviewAllowance()

    def load(self, class_name: str = "Text2ImagePipeline") -> None:
        """Load the pipeline of this class unless it is there; raises what the runtime raises."""
        if not self.will_load(class_name):
            return
        import openvino_genai

        self._pipeline, self._class_name = None, ""
        make = getattr(openvino_genai, class_name)
        self._pipeline = make(str(self._folder), self._device, **self._properties)
        self._class_name = class_name

    def will_load(self, class_name: str) -> bool:
        """Whether a picture of this class has to wait for its pipeline."""
        return class_name != self._class_name

    def make(
        self,
        request: PictureRequest,
        *,
        on_step: Callable[[Step], None],
        is_cancelled: Callable[[], bool],
    ) -> Pixels | None:
        """The picture, or None when it was cancelled; the request was checked before."""
        import numpy

        self.load(pipeline_class(request))
        run = _Run(self._pipeline, request, self._previews, on_step, is_cancelled)
        result = self._pipeline.generate(
            request.prompt,
            *_pictures(request),
            **_arguments(request),
            callback=run.after_step,
        )
        if run.fault is not None:
            raise run.fault
        if run.is_cancelled:
            return None
        if tuple(result.shape) == () or result.get_size() == 0:
            # As after a cancel; without a word the picture would be gone from the queue.
            raise RuntimeError("the runtime ended without a picture")
        return pixels_of(numpy.asarray(result.data))


class _Run:
    """One picture on its way."""

    def __init__(
        self,
        pipeline: Any,  # noqa: ANN401 - openvino's stubs are skipped
        request: PictureRequest,
        previews: PreviewAllowance,
        on_step: Callable[[Step], None],
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._pipeline = pipeline
        self._previews = previews
        self._on_step = on_step
        self._ask_cancelled = is_cancelled
        self._started_at = perf_counter()
        self._first_step_at = 0.0
        self.is_cancelled = False
        self.fault: Exception | None = None
        previews.begin(request.width, request.height)

    def after_step(self, step: int, steps: int, latent: object) -> bool:
        """The runtime's callback: True stops.

        WORKAROUND: an exception that leaves it ends the process (openvino-genai 2026.4.1,
        `terminate called after throwing … error_already_set`), so everything is in `try`.
        """
        try:
            return self._after_step(step, steps, latent)
        except Exception as error:  # noqa: BLE001 - see above; raised again after the run
            traceback.print_exc(file=sys.stderr)
            self.fault = error
            return True

    def _after_step(self, step: int, steps: int, latent: object) -> bool:
        now = perf_counter()
        if self._ask_cancelled():
            self.is_cancelled = True
            return True
        per_step = self._seconds_per_step(now, step)
        preview = None
        if self._previews.allows(
            step=step, seconds=now - self._started_at, seconds_per_step=per_step, steps=steps
        ):
            preview = self._preview(latent)
        self._on_step(Step(step + 1, steps, per_step, preview))
        return False

    def _seconds_per_step(self, now: float, step: int) -> float:
        """The mean of the steps so far, less what previews took.

        The first one also waits for the words to be read, so it counts only while it is alone.
        """
        if step == 0:
            self._first_step_at = now
            return now - self._started_at
        return max(0.0, now - self._first_step_at - self._previews.spent_seconds) / step

    def _preview(self, latent: object) -> Pixels:
        import numpy

        started = perf_counter()
        decoded = numpy.asarray(self._pipeline.decode(latent).data)
        self._previews.spend(perf_counter() - started)
        return pixels_of(decoded, largest_px=_PREVIEW_SIDE_PX)


def pipeline_class(request: PictureRequest) -> str:
    """The runtime's class for what was asked."""
    if request.source is None:
        return "Text2ImagePipeline"
    return "Image2ImagePipeline" if request.mask is None else "InpaintingPipeline"


def pixels_of(array: NDArray[numpy.uint8], *, largest_px: int | None = None) -> Pixels:
    """The first picture of a [n, height, width, 3] array of uint8, made smaller by leaving out."""
    import numpy

    picture = array[0]
    if largest_px is not None:
        stride = -(-max(picture.shape[:2]) // largest_px)
        picture = picture[::stride, ::stride]
    height, width = picture.shape[:2]
    return Pixels(width, height, numpy.ascontiguousarray(picture, dtype=numpy.uint8).tobytes())


def _arguments(request: PictureRequest) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "width": request.width,
        "height": request.height,
        "num_inference_steps": request.steps,
        "guidance_scale": request.guidance,
        "rng_seed": request.seed,
        "num_images_per_prompt": 1,
    }
    if request.negative_prompt:
        arguments["negative_prompt"] = request.negative_prompt
    if request.source is not None:
        arguments["strength"] = request.strength
    return arguments


def _pictures(request: PictureRequest) -> tuple[Any, ...]:
    """The source and the mask as tensors of the request's size."""
    files = (file for file in (request.source, request.mask) if file is not None)
    return tuple(_tensor(file, request.width, request.height) for file in files)


def _tensor(file: Path, width: int, height: int) -> object:
    import numpy
    from openvino import Tensor
    from PIL import Image as Images

    try:
        with Images.open(file, formats=("PNG",)) as image:
            size = f"{image.width} x {image.height} pixels"
            upright = image.convert("RGB") if image.width * image.height <= _MOST_PIXELS else None
    except (OSError, SyntaxError, ValueError, Images.DecompressionBombError) as error:
        # Without a kind of its own, a source that is gone reads as a model that is.
        raise SourcePictureError(f"{file.name}: {error}") from error
    if upright is None:
        raise SourcePictureError(f"{file.name}: {size}")
    fitted = _covering(upright, width, height)
    return Tensor(numpy.ascontiguousarray(numpy.asarray(fitted)[None]))


def _covering(image: Image, width: int, height: int) -> Image:
    """The middle of the picture in another shape; nothing is stretched."""
    from PIL import ImageOps
    from PIL.Image import Resampling

    return ImageOps.fit(image, (width, height), Resampling.LANCZOS)
