"""Values that the tests and the pictures of a pair's page share."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dflash_desktop.domain.benchmark import FirstDifference
from dflash_desktop.domain.check_numbers import TextVerdict
from dflash_desktop.domain.check_summary import CheckSummary
from dflash_desktop.domain.check_verdict import Cause, CheckVerdict
from dflash_desktop.domain.pair_contract import (
    ContractResult,
    Finding,
    PassedRule,
    Subject,
    Weight,
)
from dflash_desktop.domain.repair_plan import NotRepaired, Repair, RepairPlan

CHECKED_AT = datetime(2026, 11, 28, 15, 4, tzinfo=UTC)
GRAPH = "openvino_model.xml"
REPAIR = Repair(Subject.TARGET, GRAPH, "where the hidden states of 36 layers are")
PLAN = RepairPlan((REPAIR,), ())
NO_PLAN = RepairPlan((), ())
NOT_MENDED = RepairPlan(
    (),
    (
        NotRepaired(
            "locators_missing",
            Subject.TARGET,
            "The layers cannot be told for certain: two values could be the output of layer 7.",
            "Nothing was guessed. Export the target again with a current exporter.",
        ),
    ),
)
NO_LOCATORS = Finding(
    "locators_missing",
    Weight.WARN,
    Subject.TARGET,
    "hidden_states_decoder_layers for the layers 1, 9, 17, 25, 33",
    "no entry in the graph",
    GRAPH,
    "Repair it: the entry is written anew, and that can be undone.",
)
OTHER_BASE = Finding(
    "base_model_differs",
    Weight.WARN,
    Subject.PAIR,
    "Qwen/Qwen3-8B, as in the draft's card",
    "Qwen/Qwen3-8B-Base",
    "README.md",
    "The draft was made for another target. Check whether it pays.",
)
TOO_NARROW = Finding(
    "hidden_width_differs",
    Weight.BLOCK,
    Subject.PAIR,
    "20480, which is 5 layers of 4096",
    "12800",
    GRAPH,
    "The draft was made for another target. Choose the draft that belongs to this target.",
)
NOTE = Finding("own_code", Weight.INFO, Subject.DRAFT, "", "dflash.py, not used", "config.json")
PASSED = tuple(
    PassedRule(subject, words)
    for subject in (Subject.TARGET, Subject.DRAFT)
    for words in ("All files are there", "The graph can be read", "It keeps a cache")
)
GOOD = ContractResult((NOTE,), PASSED)
WARNINGS = ContractResult((NO_LOCATORS, OTHER_BASE, NOTE), PASSED)
BLOCKED = ContractResult((TOO_NARROW, OTHER_BASE), PASSED[:4])

WORKING = CheckSummary(
    "mine",
    "My pair",
    CHECKED_AT,
    CheckVerdict.WORKING,
    device_name="Intel(R) Arc(TM) 140V GPU (16GB)",
    driver="32.0.101.8000",
    runtime="openvino-genai 2026.4.1",
    kv_cache_precision="f32",
    assistant_tokens=3,
    baseline_tokens_per_second=20.1,
    tokens_per_second=48.3,
    speedup=2.4,
    tokens_per_step=3.62,
    accepted=(0.81, 0.62, 0.48, 0.35, 0.27, 0.19, 0.12),
    text=TextVerdict.IDENTICAL,
)
USELESS = replace(
    WORKING,
    verdict=CheckVerdict.USELESS,
    checked_at=CHECKED_AT - timedelta(days=1),
    causes=(
        Cause(
            "draft_shifted",
            "Tokens are accepted at the first position only, as when the draft's output is "
            "shifted by one place.",
            "The draft was probably exported through the wrong class. Export it with a current "
            "exporter.",
        ),
        Cause(
            "draft_of_another_target",
            "A draft that was trained for another target, or not at all, is accepted as rarely.",
            "Choose the draft that was made for this very target, not for a variant of it.",
        ),
    ),
    tokens_per_second=17.2,
    speedup=0.86,
    tokens_per_step=1.12,
    accepted=(0.12, 0.004, 0.0, 0.0, 0.0, 0.0, 0.0),
)
TIE = replace(
    WORKING,
    text=TextVerdict.NUMERIC_TIE,
    difference=FirstDifference(37, " bright and clear, and the", " bright, and", 0.0004, 0.01),
)
WRONG = replace(
    WORKING,
    verdict=CheckVerdict.WRONG_TEXT,
    checked_at=CHECKED_AT - timedelta(days=9),
    kv_cache_precision="u8",
    text=TextVerdict.WRONG_TOKEN,
    difference=FirstDifference(4, " one two three", " two two two", 2.5, 0.01),
    causes=(
        Cause(
            "wrong_token",
            "At token 5 the text with the draft goes on with “two”, the target's own with “one”. "
            "The target prefers its own by 2.50 nats; rounding explains 0.0100.",
            "Do not use this draft on this device with these versions, and report it.",
        ),
        Cause(
            "kv_cache_precision",
            "The KV cache is u8, which rounds all that was read.",
            "Check again with the KV cache at f32: identical texts then prove the cause.",
        ),
    ),
)
NOT_ATTACHED = CheckSummary(
    "mine",
    "My pair",
    CHECKED_AT,
    CheckVerdict.NOT_ATTACHED,
    (
        Cause(
            "hidden_width_differs",
            "12800; expected: 20480, which is 5 layers of 4096.",
            "The draft was made for another target.",
        ),
    ),
)
