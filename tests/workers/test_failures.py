"""Raw texts of the runtime and the driver, as they were met, become codes with words."""

from __future__ import annotations

import errno

import pytest

from dflash_desktop.workers.failures import failed
from dflash_desktop.workers.prompt import PromptTooLongError

GREEDY = (
    "Check 'sampling_params.is_greedy_decoding()' failed at src/dflash_strategy.cpp:470:\n"
    "DFlash CB/PA currently supports greedy decoding only."
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GREEDY, "draft_needs_greedy"),
        ("DFlash CB/PA does not support scheduler_config.enable_prefix_caching.",
         "draft_needs_no_prefix_cache"),
        ("Generate cannot be called while ContinuousBatchingPipeline is already running",
         "engine_busy"),
        ("[GPU] clFlush, error code: -5 CL_OUT_OF_RESOURCES", "gpu_fault"),
        ("[GPU] Exceeded max size of memory object allocation: requested 9 bytes",
         "out_of_memory"),
        ("std::bad_alloc", "out_of_memory"),
        ("Request 0 was dropped by the scheduler because it did not fit", "cache_full"),
        ("Got unfinished GenerationStatus", "cache_full"),
        ("Model references undeclared parameters: opset1::Parameter beam_idx",
         "draft_not_dflash"),
        ("Malformed hidden-state annotation metadata in model rt_info: parse error",
         "locators_missing"),
        ("key '48' not found", "locators_missing"),
        ("DFlash target model has no hidden-state RT info and Eagle3 fallback found 0 outputs",
         "locators_missing"),
        ("missing dflash_mask_token_id RT info", "draft_broken"),
        ("The model input (shape=[?,1,384]) and the tensor (shape=(6.1.256)) are incompatible",
         "pair_mismatch"),
        ('Device with "cpu" name is not registered in the OpenVINO Runtime', "device_missing"),
        ("libOpenCL.so.1: cannot open shared object file", "device_missing"),
        ("basic_ios::clear: iostream error", "disk_full"),
        ("Neither tokenizer nor detokenizer models were provided", "model_missing"),
        ("Unable to read the model: m.xml. Please check that model format", "model_broken"),
        ("Check 'res.status == pugi::status_ok' failed\nError parsing start element tag",
         "model_broken"),
        ("something never seen before", "worker_error"),
    ],
)  # fmt: skip
def test_known_texts_have_codes(text: str, code: str) -> None:
    event = failed(3, RuntimeError(text))
    assert event.code == code
    assert text in event.raw
    assert event.tainted == (code in {"gpu_fault", "out_of_memory"})


def test_python_faults_have_codes_too() -> None:
    assert failed(1, MemoryError()).tainted
    assert failed(1, OSError(errno.ENOSPC, "No space left on device")).code == "disk_full"
    assert failed(1, FileNotFoundError("gone")).code == "model_missing"


def test_a_full_context_carries_its_numbers() -> None:
    event = failed(1, PromptTooLongError("context_full", 9000, 8192))
    assert event.code == "context_full"
    assert event.facts == {"prompt_tokens": 9000, "context_tokens": 8192}
