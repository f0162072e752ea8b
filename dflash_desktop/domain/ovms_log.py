"""What a log of OpenVINO Model Server says about its draft, in one verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_LINE_LIMIT: Final = 2000
_ERRORS_KEPT: Final = 5

# The texts are those of OVMS 2026: src/llm, src/mediapipe_internal.
_START: Final = re.compile(r"OpenVINO Model Server \d{4}\.\d", re.IGNORECASE)
_STRATEGY: Final = re.compile(r"Draft model strategy:\s*(.+?)\s*$", re.IGNORECASE)
_MODEL: Final = re.compile(
    r"Initializing (?:Visual )?Language Model|LLM node|HttpLLMCalculator", re.IGNORECASE
)
_AVAILABLE: Final = re.compile(r"\bstate(?: changed to)?:\s*AVAILABLE\b", re.IGNORECASE)
_FAILED: Final = re.compile(
    r"Error during draft model initialization|Failed to detect draft model strategy"
    r"|Error during llm node initialization|does not support prefix caching"
    r"|state changed to:\s*(?:LOADING_PRECONDITION_FAILED|UNAVAILABLE)|hidden-state RT info"
    r"|LLM_NODE_RESOURCE_STATE_INITIALIZATION_FAILED",
    re.IGNORECASE,
)


class LogVerdict(StrEnum):
    """How the draft of the last start fared."""

    ATTACHED = "attached"  # as DFlash, and the model is available
    STARTING = "starting"  # as DFlash, and the log ends before the model is available
    OTHER_STRATEGY = "other_strategy"
    NOT_ATTACHED = "not_attached"
    FAILED = "failed"
    NOTHING_LOADED = "nothing_loaded"  # the log says nothing of a language model


@dataclass(frozen=True, slots=True)
class LogReading:
    """The verdict, and the lines that it rests on, since the server's last start."""

    verdict: LogVerdict
    strategies: tuple[str, ...]
    is_available: bool
    errors: tuple[str, ...]

    @property
    def words(self) -> str:
        """What it means and what to do, for people."""
        found = ", ".join(self.strategies)
        return _WORDS[self.verdict].format(strategies=found)


_WORDS: Final = {
    LogVerdict.ATTACHED: (
        "The draft is attached as DFlash and the model is available. That alone is no proof that "
        "its tokens are accepted: compare the speed with and without it, or run “dflash-desktop "
        "check TARGET DRAFT”."
    ),
    LogVerdict.STARTING: (
        "The draft was recognised as DFlash, but the log ends before the model is available. Wait "
        "until the line with “state changed to: AVAILABLE” is there, and look again."
    ),
    LogVerdict.OTHER_STRATEGY: (
        "A draft is attached, but not as DFlash (found: {strategies}). The server tells the kind "
        "by the marker dflash_mode in the draft's openvino_model.xml: run “dflash-desktop verify "
        "TARGET DRAFT”, and check that draft_models_path leads to the draft that you mean."
    ),
    LogVerdict.NOT_ATTACHED: (
        "A language model was loaded, and no draft with it: there is no line “Draft model "
        "strategy”. Check that the graph.pbtxt that the server reads has draft_models_path, and "
        "that the server is new enough (2026.4)."
    ),
    LogVerdict.FAILED: (
        "The model or its draft could not be loaded. The lines below say why; for a pair, run "
        "“dflash-desktop verify TARGET DRAFT”, and check that prefix caching is off."
    ),
    LogVerdict.NOTHING_LOADED: (
        "The log says nothing about a language model. Start the server anew and give this command "
        "the log from its first line on."
    ),
}


def read_ovms_log(lines: Iterable[str]) -> LogReading:
    """Judge the last start of the server that the lines tell of; takes any text."""
    strategies: list[str] = []
    errors: list[str] = []
    has_model = is_available = False
    for raw in lines:
        line = _COLOURS.sub("", raw[:_LINE_LIMIT]).strip()
        if _START.search(line):
            strategies, errors = [], []
            has_model = is_available = False
        if match := _STRATEGY.search(line):
            strategies.append(match[1][:80])
        elif _FAILED.search(line):
            errors = [*errors, line][-_ERRORS_KEPT:]
        has_model = has_model or bool(_MODEL.search(line))
        is_available = is_available or bool(_AVAILABLE.search(line))
    verdict = _verdict(strategies, errors, has_model=has_model, is_available=is_available)
    return LogReading(verdict, tuple(strategies), is_available, tuple(errors))


def _verdict(
    strategies: list[str], errors: list[str], *, has_model: bool, is_available: bool
) -> LogVerdict:
    if errors:
        return LogVerdict.FAILED
    if strategies:
        if not any(name.lower().startswith("dflash") for name in strategies):
            return LogVerdict.OTHER_STRATEGY
        return LogVerdict.ATTACHED if is_available else LogVerdict.STARTING
    return LogVerdict.NOT_ATTACHED if has_model or is_available else LogVerdict.NOTHING_LOADED
