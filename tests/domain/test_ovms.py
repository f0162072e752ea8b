"""What the model server is given, and what its log says of a draft."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from dflash_desktop.domain.ovms_files import (
    ServedPair,
    config_text,
    configure_command,
    graph_text,
)
from dflash_desktop.domain.ovms_log import LogVerdict, read_ovms_log

PAIR = ServedPair("name", 'C:/models/Jörg\'s "T"', "/d \\ x", "GPU", is_vision=False)
TIME = "[2026-08-15 12:32:30.710][4764]"
START = f"{TIME}[serving][info][server.cpp:93] OpenVINO Model Server 2026.4.0.1f3"
LOADING = f"{TIME}[modelmanager][info] Initializing Language Model Continuous Batching servable"
DFLASH = f"{TIME}[llm_calculator][info] Draft model strategy: DFlash"
AVAILABLE = (
    f"{TIME}[modelmanager][info][pipelinedefinitionstatus.hpp:60] Mediapipe: x state changed to: "
    "AVAILABLE after handling: ValidationPassedEvent:"
)
NO_DRAFT = (
    f"{TIME}[serving][error] Error during draft model initialization for draft_models_path: /d "
    "exception: not found"
)


def fields(text: str) -> dict[str, str]:
    """The options of the node, with the strings taken apart as protobuf does."""
    options = text[text.index("LLMCalculatorOptions") :]
    found = dict(re.findall(r'^\s+(\w+): ("(?:[^"\\]|\\.)*"|\S+)$', options, re.MULTILINE))
    return {
        key: re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
        for key, value in found.items()
    }


def test_the_graph_names_both_models_and_switches_prefix_caching_off() -> None:
    options = fields(graph_text(PAIR))
    assert options["models_path"] == PAIR.target_path
    assert options["draft_models_path"] == PAIR.draft_path
    assert options["enable_prefix_caching"] == "false"
    assert options["device"] == "GPU"
    assert options["pipeline_type"] == "LM_CB"
    assert json.loads(options["plugin_config"]) == {}
    text = graph_text(PAIR)
    assert text.count("{") == text.count("}")


def test_a_processor_computes_as_our_own_engine_does() -> None:
    options = fields(graph_text(replace(PAIR, device="CPU", is_vision=True)))
    assert json.loads(options["plugin_config"])["KV_CACHE_PRECISION"] == "f32"
    assert options["pipeline_type"] == "VLM_CB"


def test_no_name_can_add_an_option() -> None:
    evil = replace(PAIR, target_path='x"\n enable_prefix_caching: true\n y: "', device="CPU")
    text = graph_text(evil)
    assert fields(text)["enable_prefix_caching"] == "false"
    assert "\n enable_prefix_caching: true" not in text


def test_the_configuration_points_to_the_graph() -> None:
    config = json.loads(config_text(PAIR, "/serve here"))
    assert config["mediapipe_config_list"] == [{"name": "name", "base_path": "/serve here"}]


def test_the_servers_own_way_switches_prefix_caching_off_too() -> None:
    command = configure_command(PAIR)
    assert command[command.index("--draft_model_path") + 1] == PAIR.draft_path
    assert command[command.index("--enable_prefix_caching") + 1] == "false"


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ([START, LOADING, DFLASH, AVAILABLE], LogVerdict.ATTACHED),
        ([DFLASH, "state: AVAILABLE"], LogVerdict.ATTACHED),
        ([f"\x1b[32m{DFLASH}\x1b[0m\r", AVAILABLE], LogVerdict.ATTACHED),
        ([START, LOADING, DFLASH], LogVerdict.STARTING),
        ([START, LOADING, AVAILABLE], LogVerdict.NOT_ATTACHED),
        ([LOADING, DFLASH.replace("DFlash", "EAGLE3"), AVAILABLE], LogVerdict.OTHER_STRATEGY),
        (
            [DFLASH.replace("DFlash", "MTP (Multi-Token Prediction)"), AVAILABLE],
            LogVerdict.OTHER_STRATEGY,
        ),
        ([DFLASH.replace("DFlash", "Fast Draft"), AVAILABLE], LogVerdict.OTHER_STRATEGY),
        ([START, LOADING, NO_DRAFT], LogVerdict.FAILED),
        ([DFLASH, "DFlash CB/PA does not support prefix caching."], LogVerdict.FAILED),
        ([START], LogVerdict.NOTHING_LOADED),
        ([], LogVerdict.NOTHING_LOADED),
        (["\x00\x01", "x" * 100_000, "…"], LogVerdict.NOTHING_LOADED),
        ([START, LOADING, NO_DRAFT, START, LOADING, DFLASH, AVAILABLE], LogVerdict.ATTACHED),
        ([START, LOADING, DFLASH, AVAILABLE, START, LOADING, AVAILABLE], LogVerdict.NOT_ATTACHED),
    ],
)
def test_a_log_is_judged_by_its_last_start(lines: list[str], verdict: LogVerdict) -> None:
    reading = read_ovms_log(lines)
    assert reading.verdict is verdict
    assert reading.words


def test_the_words_name_what_was_found() -> None:
    eagle = read_ovms_log([DFLASH.replace("DFlash", "EAGLE3"), AVAILABLE])
    assert "found: EAGLE3" in eagle.words
    failed = read_ovms_log([NO_DRAFT] * 9)
    assert len(failed.errors) == 5
    assert "draft_models_path: /d" in failed.errors[0]
