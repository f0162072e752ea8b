"""Texts that exporters really print, and what a person is told."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.export_faults import FAULTS, Fault, export_problem, knows, own_problem

SAID = {
    "export_paging_file": "OSError: [WinError 1455] The paging file is too small for this "
    "operation to complete",
    "export_memory": "RuntimeError: [enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: "
    "can't allocate memory: you tried to allocate 2489319424 bytes.",
    "export_disk": "RuntimeError: Exception from src/core/src/pass/serialize.cpp:\n"
    "basic_ios::clear: iostream error",
    "export_file_held": "PermissionError: [WinError 32] The process cannot access the file "
    "because it is being used by another process: 'openvino_model.bin'",
    "export_path_long": "OSError: [Errno 36] File name too long: '/a'",
    "export_not_writable": "OSError: [Errno 30] Read-only file system: '/mnt/out'",
    "export_group_size": "nncf.errors.InvalidGroupSizeError: Failed to apply group-wise "
    "quantization with group size value 128. (channel size: 576)",
    "export_file_missing": "OfflineModeIsEnabled: Cannot reach https://huggingface.co/x/y: "
    "outgoing traffic has been disabled. To enable hf-hub online mode, unset HF_HUB_OFFLINE",
    "export_tools_unfit": "ValueError: The current version of Transformers does not allow for the "
    "export of the model. Maximum required is 5.0, got: 5.5.4",
    "export_tools_damaged": "RuntimeError: operator torchvision::nms does not exist",
    "export_draft_class": "ValueError: Config dummy inputs are not a subset of the model inputs: "
    "{'hidden_states'} vs {'labels'}",
    "export_draft_config": "ValueError: DFlash export supports only Qwen3-based draft models, got "
    "model_type=llama.",
    "export_own_code": "ValueError: The repository x contains custom code which must be executed "
    "to correctly load the model.",
    "export_tensors": "RuntimeError: size mismatch for fc.weight: copying a param with shape "
    "torch.Size([128, 256])",
    "export_checkpoint_damaged": "safetensors_rust.SafetensorError: Error while deserializing "
    "header: MetadataIncompleteBuffer",
    "export_task": "KeyError: Cannot infer the task from a local directory yet, please specify "
    "the task manually",
    "export_quantized": "ImportError: Loading a GPTQ quantized model requires gptqmodel",
    "export_mtp": "NotImplementedError: mtp_num_hidden_layers = 2 is not supported",
}
MORE = {
    "No space left on device": "export_disk",
    "ImportError: cannot import name 'Qwen3_5DynamicCache' from 'transformers.models.qwen3_5'": (
        "export_tools_unfit"
    ),
    "Trying to export a foo_next model, that is a custom or unsupported architecture": (
        "export_tools_unfit"
    ),
    "Transformers does not recognize this architecture": "export_tools_unfit",
    "huggingface-hub>=0.30.0,<1.0 is required for a normal functioning of this module": (
        "export_tools_damaged"
    ),
    "terminate called after throwing an instance of 'std::bad_alloc'": "export_memory",
    "OSError: x does not appear to have a file named config.json": "export_file_missing",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.code)
def test_each_fault_is_found_in_a_text_that_was_seen(fault: Fault) -> None:
    code = fault.code
    problem = export_problem(raw=SAID[code])

    assert problem.code == code
    assert problem.advice
    assert SAID[code] in problem.detail
    assert problem.headline.endswith(".")
    assert "Error" not in problem.headline + problem.advice


@pytest.mark.parametrize(("text", "code"), MORE.items())
def test_it_is_found_in_the_log_of_a_step_that_said_nothing_itself(text: str, code: str) -> None:
    log = ("Loading weights: 100%", *text.splitlines(), "Traceback (most recent call last):")

    assert export_problem(log=log, exit_code=1).code == code


def test_what_a_step_says_of_itself_goes_before_what_stands_in_the_log() -> None:
    log = ("warning: No space left on device, trying again", "done")

    assert export_problem(code="tensors_wrong", raw="missing: norm.weight", log=log).code == (
        "export_tensors_wrong"
    )


def test_words_far_up_in_the_log_belong_to_something_else() -> None:
    log = ("MemoryError", *["a line"] * 200)

    assert export_problem(log=log, exit_code=1).code == "export_failed"


@pytest.mark.parametrize("exit_code", [-9, 137])
def test_a_process_that_was_killed_without_a_word_ran_out_of_memory(exit_code: int) -> None:
    problem = export_problem(log=("Loading weights:  12%",), exit_code=exit_code)

    assert problem.code == "export_killed"
    assert "memory" in problem.headline


def test_an_unknown_failure_is_not_made_into_a_known_one() -> None:
    problem = export_problem(raw="KeyError: 'what'", exit_code=1)

    assert problem.code == "export_failed"
    assert problem.detail == "KeyError: 'what'"


def test_the_programs_own_faults_have_words() -> None:
    for code in ("tensors_wrong", "no_safetensors", "code_left", "draft_not_supported"):
        assert knows(code)
        assert own_problem(code, "raw").code == f"export_{code}"
