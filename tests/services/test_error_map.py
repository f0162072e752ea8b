"""Raw texts and codes become sentences that a person understands."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.services.error_map import (
    BUSY,
    NO_MODEL,
    STOPPED,
    crash_problem,
    describe_exit,
    problem_from_failure,
    start_problem,
    version_problem,
)
from dflash_desktop.services.error_sentences import SENTENCES
from dflash_desktop.workers import failures
from dflash_desktop.workers.protocol import Failed

CRASH = crash_problem(cause="It fell.", exit_code=-6, log_tail=("last",), will_restart=True)
OTHER_PROBLEMS = (
    *(BUSY, NO_MODEL, STOPPED, CRASH),
    start_problem("no such file"),
    version_problem("protocol 2", ours=1),
)


def problem_from_raw(raw: str) -> Problem:
    """The whole way: what the runtime throws, through the worker's code, to the sentence."""
    return problem_from_failure(failures.failed(1, RuntimeError(raw)))


@pytest.mark.parametrize(
    ("raw", "words", "remedy"),
    [
        # The numbers are those of the case log.
        pytest.param(
            "DFlash CB/PA does not support scheduler_config.enable_prefix_caching",
            "does not run a draft with the settings",
            Remedy.LOAD_WITHOUT_DRAFT,
            id="1",
        ),
        pytest.param(
            "DFlash CB/PA currently supports greedy decoding only",
            "only at temperature 0",
            Remedy.LOAD_WITHOUT_DRAFT,
            id="2",
        ),
        pytest.param(
            "Model references undeclared parameters: opset1::Parameter beam_idx, attention_mask",
            "no DFlash marker",
            Remedy.LOAD_WITHOUT_DRAFT,
            id="7",
        ),
        pytest.param(
            "The model input (shape=[1,1,384]) and the tensor (shape=(6.1.384)) are incompatible",
            "made for another model",
            Remedy.LOAD_WITHOUT_DRAFT,
            id="25",
        ),
        pytest.param(
            "Generate cannot be called while ContinuousBatchingPipeline is already running",
            "still busy",
            None,
            id="26",
        ),
        pytest.param(
            'Device with "cpu" name is not registered in the OpenVINO Runtime',
            "not available on this machine",
            Remedy.USE_CPU,
            id="53",
        ),
        pytest.param(
            "libOpenCL.so.1: cannot open shared object file",
            "compute part is not installed",
            Remedy.USE_CPU,
            id="54",
        ),
        pytest.param(
            "[GPU] Exceeded max size of memory object allocation: requested 9 bytes",
            "larger piece of graphics memory",
            Remedy.USE_CPU,
            id="59",
        ),
        pytest.param(
            "[GPU] Exceeded max size of memory object allocation: requested 5368709120 bytes, but "
            "max alloc size supported by device is 4294959104 bytes. Please try to reduce batch "
            "size or use lower precision.",
            "larger piece of graphics memory is needed: 5.37 GB, and this device gives 4.29 GB",
            Remedy.CHOOSE_MODEL,
            id="59 too large",
        ),
        pytest.param(
            "[GPU] Exceeded max size of memory object allocation: requested 2305843009213693952 "
            "bytes, but max alloc size supported by device is 4294959104 bytes.",
            "impossible amount of memory",
            Remedy.LOAD_WITHOUT_DRAFT,
            id="59 absurd",
        ),
        pytest.param(
            "[GPU] clWaitForEvents, error code: -14 CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
            "graphics driver reported a fault",
            Remedy.USE_CPU,
            id="60",
        ),
        pytest.param(
            "Check 'budget_in_bytes <= total_available_memory' failed",
            "working memory for this chat is full",
            Remedy.NEW_CHAT,
            id="69",
        ),
        pytest.param(
            "[GPU] clFlush, error code: -5 CL_OUT_OF_RESOURCES",
            "graphics driver reported a fault",
            Remedy.USE_CPU,
            id="62",
        ),
        pytest.param(
            "Request 0 was dropped by the scheduler because it did not fit",
            "working memory for this chat is full",
            Remedy.NEW_CHAT,
            id="105",
        ),
        pytest.param(
            "Got unfinished GenerationStatus", "answer was cut", Remedy.NEW_CHAT, id="105b"
        ),
        pytest.param("basic_ios::clear: iostream error", "disk is full", Remedy.RETRY, id="37"),
        pytest.param(
            "Neither tokenizer nor detokenizer models were provided",
            "no tokenizer",
            Remedy.CHOOSE_MODEL,
            id="48",
        ),
        pytest.param(
            "DLL load failed while importing py_openvino_genai",
            "part of the program is missing",
            Remedy.OPEN_LOG,
            id="100",
        ),
        pytest.param(
            "OSError: [WinError 1455] The paging file is too small",
            "paging file is too small",
            Remedy.CHOOSE_MODEL,
            id="36",
        ),
        pytest.param("std::bad_alloc", "not enough memory", Remedy.CHOOSE_MODEL, id="memory"),
        pytest.param(
            "something never seen before", "Something unexpected", Remedy.RETRY, id="125"
        ),
    ],
)
def test_known_texts_become_sentences(raw: str, words: str, remedy: Remedy | None) -> None:
    problem = problem_from_raw(raw)
    assert words in problem.headline
    assert raw in problem.detail
    assert raw not in problem.headline + problem.advice
    assert remedy is None or remedy in problem.remedies


@pytest.mark.parametrize("code", ["context_full", "message_too_long"])
def test_a_full_context_names_its_numbers_if_it_has_them(code: str) -> None:
    facts = {"prompt_tokens": 9000, "context_tokens": 8192}
    headline = problem_from_failure(Failed(1, code, "", facts=facts)).headline
    assert "9,000" in headline
    assert "8,192" in headline
    assert "{" not in problem_from_failure(Failed(1, code, "")).headline


def test_no_text_is_a_problem_with_a_way_on() -> None:
    problem = problem_from_failure(Failed(1, "no_text", ""))
    assert "without saying anything" in problem.headline
    assert Remedy.RETRY in problem.remedies


def test_every_code_of_the_engine_worker_has_words() -> None:
    codes = {code for _, code in failures._PATTERNS}
    assert not codes - SENTENCES.keys()


def test_an_unknown_code_keeps_its_name_and_gets_general_words() -> None:
    problem = problem_from_failure(Failed(1, "of_the_future", "raw"))
    assert problem.code == "of_the_future"
    assert problem.headline == SENTENCES["worker_error"].headline


@pytest.mark.parametrize(
    "problem",
    [*(problem_from_failure(Failed(1, code, "")) for code in SENTENCES), *OTHER_PROBLEMS],
    ids=lambda problem: problem.code,
)
def test_every_problem_says_what_happened_and_what_to_do(problem: Problem) -> None:
    assert problem.headline.endswith((".", "?"))
    assert problem.advice.endswith(".")
    assert len(problem.headline) < 120
    for jargon in ("Exception", "CL_", "std::", "SIG", "pipe", "None", "process "):
        assert jargon not in problem.headline + problem.advice


def test_the_last_log_lines_go_with_the_details() -> None:
    problem = problem_from_failure(Failed(1, "worker_error", "raw text"), log_tail=("a", "b"))
    assert problem.detail.startswith("raw text")
    assert problem.detail.endswith("a\nb")


def test_a_crash_without_restart_leaves_the_choice_to_the_person() -> None:
    problem = crash_problem(cause="It fell.", exit_code=-9, log_tail=(), will_restart=False)
    assert Remedy.RESTART_ENGINE in problem.remedies
    assert Remedy.RESTART_ENGINE not in CRASH.remedies


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (-9, "memory ran out"),
        (-6, "broke off inside the runtime"),
        (-11, "crashed inside the runtime or the driver"),
        (3221225477, "crashed inside the runtime or the driver"),  # case 67
        (0xC0000135, "part of the engine is missing"),
        (3, "exit code 3"),
    ],
)
def test_exit_codes_are_explained(exit_code: int, words: str) -> None:
    assert words in describe_exit(exit_code)
