from __future__ import annotations

import pytest

from dflash_desktop.domain.engine_state import (
    Absent,
    Crashed,
    EngineState,
    Generating,
    Loaded,
    Loading,
    Ready,
    Starting,
    Stopping,
)
from dflash_desktop.ui.engine_words import WayOut, model_facts, short_device_name, state_words
from tests.ui.shell_values import LOADED


@pytest.mark.parametrize(
    ("state", "text", "way_out"),
    [
        (Absent(), "Engine off", None),
        (Starting(), "Starting the engine…", None),
        (Ready("r"), "Ready for a model", None),
        (Loading("Reading the target.", 0.42), "Reading the target. 42%", None),
        (Loaded(LOADED), "Ready", None),
        (Generating(LOADED), "Answering…", None),
        (Generating(LOADED, slow=True), "No word from the engine for a while", WayOut.STOP_ENGINE),
        (Stopping(), "Stopping the engine…", None),
        (Crashed("c", 1, (), will_restart=True), "The engine ended; starting it again…", None),
        (Crashed("c", 1, (), will_restart=False), "The engine ended", WayOut.RESTART_ENGINE),
    ],
)
def test_every_state_has_words_and_a_way_out_where_one_is_needed(
    state: EngineState, text: str, way_out: WayOut | None
) -> None:
    words = state_words(state)
    assert (words.text, words.way_out) == (text, way_out)


def test_a_long_load_says_that_the_first_compilation_takes_minutes_and_can_be_stopped() -> None:
    words = state_words(Loading("Compiling.", slow=True))
    assert "minutes" in words.text
    assert words.way_out is WayOut.STOP_ENGINE


def test_the_cause_of_a_crash_is_told() -> None:
    assert state_words(Crashed("It ran out of memory.", -9, (), True)).explanation == (
        "It ran out of memory."
    )


def test_facts_name_the_device_the_driver_the_cache_and_the_context() -> None:
    assert [fact.text for fact in model_facts(LOADED)] == [
        "GPU.0 Intel(R) Arc(TM) 140V GPU (16GB)",
        "driver 32.0.101.8000",
        "KV f16",
        "8,192 tokens",
    ]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Intel(R) Arc(TM) 140V GPU (16GB)", "Arc 140V"),
        ("Intel(R) Core(TM) Ultra 7 258V", "Core Ultra 7 258V"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Xeon"),
        ("AMD EPYC", "AMD EPYC"),
        ("Intel(R) Graphics", "Intel(R) Graphics"),
        ("", ""),
    ],
)
def test_device_names_are_shortened_to_what_people_say(name: str, short: str) -> None:
    assert short_device_name(name) == short
