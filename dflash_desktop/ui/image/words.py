"""What the image page says about models, pictures and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.pictures import size_words
from dflash_desktop.domain.prompt_length import is_cut_off, least_tokens
from dflash_desktop.domain.units import format_seconds

if TYPE_CHECKING:
    from dflash_desktop.domain.image_models import ImageModel
    from dflash_desktop.domain.made_picture import MadePicture, PictureRecipe

RESPONSIBILITY: Final = (
    "Nobody checks what a model draws. What you make and share is your responsibility."
)
NO_GUIDANCE_WITHOUT_NEGATIVE: Final = (
    "With this model guidance works only together with a negative prompt."
)
NO_NEGATIVE: Final = "This model knows no negative prompt."
PAIR_IS_LET_GO: Final = (
    "The chat's model leaves the memory while pictures are made. The next message loads it again."
)


def model_words(model: ImageModel) -> str:
    """What kind it is, and what people must know of its content."""
    label = f" · {model.content_label}" if model.content_label else ""
    return f"{model.kind.value}{label}"


def cut_off_words(model: ImageModel, prompt: str) -> str:
    """That the end of a prompt surely has no effect, or nothing."""
    if model.prompt_tokens is None or not is_cut_off(prompt, model.prompt_tokens):
        return ""
    return (
        f"This model reads {model.prompt_tokens} tokens, and the prompt has more: at least "
        f"{least_tokens(prompt):,} words and signs. The end of it has no effect."
    )


def label_explanation(model: ImageModel) -> str:
    """What the content label means."""
    if model.content_label == "uncensored":
        return "This model was changed so that it refuses nothing: it may draw what offends."
    return f"The catalogue calls this model “{model.content_label}”."


def picture_rows(picture: MadePicture) -> tuple[tuple[str, str], ...]:
    """All settings by name, as they were used."""
    recipe = picture.recipe
    rows = [("Prompt", recipe.prompt)]
    if recipe.negative_prompt:
        rows.append(("Negative prompt", recipe.negative_prompt))
    rows += [
        ("Model", f"{recipe.model_title} ({recipe.kind.value})"),
        ("Size", size_words(recipe.width, recipe.height)),
        ("Steps", str(recipe.steps)),
        ("Guidance", "not used" if recipe.guidance is None else f"{recipe.guidance:g}"),
        ("Seed", str(recipe.seed)),
    ]
    if recipe.strength is not None:
        part = "a part of a picture" if recipe.has_mask else "a picture"
        rows.append(("Began with", f"{part}, strength {recipe.strength:g}"))
    rows += [
        ("Made", f"{picture.made_at.astimezone():%Y-%m-%d %H:%M}"),
        ("Took", f"{format_seconds(picture.seconds)} on {recipe.device_name or 'this machine'}"),
    ]
    if recipe.runtime:
        rows.append(("Runtime", f"OpenVINO GenAI {recipe.runtime}"))
    return tuple(rows)


def lost_beginning(recipe: PictureRecipe, *, has_source: bool) -> str:
    """What is missing to make a picture again that began with another one, or ""."""
    if recipe.strength is None:
        return ""
    if not has_source:
        return "It began with a picture that is not in the gallery. Choose that picture again."
    return "Only a part of it was made anew. Paint that part again." if recipe.has_mask else ""


def picture_title(picture: MadePicture | None) -> str:
    """One line: what a person asked for."""
    return "A picture of unknown settings" if picture is None else picture.recipe.prompt


def picture_facts(picture: MadePicture | None) -> str:
    """The settings in one line, for captions."""
    if picture is None:
        return "Nothing is known of how it was made."
    recipe = picture.recipe
    size = size_words(recipe.width, recipe.height)
    return f"{size} · {recipe.steps} steps · seed {recipe.seed} · {recipe.model_title}"


def differing_rows(left: MadePicture, right: MadePicture) -> tuple[tuple[str, str, str], ...]:
    """The settings in which two pictures differ: name, left, right."""
    ours, theirs = dict(picture_rows(left)), dict(picture_rows(right))
    names = [*ours, *(name for name in theirs if name not in ours)]
    return tuple(
        (name, ours.get(name, "none"), theirs.get(name, "none"))
        for name in names
        if ours.get(name) != theirs.get(name) and name not in ("Made", "Took")
    )


def count_words(count: int) -> str:
    """How many pictures there are."""
    return "1 picture" if count == 1 else f"{count:,} pictures"
