"""The states of the engine in words, with the way out where there is one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, assert_never

from dflash_desktop.domain.engine_state import (
    Absent,
    Crashed,
    EngineState,
    Generating,
    HoldsImageModel,
    Loaded,
    Loading,
    MakingPicture,
    Ready,
    Starting,
    Stopping,
)

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import LoadedPair


class Tone(Enum):
    """How a state feels; shown by icon and colour, and always by the words too."""

    QUIET = auto()
    BUSY = auto()
    GOOD = auto()
    WARN = auto()
    BAD = auto()


class WayOut(Enum):
    """What a person can do about a state; the value is the button's words."""

    STOP_ENGINE = "Stop engine"
    RESTART_ENGINE = "Restart engine"


@dataclass(frozen=True, slots=True)
class StateWords:
    """One line for the status line; `explanation` is its tooltip."""

    text: str
    tone: Tone
    explanation: str = ""
    way_out: WayOut | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about the loaded model, with one sentence on what it means."""

    text: str
    explanation: str


KV_CACHE_EXPLANATION = (
    "The KV cache is the model's memory of the conversation. "
    "Its precision decides how much memory it takes."
)
CONTEXT_EXPLANATION = "How much text the model can have in view at once, counted in tokens."

_PAIR_COMES_BACK = (
    "The chat's model was let go for it. The next message in the chat loads that one again."
)

_SLOW_ANSWER = StateWords(
    "No word from the engine for a while",
    Tone.WARN,
    "It may still answer. Stopping it keeps what was written, and the model is loaded again.",
    WayOut.STOP_ENGINE,
)


_NOISE_WORDS = frozenset({"intel", "gpu", "cpu", "processor", "graphics"})


def state_words(state: EngineState) -> StateWords:
    """What the status line says about a state."""
    match state:
        case Absent():
            return StateWords("Engine off", Tone.QUIET, "It starts when a model is loaded.")
        case Starting():
            return StateWords("Starting the engine…", Tone.BUSY)
        case Ready():
            return StateWords("Ready for a model", Tone.QUIET, "The engine holds no model yet.")
        case Loading():
            return _loading_words(state)
        case Loaded():
            return StateWords("Ready", Tone.GOOD, "The model waits for a question.")
        case Generating():
            return _SLOW_ANSWER if state.slow else StateWords("Answering…", Tone.BUSY)
        case HoldsImageModel() | MakingPicture():
            return _picture_words(state)
        case Stopping():
            return StateWords("Stopping the engine…", Tone.BUSY)
        case Crashed():
            return _crash_words(state)
    assert_never(state)


def _picture_words(state: HoldsImageModel | MakingPicture) -> StateWords:
    if isinstance(state, HoldsImageModel):
        return StateWords(f"{state.model.title} is loaded", Tone.GOOD, _PAIR_COMES_BACK)
    if state.slow:
        return StateWords(
            "No step for a while",
            Tone.WARN,
            "The picture may still go on. Stopping ends it, and the model is loaded again.",
            WayOut.STOP_ENGINE,
        )
    return StateWords("Making a picture…", Tone.BUSY, f"{state.model.title} works on it.")


def short_device_name(name: str) -> str:
    """The maker's name as people say it: "Arc 140V" for "Intel(R) Arc(TM) 140V GPU (16GB)"."""
    plain = re.sub(r"\((?:R|TM|C)\)|\(\d+ ?GB\)|@.*$", " ", name, flags=re.IGNORECASE)
    words = [word for word in plain.split() if word.lower() not in _NOISE_WORDS]
    return " ".join(words) or name


def model_facts(pair: LoadedPair) -> tuple[Fact, ...]:
    """The facts that the status line shows about a loaded model, most telling first."""
    device = pair.device_name if pair.device == "CPU" else f"{pair.device} {pair.device_name}"
    facts = [Fact(device, "The device that computes the answers.")]
    if pair.driver:
        facts.append(Fact(f"driver {pair.driver}", "The graphics driver's version."))
    facts.append(Fact(f"KV {pair.kv_cache_precision.value}", KV_CACHE_EXPLANATION))
    facts.append(Fact(f"{pair.context_tokens:,} tokens", CONTEXT_EXPLANATION))
    return tuple(facts)


def _loading_words(state: Loading) -> StateWords:
    if state.slow:
        return StateWords(
            f"{state.stage} The first compilation can take minutes",
            Tone.BUSY,
            "The next time is much faster, because the compiled model is kept.",
            WayOut.STOP_ENGINE,
        )
    share = "" if state.fraction is None else f" {state.fraction:.0%}"
    return StateWords(f"{state.stage}{share}", Tone.BUSY)


def _crash_words(state: Crashed) -> StateWords:
    if state.will_restart:
        return StateWords("The engine ended; starting it again…", Tone.WARN, state.cause)
    return StateWords("The engine ended", Tone.BAD, state.cause, WayOut.RESTART_ENGINE)
