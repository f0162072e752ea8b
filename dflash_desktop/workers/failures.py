"""From whatever a native library throws to a code that the window has words for."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, Final

from dflash_desktop.workers.image_pipeline import SourcePictureError
from dflash_desktop.workers.model_folder import ModelFolderError
from dflash_desktop.workers.prompt import CannotSeeError, PromptTooLongError
from dflash_desktop.workers.protocol import Failed
from dflash_desktop.workers.text_pipeline import CannotScoreError, DraftNeedsGreedyError
from dflash_desktop.workers.vision_pipeline import PictureError

if TYPE_CHECKING:
    from collections.abc import Mapping

# First match wins: what makes the process unusable stands before what only failed. The texts are
# those of openvino and openvino-genai 2026.4.1 and of the GPU plugin's driver.
_PATTERNS: Final[tuple[tuple[str, str], ...]] = (
    (
        r"CL_OUT_OF_RESOURCES|CL_INVALID_\w+|clFlush|clFinish|\[GPU\].*(?:failed|error)",
        "gpu_fault",
    ),
    (r"CL_OUT_OF_HOST_MEMORY|CL_MEM_OBJECT_ALLOCATION_FAILURE|bad_alloc", "out_of_memory"),
    (r"out of memory|can ?not allocate|exceeded max size of memory", "out_of_memory"),
    (r"dropped by the scheduler|unfinished GenerationStatus|budget_in_bytes", "cache_full"),
    (r"already running|batch size 1|one request", "engine_busy"),
    (r"supports greedy decoding only", "draft_needs_greedy"),
    (r"enable_prefix_caching", "draft_needs_no_prefix_cache"),
    (r"hidden-state RT info|Malformed hidden-state|Eagle3 fallback", "locators_missing"),
    (r"key '\d+' not found", "locators_missing"),
    (r"dflash|mask_token_id|target_layer_ids", "draft_broken"),
    (r"undeclared parameters", "draft_not_dflash"),
    (r"are incompatible", "pair_mismatch"),
    (r"is not registered|Failed to (?:create|load) plugin|libOpenCL", "device_missing"),
    (r"No space left|iostream error|disk full", "disk_full"),
    (r"gguf", "gguf_unsupported"),
    (r"chat_template|jinja|minja", "template_refused"),
    (r"Could not open the file|Neither tokenizer nor detokenizer", "model_missing"),
    (r"model file .*(?:not found|cannot be opened)", "model_missing"),
    (r"unable to read the model|incorrect weights|read_model|xml|pugi", "model_broken"),
    (r"deserializ|Empty weights|out of range|bin file", "model_broken"),
)
_OWN_ERRORS: Final = (
    (DraftNeedsGreedyError, "draft_needs_greedy"),
    (CannotSeeError, "model_sees_no_pictures"),
    (CannotScoreError, "cannot_score"),
    (PictureError, "picture_refused"),
    (SourcePictureError, "source_picture_gone"),
)
_TAINTING: Final = frozenset({"gpu_fault", "out_of_memory"})


def failed(job: int, error: BaseException) -> Failed:
    """The event for an exception of job `job`."""
    code = _code(error)
    return Failed(
        job=job,
        code=code,
        raw=f"{type(error).__name__}: {error}",
        tainted=code in _TAINTING,
        facts=dict(_facts(error)),
    )


def _code(error: BaseException) -> str:
    if isinstance(error, ModelFolderError | PromptTooLongError):
        return error.code
    own = next((code for kind, code in _OWN_ERRORS if isinstance(error, kind)), "")
    if own:
        return own
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "disk_full"
    if isinstance(error, FileNotFoundError):
        return "model_missing"
    text = str(error)
    for pattern, code in _PATTERNS:
        if re.search(pattern, text, re.IGNORECASE):
            return code
    return "worker_error"


def _facts(error: BaseException) -> Mapping[str, int]:
    if isinstance(error, PromptTooLongError):
        return {"prompt_tokens": error.prompt_tokens, "context_tokens": error.context_tokens}
    return {}
