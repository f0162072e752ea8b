"""What can go wrong with a GGUF file, in words that lead on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.gguf_bytes import GgufError

_OTHER_FILE: Final = (Remedy.CHOOSE_FILE,)
_REFUSALS: Final = {
    "gguf_not_gguf": ("“{name}” is no GGUF file.", "Choose a file that ends in .gguf."),
    "gguf_version": (
        "“{name}” is a GGUF file of another age or machine.",
        "Get a newer file of this model: they are usually found beside it.",
    ),
    "gguf_cut": (
        "“{name}” is cut off.",
        "The copy or the download broke off. Get the file again.",
    ),
    "gguf_damaged": (
        "“{name}” is damaged, and was not opened any further.",
        "Get the file again, from a source that you trust.",
    ),
    "gguf_split": (
        "“{name}” is a part of a model that was split.",
        "Put all parts into one folder under their own names, and choose the first one.",
    ),
    "gguf_incomplete": (
        "“{name}” lacks something that the runtime needs.",
        (
            "It may be a part of a model, for instance only its adapter or its image reader. "
            "Choose the file of the whole model."
        ),
    ),
    "gguf_architecture": (
        "The runtime cannot convert the kind of model in “{name}”.",
        (
            "It converts Llama, Qwen2 and Qwen3 models without experts. Choose one of these, or "
            "the same model in OpenVINO's own form."
        ),
    ),
    "gguf_quantization": (
        "The runtime cannot read how the weights in “{name}” are packed.",
        "Choose a file of this model called Q4_0, Q4_1, Q4_K_M, Q4_K_S, Q6_K, Q8_0 or F16.",
    ),
    "gguf_tokenizer": (
        "The runtime cannot read the tokenizer in “{name}”.",
        (
            "It reads byte-level BPE only, as Llama 3 and Qwen have it. Choose another model, or "
            "the same one in OpenVINO's own form."
        ),
    ),
}
_BROKEN_OFF: Final = {
    "engine_crashed": "",  # the engine's own headline says how it ended
    "out_of_memory": "There was not enough memory.",
    "paging_file_small": "Windows ran out of memory: its paging file is too small.",
    # The check before let the file through, so it is not the kind of model.
    "gguf_unsupported": "OpenVINO could not open or read the file.",
}


def refused(path: Path, error: GgufError) -> Problem:
    """The check before the conversion said no."""
    headline, advice = _REFUSALS[error.code]
    return Problem(
        code=error.code,
        headline=headline.format(name=path.name),
        advice=f"The reason: {error}. {advice}",
        detail=f"{path}: {error}",
        remedies=_OTHER_FILE,
    )


def unreadable(path: Path, error: OSError) -> Problem:
    """The file cannot be opened or read."""
    is_gone = isinstance(error, FileNotFoundError)
    return Problem(
        code="gguf_unreadable",
        headline=f"“{path.name}” {'is not there' if is_gone else 'cannot be read'}.",
        advice="Check the path and the rights of the file, and that its disk is connected.",
        detail=str(error),
        remedies=(Remedy.CHOOSE_FILE, Remedy.RETRY),
    )


def disk_short(folder: Path, *, needed_bytes: int, free_bytes: int) -> Problem:
    """There is no room for the converted model."""
    return Problem(
        code="disk_full",
        headline=(
            f"The conversion needs {format_bytes(needed_bytes)} of free disk space, and "
            f"{format_bytes(free_bytes)} are free."
        ),
        advice="Free some space on the disk of the models, or move them to another one.",
        detail=str(folder),
        remedies=(Remedy.RETRY,),
    )


def memory_short(*, needed_bytes: int, free_bytes: int) -> Problem:
    """The conversion would take more memory than there is."""
    return Problem(
        code="memory_short",
        headline=(
            f"The conversion needs about {format_bytes(needed_bytes)} of memory, and "
            f"{format_bytes(free_bytes)} are free."
        ),
        advice="Close other programs and try again, or choose a smaller file of this model.",
        remedies=(Remedy.RETRY, Remedy.CHOOSE_FILE),
    )


def name_refused(name: str, reason: str) -> Problem:
    """A model cannot have this name."""
    return Problem(
        code="name_refused",
        headline=f"A model cannot be called “{name[:80]}”.",
        advice=f"The reason: {reason}. Choose another name.",
    )


def name_taken(name: str) -> Problem:
    """There is another model of this name, which must not be replaced by chance."""
    return Problem(
        code="name_taken",
        headline=f"There is a model called “{name}” in the library already.",
        advice="Choose another name, or remove that model first.",
    )


def already_running() -> Problem:
    """Two conversions at once would need the memory of both."""
    return Problem(
        code="import_running",
        headline="Another GGUF file is being imported now.",
        advice="Wait until that is done, then try again.",
        remedies=(Remedy.RETRY,),
    )


def conversion_failed(error: AppError, *, needed_bytes: int, free_bytes: int) -> Problem:
    """The engine's own words, and where memory may be the cause, the numbers of it."""
    problem = error.problem
    cause = _BROKEN_OFF.get(problem.code)
    if cause is None:
        return replace(problem, advice=f"{problem.advice} Nothing half-made was left.")
    return Problem(
        code="conversion_crashed",
        headline=f"The conversion broke off. {cause or problem.headline}",
        advice=(
            f"It takes about {format_bytes(needed_bytes)} of memory, and "
            f"{format_bytes(free_bytes)} were free when it began. Close other programs or choose "
            "a smaller file; if there was enough, the file may be damaged. Nothing half-made was "
            "left."
        ),
        detail=problem.detail,
        remedies=(Remedy.RETRY, Remedy.CHOOSE_FILE, Remedy.OPEN_LOG),
    )


def unusable(detail: str) -> Problem:
    """The conversion ended well, but the model is not what it must be."""
    return Problem(
        code="conversion_unusable",
        headline="The file was converted, but the result cannot be used.",
        advice=(
            "OpenVINO converted it in a way that this version of the program does not know. "
            "Nothing was added to the library. Please report it with the details."
        ),
        detail=detail,
        remedies=(Remedy.CHOOSE_FILE,),
    )
