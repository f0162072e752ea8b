"""Turns what workers report into sentences: what happened, why, what to do next."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.services.allocation_words import allocation_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.workers.protocol import Failed

DETAIL_LOG_LINES: Final = 40
"""How much of a worker's log goes with a problem; the log file has it all."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What a person is told; `{name}` stands for one of the failure's facts."""

    headline: str
    advice: str
    remedies: tuple[Remedy, ...] = ()
    without_facts: str = ""  # the headline when the worker sent no numbers


_SENTENCES: Final[Mapping[str, _Sentence]] = {
    "model_missing": _Sentence(
        "The model's files are not where they were.",
        "They were moved or deleted, or the disk is not connected. Bring them back and try again, "
        "or choose another model.",
        (Remedy.RETRY, Remedy.CHOOSE_MODEL),
    ),
    "model_broken": _Sentence(
        "This model cannot be read: a file is damaged or incomplete.",
        "Download or export the model again, or choose another one.",
        (Remedy.CHOOSE_MODEL, Remedy.RETRY),
    ),
    "draft_missing": _Sentence(
        "The draft's files are not where they were.",
        "They were moved or deleted, or the disk is not connected. Bring them back and try again, "
        "or load the model without a draft.",
        (Remedy.RETRY, Remedy.LOAD_WITHOUT_DRAFT),
    ),
    "draft_broken": _Sentence(
        "This draft cannot be used.",
        "A file of it is damaged, or it is of a kind that the installed runtime does not run. "
        "Load the model without it, or get the draft again.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "draft_not_dflash": _Sentence(
        "This draft carries no DFlash marker.",
        "It is an ordinary model, or it was exported by a tool that does not know DFlash. Export "
        "it again, or load the model without a draft.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "pair_mismatch": _Sentence(
        "This draft was made for another model.",
        "It expects other layers or sizes than this model has. Choose the draft that belongs to "
        "it, or load the model without a draft.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "draft_needs_greedy": _Sentence(
        "The draft works only at temperature 0.",
        "Set the temperature to 0 to use the draft, or switch the draft off.",
        (Remedy.LOAD_WITHOUT_DRAFT,),
    ),
    "draft_needs_no_prefix_cache": _Sentence(
        "The runtime does not run a draft with the settings that it was given.",
        "This is a fault of the program: please report it. Load the model without the draft to "
        "go on.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.OPEN_LOG),
    ),
    "locators_missing": _Sentence(
        "The draft cannot find this model's layers.",
        "The model was exported without the marks that a draft needs, they are damaged, or the "
        "draft was made for a model with more layers. Load it without the draft, or get the "
        "model again.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "template_refused": _Sentence(
        "This model's chat template does not accept this conversation.",
        "Some models take no system prompt, or want question and answer by turns. Empty the "
        "system prompt or start a new chat.",
        (Remedy.NEW_CHAT, Remedy.CHOOSE_MODEL),
    ),
    "nothing_loaded": _Sentence(
        "No model is loaded.",
        "Choose a model first.",
        (Remedy.CHOOSE_MODEL, Remedy.INSTALL_STARTER),
    ),
    "tokenizer_missing": _Sentence(
        "This model's folder has no tokenizer.",
        "The export or download is incomplete. Get the model again, or choose another one.",
        (Remedy.CHOOSE_MODEL,),
    ),
    "context_full": _Sentence(
        "The conversation has {prompt_tokens:,} tokens, and this model holds {context_tokens:,}.",
        "Leave out the oldest messages, start a new chat, or send a shorter message.",
        (Remedy.LEAVE_OUT_OLDEST, Remedy.NEW_CHAT),
        without_facts="The conversation no longer fits into this model's context.",
    ),
    "message_too_long": _Sentence(
        "This message alone has {prompt_tokens:,} tokens, and this model holds "
        "{context_tokens:,}.",
        "Send a shorter part of it, or choose a model with a longer context.",
        (Remedy.CHOOSE_MODEL,),
        without_facts="This message alone is longer than this model's context.",
    ),
    "cache_full": _Sentence(
        "The answer was cut: the engine's working memory for this chat is full.",
        "Start a new chat or leave out the oldest messages, then try again.",
        (Remedy.LEAVE_OUT_OLDEST, Remedy.NEW_CHAT),
    ),
    "no_text": _Sentence(
        "The model ended without saying anything.",
        "Try again or put the question differently. If it stays silent, the conversation may be "
        "too long for this model: start a new chat.",
        (Remedy.RETRY, Remedy.NEW_CHAT),
    ),
    "gpu_fault": _Sentence(
        "The graphics driver reported a fault, so the engine was restarted.",
        "This can come from too little graphics memory or from the driver itself. Try again; if "
        "it comes back, use a shorter chat, load the model without the draft, or use the CPU.",
        (Remedy.RETRY, Remedy.NEW_CHAT, Remedy.LOAD_WITHOUT_DRAFT, Remedy.USE_CPU),
    ),
    "gpu_allocation_limit": _Sentence(
        "The model needs a larger piece of graphics memory than this driver gives out at once.",
        "Use a smaller or more strongly compressed model, a shorter chat, or the CPU.",
        (Remedy.CHOOSE_MODEL, Remedy.NEW_CHAT, Remedy.USE_CPU),
    ),
    "out_of_memory": _Sentence(
        "There was not enough memory, so the engine was restarted.",
        "Close other programs, start a new chat, or choose a smaller model.",
        (Remedy.RETRY, Remedy.NEW_CHAT, Remedy.CHOOSE_MODEL),
    ),
    "paging_file_small": _Sentence(
        "Windows ran out of memory: its paging file is too small.",
        "Let Windows manage the size of the paging file (System, Advanced system settings, "
        "Performance), close other programs, or choose a smaller model.",
        (Remedy.RETRY, Remedy.CHOOSE_MODEL),
    ),
    "device_missing": _Sentence(
        "The chosen device is not available on this machine.",
        "Check that the graphics card is connected and its driver installed, or use the CPU.",
        (Remedy.CHOOSE_DEVICE, Remedy.USE_CPU, Remedy.RETRY),
    ),
    "device_changed": _Sentence(
        "The graphics cards of this machine have changed.",
        "Another card is where the chosen one was. Load the model again to look for it, or choose "
        "another device.",
        (Remedy.RETRY, Remedy.CHOOSE_DEVICE),
    ),
    "devices_silent": _Sentence(
        "The graphics drivers do not answer.",
        "A driver that hangs stays so until the machine is restarted. The processor works "
        "without it.",
        (Remedy.USE_CPU, Remedy.RETRY),
    ),
    "gpu_driver_missing": _Sentence(
        "The graphics driver's compute part is not installed.",
        "Install the OpenCL loader and Intel's compute runtime (Debian and Ubuntu: ocl-icd-"
        "libopencl1 and intel-opencl-icd), or use the CPU.",
        (Remedy.USE_CPU, Remedy.RETRY),
    ),
    "disk_full": _Sentence(
        "The disk is full.",
        "Free some space on the disk of the program's data and of the temporary files, then try "
        "again.",
        (Remedy.RETRY,),
    ),
    "engine_busy": _Sentence(
        "The engine is still busy with the last question.",
        "Wait for its answer or stop it, then try again.",
    ),
    "gguf_unsupported": _Sentence(
        "This GGUF file holds a kind of model that the runtime cannot convert.",
        "It knows Llama, Qwen2 and Qwen3 models. Choose another file, or an OpenVINO model.",
        (Remedy.CHOOSE_FILE, Remedy.CHOOSE_MODEL),
    ),
    "installation_broken": _Sentence(
        "A part of the program is missing or does not fit the others.",
        "Install the program again. On Windows, also install the current Microsoft Visual C++ "
        "runtime.",
        (Remedy.OPEN_LOG,),
    ),
    "worker_error": _Sentence(
        "Something unexpected went wrong in the engine.",
        "Try again. If it happens again, copy the details and report it.",
        (Remedy.RETRY, Remedy.RESTART_ENGINE, Remedy.OPEN_LOG),
    ),
}

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
    sentence = _SENTENCES.get(code, _SENTENCES["worker_error"])
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


def _headline(sentence: _Sentence, facts: Mapping[str, int]) -> str:
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
        remedies=(Remedy.RETRY, Remedy.OPEN_LOG)
        if will_restart
        else (
            Remedy.RESTART_ENGINE,
            Remedy.LOAD_WITHOUT_DRAFT,
            Remedy.USE_CPU,
            Remedy.CHOOSE_MODEL,
            Remedy.OPEN_LOG,
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
    headline=_SENTENCES["engine_busy"].headline,
    advice=_SENTENCES["engine_busy"].advice,
)
DEVICES_SILENT: Final = Problem(
    code="devices_silent",
    headline=_SENTENCES["devices_silent"].headline,
    advice=_SENTENCES["devices_silent"].advice,
    remedies=_SENTENCES["devices_silent"].remedies,
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
