"""`dflash-desktop image`: pictures out of words, or out of another picture."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.image_output import ImageOutput, PictureFiles
from dflash_desktop.cli.result import EXIT_FAULT, ToldResult
from dflash_desktop.domain.picture_request import PictureRequest, new_seed, size_presets
from dflash_desktop.domain.problems import AppError, Problem

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.devices import Device
    from dflash_desktop.domain.image_models import ImageModel

HELP = """Make pictures with a model of the library.

Without --model the first model that makes pictures is taken. Each picture is a PNG with all its
settings inside. --json prints one object a line, as things happen.

examples:
  dflash-desktop image "A lighthouse in the evening, oil painting"
  dflash-desktop image "A cat" --seed 7 --steps 20 --size 1024x768 --out cat.png
  dflash-desktop image "A cat" --negative "fog, people" --guidance 5 --count 4 --out pictures
  dflash-desktop image "The same in winter" --from house.jpg --strength 0.6
"""

_SIZE: Final = re.compile(r"([0-9]{1,5})[xX×]([0-9]{1,5})")
_USUAL_STRENGTH: Final = 0.75


def add_arguments(parser: ArgumentParser) -> None:
    """The prompt, the settings, the model, and where the pictures go."""
    parser.add_argument("prompt", metavar="PROMPT", help="what is to be seen")
    parser.add_argument("--negative", default="", metavar="TEXT", help="what should not be seen")
    parser.add_argument(
        "--model", metavar="MODEL", help="the id of a model in the library, or its folder"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="PATH",
        help="a file that ends in .png, or a folder (default: this folder)",
    )
    parser.add_argument(
        "--size",
        type=_size,
        metavar="WxH",
        help="in pixels (default: what the model was made for)",
    )
    parser.add_argument("--steps", type=int, metavar="N", help="more takes longer")
    parser.add_argument("--guidance", type=float, metavar="G", help="how closely to follow")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="the same one makes the same picture again"
    )
    parser.add_argument(
        "--count", type=int, default=1, metavar="N", help="each with the next seed (default 1)"
    )
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="a picture to begin with"
    )
    parser.add_argument(
        "--strength",
        type=float,
        default=_USUAL_STRENGTH,
        metavar="S",
        help="how much of that picture may change, above 0 and at most 1 (default 0.75)",
    )
    parser.add_argument(
        "--device", default="", metavar="NAME", help="as `doctor` shows it (default: the best one)"
    )


async def run(args: Namespace, context: CommandContext) -> ToldResult:
    """Make them; raises `AppError` for what is wrong before anything is begun."""
    from dflash_desktop.cli.pair_options import pair_loading
    from dflash_desktop.services.image_studio import ImageStudio

    model = _model(args.model, context)
    request = await _request(args, model, context)
    output = ImageOutput(as_json=args.json)
    loading = pair_loading(context)

    async def device() -> Device:
        return await loading.chosen_device(args.device)

    studio = ImageStudio(
        engine=context.engine,
        gallery=PictureFiles(args.out, count=args.count, on_written=output.made),
        choose_device=device,
        compile_cache_dir=context.paths.compile_cache_dir,
        note_used=context.models.note_used,
    )
    studio.subscribe(lambda: output.progress(studio.queue()))
    try:
        studio.order(request, model, count=args.count)
        await studio.idle()
        failed = next((i.problem for i in studio.queue() if i.problem is not None), None)
    finally:
        await studio.close()
    if failed is not None:
        output.failed(failed)
        return ToldResult(EXIT_FAULT)
    output.done()
    return ToldResult(0)


def _model(wanted: str | None, context: CommandContext) -> ImageModel:
    """The named model, or the first of the library. Raises `AppError`."""
    from dflash_desktop.services.catalogue_store import load_catalogue
    from dflash_desktop.services.image_models import added_image_model, image_models
    from dflash_desktop.services.model_store import model_key

    if wanted is not None and Path(wanted).is_dir():
        return added_image_model(Path(wanted))
    entries = image_models(context.models.models(), load_catalogue())
    if wanted is not None:
        entries = tuple(e for e in entries if model_key(e.id) == model_key(wanted))
    usable = next((entry.model for entry in entries if entry.model is not None), None)
    if usable is not None:
        return usable
    if entries and entries[0].problem is not None:
        raise AppError(entries[0].problem)
    raise AppError(_no_model(wanted))


async def _request(args: Namespace, model: ImageModel, context: CommandContext) -> PictureRequest:
    usual = size_presets(model)[0]
    width, height = args.size or (usual.width, usual.height)
    source = None
    if args.source is not None:
        picture = await context.pictures.prepare(args.source)
        source = context.pictures.path(picture)
    return PictureRequest(
        prompt=args.prompt,
        negative_prompt=args.negative,
        width=width,
        height=height,
        steps=model.facts.steps if args.steps is None else args.steps,
        guidance=model.facts.guidance if args.guidance is None else args.guidance,
        seed=new_seed() if args.seed is None else args.seed,
        source=source,
        strength=args.strength,
    )


def _size(text: str) -> tuple[int, int]:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size like 1024x768")
    return int(match[1]), int(match[2])


def _no_model(wanted: str | None) -> Problem:
    if wanted is not None:
        return Problem(
            code="model_not_found",
            headline=f"No model that makes pictures is called “{wanted}”.",
            advice="`dflash-desktop models list` shows what is here; the path of a folder works, "
            "too.",
        )
    return Problem(
        code="image_model_missing",
        headline="No model that makes pictures is here.",
        advice="Get one with `dflash-desktop pull`, for instance "
        "blaj/Qwen-Image-2.1-Uncensored-OpenVINO-INT4, or name the folder of one with --model.",
    )
