"""Models, queues and made-up pictures for the image page's tests and shots."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.image_models import ImageKind
from dflash_desktop.domain.made_picture import MadePicture, PictureRecipe, Pixels
from dflash_desktop.domain.picture_queue import QueuedPicture, QueuePhase
from dflash_desktop.domain.picture_request import PictureRequest
from dflash_desktop.services.gallery_store import GalleryEntry
from tests.fakes.image_models import MODEL

if TYPE_CHECKING:
    from dflash_desktop.services.gallery_store import GalleryStore

QWEN: Final = replace(
    MODEL,
    id="owner/Qwen-Image-2.1-Uncensored-OpenVINO-INT4",
    title="Qwen-Image 2.1, int4",
    folder=Path("qwen-image"),
    kind=ImageKind.QWEN_IMAGE,
    native_px=1024,
    size_step_px=16,
    weights_bytes=14_200_000_000,
    decoder_bytes_per_pixel=768,
    content_label="uncensored",
)
STABLE_DIFFUSION: Final = replace(
    QWEN,
    id="owner/stable-diffusion-ov",
    title="Stable Diffusion 1.5, fp16",
    kind=ImageKind.STABLE_DIFFUSION,
    native_px=512,
    size_step_px=64,
    weights_bytes=2_130_000_000,
    decoder_bytes_per_pixel=1024,
    content_label="",
)
FLUX: Final = replace(
    QWEN, id="flux", title="Flux", kind=ImageKind.FLUX, has_picture_encoder=False
)
REQUEST: Final = PictureRequest(
    "A lighthouse on a cliff in the evening light, oil painting with thick strokes",
    1024,
    1024,
    steps=30,
    guidance=4.0,
    seed=1_048_576,
    negative_prompt="fog, people",
)
_PROMPTS: Final = (
    REQUEST.prompt,
    "Ein Kätzchen schläft auf einem Stapel alter Bücher",
    "Isometric drawing of a small harbour, clean lines, soft colours",
    "A bowl of apricots, still life",
    "Map of an island that does not exist, ink on paper, many small names that nobody can read",
)


def recipe(number: int = 0, **changes: object) -> PictureRecipe:
    """The settings of a made-up picture."""
    made = PictureRecipe(
        prompt=_PROMPTS[number % len(_PROMPTS)],
        negative_prompt="fog, people" if number % 2 else "",
        width=192,
        height=(192, 144, 256)[number % 3],
        steps=30,
        guidance=4.0,
        seed=1_048_576 + number,
        model_id=QWEN.id,
        model_title=QWEN.title,
        kind=QWEN.kind,
        runtime="2026.4.1",
        device_name="Intel Arc 140V",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def painting(width: int, height: int, number: int) -> Pixels:
    """Sky, sea and a light: different for each number."""
    hue = number * 0.7
    rgb = bytearray()
    for y in range(height):
        depth = y / height
        for x in range(width):
            wave = math.sin(x / 9 + number + 12 * depth * depth)
            near = math.hypot(x / width - 0.6, depth - 0.35) < 0.14
            for channel in range(3):
                base = 120 + 100 * math.sin(hue + channel * 1.3 + depth * 2.4)
                value = base + (14 * wave if depth > 0.55 else 0) + (90 if near else 0)
                rgb.append(max(0, min(255, round(value))))
    return Pixels(width, height, bytes(rgb))


def made(number: int) -> MadePicture:
    """A made-up picture of the gallery."""
    when = datetime.now(UTC) - timedelta(hours=number)
    return MadePicture(f"p{number:04}", when, recipe(number), 74.2)


def entry(number: int, folder: Path = Path("gallery")) -> GalleryEntry:
    """Its entry."""
    picture = made(number)
    return GalleryEntry(picture.id, folder / f"{picture.id}.png", picture.made_at, picture)


def fill(store: GalleryStore, count: int) -> tuple[GalleryEntry, ...]:
    """Keep so many pictures."""
    for number in range(count):
        one = recipe(number)
        store.add(painting(one.width, one.height, number), one, seconds=74.2)
    return store.list()


def queued(number: int = 1, **changes: object) -> QueuedPicture:
    """A picture of the queue."""
    request = replace(REQUEST, seed=REQUEST.seed + number)
    item = QueuedPicture(id=number, order=1, model=QWEN, request=request)
    return replace(item, **changes)  # type: ignore[arg-type]


def making(done: int = 12) -> QueuedPicture:
    """One that is being made."""
    return queued(
        phase=QueuePhase.MAKING,
        done_steps=done,
        total_steps=30,
        seconds_per_step=3.14,
        preview=painting(128, 128, 3) if done > 2 else None,
    )
