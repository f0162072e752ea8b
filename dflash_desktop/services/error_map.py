"""Turns what workers report into sentences: what happened, why, what to do next."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.services.allocation_words import allocation_problem
from dflash_desktop.services.error_sentences import SENTENCES, Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.workers.protocol import Failed

DETAIL_LOG_LINES: Final = 40
"""How much of a worker's log goes with a problem; the log file has it all."""


_FINER: Final = tuple(
    (code, re.compile(pattern, re.IGNORECASE), finer_code)
    for code, pattern, finer_code in (
        ("device_missing", r"OpenCL", "gpu_driver_missing"),
        ("out_of_memory", r"Exceeded max size of memory object", "gpu_allocation_limit"),
        ("out_of_memory", r"WinError 1455", "paging_file_small"),
        ("worker_error", r"WinError 1455", "paging_file_small"),
        ("worker_error", r"DLL load failed|undefined symbol|\.so\b", "installation_broken"),
        ("model_missing", r"Neither tokenizer nor detokenizer", "tokenizer_missing"),
    )
)
"""Where the raw text tells more than the worker's code."""


def problem_from_failure(failed: Failed, *, log_tail: tuple[str, ...] = ()) -> Problem:
    """The sentence for a job that broke off; the worker's text and log go into the details."""
    code = _code_of(failed)
    if code == "gpu_allocation_limit" and (problem := allocation_problem(failed.raw)) is not None:
        return replace(problem, detail=_detail(failed.raw, log_tail))
    sentence = SENTENCES.get(code, SENTENCES["worker_error"])
    return Problem(
        code=code,
        headline=_headline(sentence, failed.facts),
        advice=sentence.advice,
        detail=_detail(failed.raw, log_tail),
        remedies=sentence.remedies,
    )


def _code_of(failed: Failed) -> str:
    for code, pattern, finer_code in _FINER:
        if code == failed.code and pattern.search(failed.raw):
            return finer_code
    return failed.code


def _headline(sentence: Sentence, facts: Mapping[str, int]) -> str:
    try:
        return sentence.headline.format_map(facts)
    except KeyError:
        return sentence.without_facts


def crash_problem(
    *, cause: str, exit_code: int | None, log_tail: tuple[str, ...], will_restart: bool
) -> Problem:
    """The sentence for an engine that ended in the middle of something."""
    advice = (
        "It is being restarted. What it had written so far is kept: try again in a moment."
        if will_restart
        else "It ended too often to be restarted by itself. Restart it, and if it happens again, "
        "choose a smaller model, load without the draft, or use the CPU."
    )
    return Problem(
        code="engine_crashed",
        headline=cause,
        advice=advice,
        detail=_detail(f"exit code {exit_code}", log_tail),
        remedies=(Remedy.RETRY, Remedy.REPORT)
        if will_restart
        else (
            Remedy.RESTART_ENGINE,
            Remedy.LOAD_WITHOUT_DRAFT,
            Remedy.USE_CPU,
            Remedy.CHOOSE_MODEL,
            Remedy.REPORT,
        ),
    )


def start_problem(reason: str, *, log_tail: tuple[str, ...] = ()) -> Problem:
    """The sentence for an engine that did not come up; `reason` is for the details."""
    return Problem(
        code="engine_start_failed",
        headline="The engine did not start.",
        advice="Try again. If it stays like this, a part of the program is missing or blocked by "
        "a virus scanner: install it again and allow it to run.",
        detail=_detail(reason, log_tail),
        remedies=(Remedy.RETRY, Remedy.OPEN_LOG),
    )


def version_problem(theirs: str, *, ours: int) -> Problem:
    """The sentence for a worker that speaks another protocol."""
    return Problem(
        code="engine_version",
        headline="The engine belongs to another version of this program.",
        advice="An update was not completed. Close the program and install it again.",
        detail=f"the window speaks protocol {ours}; the engine said: {theirs}",
        remedies=(Remedy.OPEN_LOG,),
    )


NO_MODEL: Final = Problem(
    code="no_model",
    headline="No model is loaded.",
    advice="Choose a model first.",
    remedies=(Remedy.CHOOSE_MODEL, Remedy.INSTALL_STARTER),
)
BUSY: Final = Problem(
    code="engine_busy",
    headline=SENTENCES["engine_busy"].headline,
    advice=SENTENCES["engine_busy"].advice,
)
DEVICES_SILENT: Final = Problem(
    code="devices_silent",
    headline=SENTENCES["devices_silent"].headline,
    advice=SENTENCES["devices_silent"].advice,
    remedies=SENTENCES["devices_silent"].remedies,
)
STOPPED: Final = Problem(
    code="engine_stopped",
    headline="The engine was stopped before it could do this.",
    advice="Try again to start it.",
    remedies=(Remedy.RETRY,),
)

_EXITS: Final = {
    # Linux: the signal's number, negative.
    -4: "The engine ran into an instruction that this processor does not know.",
    -6: "The engine broke off inside the runtime.",
    -9: "The system ended the engine, most often because memory ran out.",
    -11: "The engine crashed inside the runtime or the driver.",
    -15: "Something outside of this program ended the engine.",
    # Windows: NTSTATUS values.
    0xC0000005: "The engine crashed inside the runtime or the driver.",
    0xC000001D: "The engine ran into an instruction that this processor does not know.",
    0xC0000017: "The system ended the engine because memory ran out.",
    0xC0000135: "A part of the engine is missing, so it could not run.",
    0xC0000409: "The engine broke off inside the runtime.",
}


def describe_exit(exit_code: int) -> str:
    """Why a process that was not asked to end has ended, as far as its exit code tells."""
    return _EXITS.get(exit_code, f"The engine ended unexpectedly (exit code {exit_code}).")


def _detail(raw: str, log_tail: tuple[str, ...]) -> str:
    if not log_tail:
        return raw
    lines = "\n".join(log_tail[-DETAIL_LOG_LINES:])
    return f"{raw}\n\nThe engine's last lines:\n{lines}"
