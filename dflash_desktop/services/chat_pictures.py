"""Which pictures of a conversation the loaded model is shown, and what is said of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.problems import AppError, Problem, Remedy

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import LoadedPair
    from dflash_desktop.domain.pictures import Picture


class HasPictures(Protocol):
    """Where the prepared pictures are."""

    def path(self, picture: Picture) -> Path:
        """The prepared file, which may be gone."""

    def is_there(self, picture: Picture) -> bool:
        """Whether it is there."""


class PicturesOfPrompt:
    """Counts what is left out while a prompt is put together."""

    def __init__(self, pair: LoadedPair | None, pictures: HasPictures) -> None:
        self._pair = pair
        self._pictures = pictures
        self._unseen = 0
        self._missing = 0

    def refuse_unseen(self, pictures: tuple[Picture, ...]) -> None:
        """Raise `AppError` when the question's own pictures cannot be shown to the model.

        "model_sees_no_pictures" or "picture_missing": answering without them would be answering
        another question, and nobody would notice.
        """
        if pictures and self._pair is not None and not self._pair.sees_pictures:
            raise AppError(no_sight_problem(self._pair.title))
        missing = tuple(one for one in pictures if not self._pictures.is_there(one))
        if missing:
            raise AppError(_missing_problem(missing))

    def files_of(self, pictures: tuple[Picture, ...]) -> tuple[Path, ...]:
        """The files of these that the model is shown."""
        if self._pair is not None and not self._pair.sees_pictures:
            self._unseen += len(pictures)
            return ()
        there = [one for one in pictures if self._pictures.is_there(one)]
        self._missing += len(pictures) - len(there)
        return tuple(self._pictures.path(one) for one in there)

    @property
    def notice(self) -> str:
        """What the person should know about the pictures of earlier messages, or ""."""
        notices = []
        if self._unseen:
            notices.append(
                f"{_count(self._unseen)} left out, because this model sees no pictures."
            )
        if self._missing:
            notices.append(
                f"{_count(self._missing)} left out, because the file is no longer there."
                if self._missing == 1
                else f"{_count(self._missing)} left out, because the files are no longer there."
            )
        return " ".join(notices)


def no_sight_problem(model_title: str) -> Problem:
    """Pictures for a model that reads only text."""
    return Problem(
        code="model_sees_no_pictures",
        headline=f"“{model_title}” reads text only and sees no pictures.",
        advice="Choose a model that sees; your message and its pictures wait here. Or take the "
        "pictures away and send the text alone.",
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def _missing_problem(pictures: tuple[Picture, ...]) -> Problem:
    names = ", ".join(f"“{one.title}”" for one in pictures)
    return Problem(
        code="picture_missing",
        headline=f"{names} is no longer there, so it cannot be asked about."
        if len(pictures) == 1
        else f"{names} are no longer there, so they cannot be asked about.",
        advice="The prepared file was deleted outside the program. Attach the picture again.",
        detail="\n".join(one.id for one in pictures),
    )


def _count(number: int) -> str:
    return "A picture was" if number == 1 else f"{number} pictures were"
