"""Pictures on their way into a pipeline of a model that sees them.

Such a model is driven as one for text is, step by step: `ContinuousBatchingPipeline` takes a
prompt with its pictures as one request. Nothing is kept between requests, so no turn can leak
into a later one, as it does with `VLMPipeline` after a chat history (2026.4.1).
"""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from PIL.ImageFile import ImageFile

_QWEN_PREPROCESSORS: Final = ("Qwen2VLImageProcessor", "Qwen2VLImageProcessorFast")
_QWEN_MARKS: Final = 2  # one token before a picture, one behind it
_LARGEST_ASPECT: Final = 200
"""What Qwen's preparation refuses; no other one gets anything sensible out of such a strip."""
_LARGEST_SIDE: Final = 16_384
_TEMPLATED_ALREADY: Final = "{{ messages[0]['content'] }}"
_SPECIAL: Final = re.compile(r"<.*(?:image|img|vision|video|audio).*>", re.IGNORECASE)
_RUNTIME_TAG: Final = re.compile(r"<(?=ov_genai_(?:image|video)_\d|\|image_\d+\|>)")
_INVISIBLE: Final = "\u200b"


class PictureError(Exception):
    """A picture that must not reach the runtime: it would crash or refuse in the middle."""


def picture_tag(index: int) -> str:
    """Where picture `index` of a request stands; the runtime puts the model's own tokens there."""
    return f"<ov_genai_image_{index}>"


def hand_over_templated(tokenizer: Any) -> None:  # noqa: ANN401 - GenAI has no stubs that mypy can use
    """Have requests taken as they are, without a second beginning-of-text token.

    A prompt that comes as a string is either given the chat template, as one question, or the
    tokens that a text begins with. Ours went through the template already. So the pipeline gets a
    template that changes nothing; the model's own is named with each use.
    """
    tokenizer.set_chat_template(_TEMPLATED_ALREADY)


def add_vision_request(
    pipeline: Any,  # noqa: ANN401
    request_id: int,
    text: str,
    pictures: Sequence[Path],
    config: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Add a templated prompt whose `picture_tag`s stand for `pictures`; they are encoded here.

    Raises `PictureError` for a picture that cannot be given to the model.
    """
    config.apply_chat_template = True
    return pipeline.add_request(request_id, text, [_tensor(path) for path in pictures], config)


def _tensor(path: Path) -> Any:  # noqa: ANN401
    """A prepared PNG as [height, width, 3] of uint8, which is all that every model takes."""
    import numpy as np
    import openvino as ov

    with _opened(path) as image:
        values = np.array(image.convert("RGB"), dtype=np.uint8)
    return ov.Tensor(np.ascontiguousarray(values))


def picture_size(path: Path) -> tuple[int, int]:
    """Width and height in pixels, from the head of the file. Raises `PictureError`."""
    with _opened(path) as image:
        width, height = image.size
    return width, height


@contextmanager
def _opened(path: Path) -> Iterator[ImageFile]:
    from PIL import Image

    try:
        with Image.open(path, formats=("PNG",)) as image:
            check_size(*image.size)
            yield image
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise PictureError(f"{path.name}: {error}") from error


def check_size(width: int, height: int) -> None:
    """Raises `PictureError`: an empty picture ends the process, a strip is refused."""
    if not (0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE):
        raise PictureError(f"a picture of {width}x{height} pixels")
    if max(width, height) >= _LARGEST_ASPECT * min(width, height):
        raise PictureError(f"a picture of {width}x{height} pixels is too long a strip")


class PlainText:
    """Takes from a person's text what the runtime would read as the place of a picture.

    An invisible space after the first character is enough: the text looks as it was.
    """

    def __init__(self, vocabulary: Iterable[str]) -> None:
        tags = sorted((t for t in vocabulary if _SPECIAL.fullmatch(t)), key=len, reverse=True)
        self._own = re.compile("|".join(re.escape(tag) for tag in tags)) if tags else None

    def of(self, text: str) -> str:
        """The same text to look at, without any tags."""
        safe = _RUNTIME_TAG.sub(f"<{_INVISIBLE}", text)
        if self._own is None:
            return safe
        return self._own.sub(lambda tag: f"{tag[0][0]}{_INVISIBLE}{tag[0][1:]}", safe)


class QwenGrid:
    """How many tokens Qwen's models make of a picture: one for each merged square of patches."""

    def __init__(self, *, square: int, least_pixels: int, most_pixels: int) -> None:
        self._square = square
        self._least_pixels = least_pixels
        self._most_pixels = most_pixels

    @classmethod
    def of_folder(cls, folder: Path) -> QwenGrid | None:
        """From preprocessor_config.json; None for other models."""
        try:
            found = json.loads((folder / "preprocessor_config.json").read_text(encoding="utf-8"))
            if found["image_processor_type"] not in _QWEN_PREPROCESSORS:
                return None
            size = found.get("size") or {}
            return cls(
                square=int(found["patch_size"]) * int(found["merge_size"]),
                least_pixels=int(found.get("min_pixels") or size["shortest_edge"]),
                most_pixels=int(found.get("max_pixels") or size["longest_edge"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def tokens(self, width: int, height: int) -> int:
        """The tokens of a picture with its two marks.

        Raises `PictureError` for one that would become a single square.
        WORKAROUND: such a picture with a larger one behind it overwrites memory in 2026.4.1
        (`InputsEmbedderQwen3_5::create_position_ids`).
        """
        square = self._square
        # Halves go up, as in C++: Python's own rounding takes them to the even number.
        rows, columns = (math.floor(side / square + 0.5) for side in (height, width))
        if rows * columns * square**2 > self._most_pixels:
            shrink = math.sqrt(height * width / self._most_pixels)
            rows = max(1, math.floor(height / shrink / square))
            columns = max(1, math.floor(width / shrink / square))
        elif rows * columns * square**2 < self._least_pixels:
            grow = math.sqrt(self._least_pixels / (height * width))
            rows, columns = math.ceil(height * grow / square), math.ceil(width * grow / square)
        if rows * columns < 2:
            raise PictureError(f"a picture of {width}x{height} pixels is too small")
        return rows * columns + _QWEN_MARKS
