"""The engine's jobs on the real starter pair: text, counts, cancelling, context, faults."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.generation import (
    FinishReason,
    KvCachePrecision,
    PromptMessage,
    Role,
    SamplingParams,
    TextOrigin,
)
from dflash_desktop.workers import protocol
from dflash_desktop.workers.engine import EngineJobs
from dflash_desktop.workers.text_pipeline import CPU_EXACTNESS
from tests.fakes.loaded_engine import LoadedEngine, RecordingRuntime

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

pytestmark = [pytest.mark.starter, pytest.mark.openvino]


@pytest.fixture(scope="module")
def engine(starter_pair: PairFolders) -> LoadedEngine:
    return LoadedEngine(starter_pair)


def test_what_was_loaded_is_said(engine: LoadedEngine) -> None:
    pair = engine.loaded.pair
    assert pair.device == "CPU"
    assert pair.device_name not in {"", "CPU"}
    assert pair.kv_cache_precision is KvCachePrecision.F32
    assert pair.context_tokens == 8192
    assert pair.draft is not None
    assert pair.draft.block_size == 8
    assert pair.runtime.startswith("2026.")


@pytest.mark.parametrize(
    "question",
    [
        "Name three planets.",
        "Count from 1 to 20.",
        "你好 🎉",
        # Where dynamic quantisation, on processors that have VNNI, made another text.
        "Explain how rain forms in a few sentences.",
        "Write a short story about a fox.",
    ],
)
def test_the_text_is_the_targets_own_with_and_without_the_draft(
    engine: LoadedEngine, question: str
) -> None:
    with_draft = engine.answer(question)
    without = engine.answer(question, assistant_tokens=0)
    assert with_draft.finished.token_ids == without.finished.token_ids
    assert with_draft.text == without.text
    assert with_draft.stats.steps < without.stats.steps


def test_counts_agree_with_each_other_and_with_the_tokens(engine: LoadedEngine) -> None:
    answer = engine.answer("Write one sentence about the sea.")
    stats = answer.stats
    assert stats.tokens == len(answer.finished.token_ids)
    assert stats.accepted_tokens == stats.tokens - stats.steps
    assert stats.tokens_per_step is not None
    assert stats.tokens_per_step > 1.2
    assert stats.accepted_share is not None
    assert 0 < stats.accepted_share <= 1
    assert answer.texts[-1].stats == stats  # the last live figure is the final one
    live = [event.stats.tokens for event in answer.texts]
    assert live == sorted(live)
    drafted = [r for event in answer.texts for r in event.runs if r.origin is TextOrigin.DRAFT]
    assert drafted
    assert max(run.step for run in drafted) < stats.steps


def test_figures_equal_the_runtimes_own_counters(
    engine: LoadedEngine, starter_pair: PairFolders
) -> None:
    import openvino_genai as genai

    scheduler = genai.SchedulerConfig()
    scheduler.enable_prefix_caching = False
    pipeline = genai.LLMPipeline(
        str(starter_pair.target_dir),
        "CPU",
        ATTENTION_BACKEND="PA",
        scheduler_config=scheduler,
        KV_CACHE_PRECISION="f32",
        draft_model=genai.draft_model(str(starter_pair.draft_dir), "CPU", **CPU_EXACTNESS),
        **CPU_EXACTNESS,
    )
    config = pipeline.get_generation_config()
    config.max_new_tokens, config.num_assistant_tokens, config.do_sample = 48, 3, False
    history = genai.ChatHistory([{"role": "user", "content": "Name three planets."}])
    result = pipeline.generate(history, config)

    answer = engine.answer("Name three planets.")
    assert answer.text == result.texts[0]
    assert answer.stats.tokens == result.perf_metrics.get_num_generated_tokens()
    accepted = result.extended_perf_metrics.get_num_accepted_tokens()
    assert answer.stats.accepted_tokens == accepted


def test_assistant_tokens_are_clamped_to_the_block(engine: LoadedEngine) -> None:
    assert engine.answer("Count from 1 to 20.", assistant_tokens=50).stats.assistant_tokens == 7


def test_sampling_runs_without_the_draft_and_is_refused_with_it(engine: LoadedEngine) -> None:
    warm = SamplingParams(temperature=1.2, max_new_tokens=24, seed=1)
    first = engine.answer("Tell me a story.", params=warm, assistant_tokens=0)
    again = engine.answer("Tell me a story.", params=warm, assistant_tokens=0)
    other = engine.answer(
        "Tell me a story.",
        params=SamplingParams(temperature=1.2, max_new_tokens=24, seed=2),
        assistant_tokens=0,
    )
    assert first.finished.token_ids == again.finished.token_ids
    assert first.finished.token_ids != other.finished.token_ids
    engine.ask("Tell me a story.", params=warm, assistant_tokens=3)
    assert engine.failure().code == "draft_needs_greedy"


def test_each_turn_carries_the_earlier_ones(engine: LoadedEngine) -> None:
    sizes = [
        engine.answer(*turns, params=SamplingParams(max_new_tokens=1)).started.prompt_tokens
        for turns in (("a",), ("a", "b", "c"), ("a", "b", "c", "d", "e"))
    ]
    assert sizes == sorted(set(sizes))


def test_a_cancelled_answer_ends_at_once_and_the_next_one_is_right(engine: LoadedEngine) -> None:
    whole = engine.answer("Count from 1 to 40.")
    calls = iter(range(1000))
    engine.runtime.is_cancelled_now = lambda: next(calls) >= 6
    try:
        cut = engine.answer("Count from 1 to 40.")
    finally:
        engine.runtime.is_cancelled_now = lambda: False
    assert cut.finished.reason is FinishReason.CANCELLED
    assert 0 < cut.stats.steps <= 7
    assert whole.text.startswith(cut.text)
    assert engine.answer("Count from 1 to 40.").text == whole.text


def test_a_long_prompt_shows_progress_and_can_be_cancelled_while_it_is_read(
    engine: LoadedEngine,
) -> None:
    engine.runtime.is_cancelled_now = lambda: len(engine.runtime.of(protocol.Prefill)) >= 1
    try:
        cut = engine.answer("word " * 1500)
    finally:
        engine.runtime.is_cancelled_now = lambda: False
    assert cut.finished.reason is FinishReason.CANCELLED
    assert cut.stats.tokens == 0
    progress = engine.runtime.of(protocol.Prefill)
    assert progress[0].done_tokens < progress[0].total_tokens == cut.started.prompt_tokens


def test_beyond_the_context_a_single_message_is_refused_with_numbers(
    engine: LoadedEngine,
) -> None:
    engine.ask("word " * 9000)
    failure = engine.failure()
    assert failure.code == "message_too_long"
    assert failure.facts["prompt_tokens"] > failure.facts["context_tokens"] == 8192


def test_a_full_conversation_is_refused_or_loses_its_oldest_turns(engine: LoadedEngine) -> None:
    turns = ("word " * 7000, "ok", "word " * 1300, "ok", "Say hi.")
    engine.ask(*turns, params=SamplingParams(max_new_tokens=2))
    assert engine.failure().code == "context_full"
    kept = engine.answer(*turns, params=SamplingParams(max_new_tokens=2), leave_out_oldest=True)
    assert kept.started.left_out_messages == 2
    assert kept.started.prompt_tokens < 1600


def test_length_and_stop_are_told_apart(engine: LoadedEngine) -> None:
    assert engine.answer("What is the capital of France?").finished.reason is FinishReason.STOP
    short = engine.answer("Count to 100.", params=SamplingParams(max_new_tokens=5))
    assert short.finished.reason is FinishReason.LENGTH
    assert short.stats.tokens == 5


def test_scores_rank_the_targets_own_choice_first(engine: LoadedEngine) -> None:
    answer = engine.answer("Name three planets.")
    own, other = answer.finished.token_ids[2], 1000
    engine.jobs.run(
        protocol.Score(
            5,
            (PromptMessage(Role.USER, "Name three planets."),),
            answer.finished.token_ids[:2],
            (own, other),
        )
    )
    (scored,) = engine.runtime.of(protocol.Scored)
    assert scored.log_probabilities[0] > scored.log_probabilities[1]
    assert scored.log_probabilities[0] <= 0


def test_rounding_noise_is_measured_and_tiny_at_full_precision(engine: LoadedEngine) -> None:
    question = "Name three planets."
    own = engine.answer(question, assistant_tokens=0).finished.token_ids
    engine.jobs.run(protocol.MeasureNoise(7, (PromptMessage(Role.USER, question),), own))
    (noise,) = engine.runtime.of(protocol.Noise)
    assert 0 <= noise.nats < 1e-3


def test_detokenize_leaves_special_tokens_out(engine: LoadedEngine) -> None:
    engine.runtime.sent.clear()
    engine.jobs.run(protocol.Detokenize(6, ((504, 2365), (2,), ())))
    (event,) = engine.runtime.of(protocol.Detokenized)
    assert event.texts[0].strip()
    assert event.texts[1:] == ("", "")


def test_one_resident_pipeline_is_swapped_when_the_other_is_needed(
    starter_pair: PairFolders,
) -> None:
    engine = LoadedEngine(starter_pair, keep_both=False)
    assert not engine.loaded.pair.keeps_both
    without = engine.answer("What is the capital of France?", assistant_tokens=0)
    assert "Loading the target" in [e.stage for e in engine.runtime.of(protocol.LoadProgress)]
    assert engine.answer("What is the capital of France?").text == without.text


def test_bad_folders_are_told_by_code(
    engine: LoadedEngine, starter_pair: PairFolders, tmp_path: Path
) -> None:
    cut = tmp_path / "cut"
    shutil.copytree(starter_pair.target_dir, cut)
    (cut / "openvino_model.bin").write_bytes(b"too short")
    assert starter_pair.draft_dir is not None
    for target, draft, code in (
        (tmp_path / "nowhere", None, "model_missing"),
        (starter_pair.target_dir, starter_pair.target_dir, "draft_not_dflash"),
        (cut, None, "model_broken"),
    ):
        engine_of_its_own = EngineJobs(runtime := RecordingRuntime())
        engine_of_its_own.run(protocol.Load(1, "x", target, draft, "CPU"))
        assert [event.code for event in runtime.of(protocol.Failed)] == [code]


def test_nothing_loaded_is_said(tmp_path: Path) -> None:
    jobs = EngineJobs(runtime := RecordingRuntime())
    jobs.run(protocol.Generate(1, (), SamplingParams(), 0))
    assert runtime.of(protocol.Failed)[0].code == "nothing_loaded"


def test_a_file_that_is_no_gguf_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    fake = tmp_path / "model.gguf"
    fake.write_bytes(b"GGUF" + b"\xff" * 64)
    jobs = EngineJobs(runtime := RecordingRuntime())
    jobs.run(protocol.ConvertGguf(1, fake, tmp_path / "out"))
    assert runtime.of(protocol.Failed)
    assert not list((tmp_path / "out").glob("*.gguf"))


def test_another_card_in_the_place_of_the_chosen_one_is_not_used(
    starter_pair: PairFolders,
) -> None:
    runtime = RecordingRuntime()
    EngineJobs(runtime).run(
        protocol.Load(
            1, "T", starter_pair.target_dir, None, "CPU", device_name="Intel(R) Arc(TM) B580"
        )
    )

    (failed,) = runtime.of(protocol.Failed)
    assert failed.code == "device_changed"
