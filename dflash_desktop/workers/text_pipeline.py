"""A target with and without its draft: the only user of GenAI's text pipelines.

`ContinuousBatchingPipeline` is driven step by step rather than through `LLMPipeline.generate`:
the engine underneath is the same, but each step hands over the tokens of one verification step,
the prompt is read in pieces with something to show in between, and a cancelled job
ends with the step that runs, also while the prompt is being read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.generation import (
    FinishReason,
    GenerationStats,
    KvCachePrecision,
    SamplingParams,
    clamp_assistant_tokens,
    draft_rests_because,
)
from dflash_desktop.domain.pair import DraftFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_PREFILL_CHUNK_TOKENS: Final = 256  # SchedulerConfig.max_num_batched_tokens' default
_CPU_PREFILL_CHUNK_TOKENS: Final = 64
"""A job can be cancelled between chunks only. On two cores a chunk of 256 takes up to 1.2 s late
in the context and one of 64 up to 0.3 s, for no loss below 1,000 tokens and 9 % at 4,000."""
_WARM_UP_TOKENS: Final = 8
_ALL_TOKENS: Final = 2**31 - 1  # GenAI's "no top_k"

CPU_EXACTNESS: Final[Mapping[str, str | int]] = {
    "INFERENCE_PRECISION_HINT": "f32",
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
}
"""What keeps a draft's text the target's own on any processor.

With bf16 a processor would compute in it, and refuses a KV cache of f32 (2026.4.1, AVX512-BF16).
With VNNI it would round activations to int8, differently for one row than for several: the text
with a draft then departs within ten words (measured).
"""


class DraftNeedsGreedyError(Exception):
    """Sampling was asked for together with the draft, which the runtime would refuse later."""


@dataclass(frozen=True, slots=True)
class PipelineSource:
    """Everything that decides how a pair's pipelines are built."""

    target_dir: Path
    draft_dir: Path | None
    draft: DraftFacts | None
    device: str
    kv_cache_precision: KvCachePrecision
    keep_both: bool
    cache_dir: Path | None


@dataclass(frozen=True, slots=True)
class PrefillStep:
    """A piece of the prompt was read."""

    done_tokens: int


@dataclass(frozen=True, slots=True)
class TokenStep:
    """One verification step: its tokens, of which the first `drafted` were the draft's."""

    tokens: tuple[int, ...]
    drafted: int
    stats: GenerationStats


@dataclass(frozen=True, slots=True)
class LastStep:
    """The job is over."""

    reason: FinishReason
    stats: GenerationStats


GenerationStep = PrefillStep | TokenStep | LastStep


class PairPipelines:
    """Builds, keeps and drives the pipelines of one pair.

    Not thread-safe: one job at a time, on one thread, as DFlash allows one request at a time.
    """

    def __init__(self, source: PipelineSource, *, report: Callable[[str], None]) -> None:
        self._source = source
        self._report = report
        self._built: dict[bool, Any] = {}
        self._request_id = 0
        self._tokenizer: Any = None

    def build(self) -> None:
        """Build what the first answer needs (all, with `keep_both`) and run it once, warm."""
        with_draft = self._source.draft_dir is not None
        self._pipeline(with_draft=with_draft)
        if self._source.keep_both and with_draft:
            self._pipeline(with_draft=False)

    @property
    def _prefill_chunk_tokens(self) -> int:
        on_cpu = self._source.device == "CPU"
        return _CPU_PREFILL_CHUNK_TOKENS if on_cpu else _PREFILL_CHUNK_TOKENS

    @property
    def tokenizer(self) -> Any:  # noqa: ANN401 - GenAI has no stubs that mypy can use
        """The target's tokenizer."""
        return self._tokenizer

    def generate(
        self,
        prompt_ids: Sequence[int],
        params: SamplingParams,
        *,
        assistant_tokens: int,
        context_tokens: int,
        is_cancelled: Callable[[], bool],
    ) -> Iterator[GenerationStep]:
        """Answer a prompt; `assistant_tokens` 0 runs the target alone.

        Raises `DraftNeedsGreedyError` before anything runs when both the draft and sampling are
        wanted. The last item is always `LastStep`. Any exception leaves the pipeline in an
        unknown state, so it is let go and built anew when it is needed again.
        """
        if assistant_tokens and (reason := draft_rests_because(params)):
            raise DraftNeedsGreedyError(reason)
        draft = self._source.draft if assistant_tokens else None
        wanted = clamp_assistant_tokens(assistant_tokens, draft.block_size) if draft else 0
        pipeline = self._pipeline(with_draft=bool(wanted))
        max_new_tokens = max(1, min(params.max_new_tokens, context_tokens - len(prompt_ids)))
        config = self._config(pipeline, params, wanted, max_new_tokens)
        try:
            yield from self._run(pipeline, prompt_ids, config, wanted, is_cancelled)
        except BaseException:
            self._built.pop(bool(wanted), None)
            raise

    def log_probability(self, context: Sequence[int], candidate: int) -> float:
        """The target's log-probability, in nats, of `candidate` as the token after `context`."""
        return self._scored([*context, candidate], new_tokens=1, echo=True)[1][len(context)]

    def noise(self, prompt_ids: Sequence[int], answer: Sequence[int]) -> float:
        """How far one token's log-probability differs, at most, between two ways to compute it.

        `answer` is the target's own greedy answer. Making it anew goes token by token, as without
        a draft; scoring it goes in one pass, as tokens of a draft are checked.
        """
        made, stepwise = self._scored(prompt_ids, new_tokens=len(answer), echo=False)
        _, at_once = self._scored([*prompt_ids, *made], new_tokens=1, echo=True)
        return max(
            (abs(a - b) for a, b in zip(stepwise, at_once[len(prompt_ids) :], strict=False)),
            default=0.0,
        )

    def _scored(
        self, ids: Sequence[int], *, new_tokens: int, echo: bool
    ) -> tuple[list[int], list[float]]:
        """Token ids and their log-probabilities from the target alone, the given ones on echo."""
        pipeline = self._pipeline(with_draft=False)
        config = self._config(pipeline, SamplingParams(), 0, new_tokens)
        config.logprobs = 1
        config.echo = echo
        handle = self._add(pipeline, ids, config)
        while pipeline.has_non_finished_requests():
            pipeline.step()
        (output,) = handle.read_all()
        return (
            [int(token) for token in output.generated_ids],
            [float(value) for value in output.generated_log_probs],
        )

    def _run(
        self,
        pipeline: Any,  # noqa: ANN401
        prompt_ids: Sequence[int],
        config: Any,  # noqa: ANN401
        assistant_tokens: int,
        is_cancelled: Callable[[], bool],
    ) -> Iterator[GenerationStep]:
        handle = self._add(pipeline, prompt_ids, config)
        clock = _StepClock(len(prompt_ids), assistant_tokens)
        cancelled = False
        reason = FinishReason.STOP
        while pipeline.has_non_finished_requests():
            if not cancelled and is_cancelled():
                cancelled = True
                handle.cancel()
            pipeline.step()
            outputs = handle.read() if not cancelled and handle.can_read() else {}
            if not outputs:
                clock.prefill_steps += 1
                done = clock.prefill_steps * self._prefill_chunk_tokens
                if not clock.steps:
                    yield PrefillStep(min(done, len(prompt_ids)))
                continue
            (output,) = outputs.values()
            tokens = tuple(int(token) for token in output.generated_ids)
            if not tokens:
                continue
            clock.count(len(tokens))
            if output.finish_reason.name == "LENGTH":
                reason = FinishReason.LENGTH
            yield TokenStep(tokens, len(tokens) - 1 if assistant_tokens else 0, clock.stats())
        yield LastStep(FinishReason.CANCELLED if cancelled else reason, clock.stats())

    def _add(self, pipeline: Any, ids: Sequence[int], config: Any) -> Any:  # noqa: ANN401
        import numpy as np
        import openvino as ov

        self._request_id += 1
        return pipeline.add_request(
            self._request_id, ov.Tensor(np.array([ids], dtype=np.int64)), config
        )

    def _pipeline(self, *, with_draft: bool) -> Any:  # noqa: ANN401
        if with_draft not in self._built:
            if not self._source.keep_both:
                self._built.clear()  # the other one must go first: memory holds one target
            self._built[with_draft] = self._build_one(with_draft=with_draft)
        return self._built[with_draft]

    def _build_one(self, *, with_draft: bool) -> Any:  # noqa: ANN401
        self._report("Loading the target with its draft" if with_draft else "Loading the target")
        cache_dir = self._source.cache_dir
        try:
            pipeline = self._construct(with_draft=with_draft, cache_dir=cache_dir)
        except RuntimeError:
            if cache_dir is None:
                raise
            # A stale compile cache fails only here (openvino#37607); without it the load is slow
            # but right. A real fault fails again and is reported.
            self._report("The compile cache did not help: compiling anew")
            pipeline = self._construct(with_draft=with_draft, cache_dir=None)
        self._tokenizer = pipeline.get_tokenizer()
        self._report("Warming up")
        self._warm_up(pipeline, with_draft=with_draft)
        return pipeline

    def _construct(self, *, with_draft: bool, cache_dir: Path | None) -> Any:  # noqa: ANN401
        import openvino_genai as genai

        source = self._source
        scheduler = genai.SchedulerConfig()
        scheduler.enable_prefix_caching = False  # DFlash refuses it (case 1)
        scheduler.max_num_batched_tokens = self._prefill_chunk_tokens
        common: dict[str, Any] = {"CACHE_DIR": str(cache_dir)} if cache_dir else {}
        if source.device == "CPU":
            # A desktop is shared: pinned threads wait behind other programs (measured: 4 to 9 %).
            common |= {"ENABLE_CPU_PINNING": False, **CPU_EXACTNESS}
        properties: dict[str, Any] = {
            "KV_CACHE_PRECISION": str(source.kv_cache_precision),
            **common,
        }
        if with_draft:
            # Attaching rewrites the draft's graph, so a draft object serves one pipeline only.
            properties["draft_model"] = genai.draft_model(
                str(source.draft_dir), source.device, **common
            )
        return genai.ContinuousBatchingPipeline(
            str(source.target_dir), scheduler, source.device, properties
        )

    def _warm_up(self, pipeline: Any, *, with_draft: bool) -> None:  # noqa: ANN401
        assistant_tokens = 0
        if with_draft and self._source.draft:
            assistant_tokens = clamp_assistant_tokens(3, self._source.draft.block_size)
        config = self._config(pipeline, SamplingParams(), assistant_tokens, _WARM_UP_TOKENS)
        config.ignore_eos = True
        ids = self._tokenizer.encode("Hello, world").input_ids.data[0]
        self._add(pipeline, [int(token) for token in ids], config)
        while pipeline.has_non_finished_requests():
            pipeline.step()

    @staticmethod
    def _config(
        pipeline: Any,  # noqa: ANN401
        params: SamplingParams,
        assistant_tokens: int,
        max_new_tokens: int,
    ) -> Any:  # noqa: ANN401
        """The model's own stop tokens, with everything about sampling set by us (case 2)."""
        config = pipeline.get_config()
        config.max_new_tokens = max_new_tokens
        config.num_beams = 1
        config.num_return_sequences = 1
        config.repetition_penalty = params.repetition_penalty
        config.do_sample = not params.is_greedy
        if params.is_greedy:
            config.temperature, config.top_p, config.top_k = 1.0, 1.0, _ALL_TOKENS
        else:
            config.temperature = params.temperature
            config.top_p = params.top_p
            config.top_k = params.top_k or _ALL_TOKENS
            config.rng_seed = params.seed
        if assistant_tokens:
            config.num_assistant_tokens = assistant_tokens
            config.assistant_confidence_threshold = 0.0
        return config


class _StepClock:
    """Counts steps and tokens of one job and keeps their times."""

    def __init__(self, prompt_tokens: int, assistant_tokens: int) -> None:
        self._prompt_tokens = prompt_tokens
        self._assistant_tokens = assistant_tokens
        self._started_at = perf_counter()
        self._first_at = 0.0
        self._last_at = 0.0
        self._tokens = 0
        self._first_step_tokens = 0
        self.steps = 0
        self.prefill_steps = 0

    def count(self, tokens: int) -> None:
        """One step has brought `tokens` tokens just now."""
        self._last_at = perf_counter()
        if not self.steps:
            self._first_at = self._last_at
            self._first_step_tokens = tokens
        self.steps += 1
        self._tokens += tokens

    def stats(self) -> GenerationStats:
        """The counts up to now."""
        return GenerationStats(
            prompt_tokens=self._prompt_tokens,
            tokens=self._tokens,
            steps=self.steps,
            first_step_tokens=self._first_step_tokens,
            first_token_seconds=self._first_at - self._started_at if self.steps else 0.0,
            decode_seconds=self._last_at - self._first_at,
            assistant_tokens=self._assistant_tokens,
        )
