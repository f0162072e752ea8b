"""A target with and without its draft, for text and for pictures: the only user of GenAI's
language pipelines.

`ContinuousBatchingPipeline` is driven step by step rather than through `LLMPipeline.generate`:
the engine underneath is the same, but each step hands over the tokens of one verification step,
the prompt is read in pieces with something to show in between, and a cancelled job
ends with the step that runs, also while the prompt is being read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.generation import (
    FinishReason,
    KvCachePrecision,
    SamplingParams,
    clamp_assistant_tokens,
    draft_rests_because,
)
from dflash_desktop.domain.pair import DraftFacts
from dflash_desktop.workers.generation_steps import (
    GenerationStep,
    LastStep,
    PrefillStep,
    StepClock,
    TokenStep,
)
from dflash_desktop.workers.prompt import Prompt
from dflash_desktop.workers.vision_pipeline import (
    QwenGrid,
    add_vision_request,
    hand_over_templated,
    picture_size,
    picture_tag,
)

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


class CannotScoreError(Exception):
    """Given tokens cannot be scored: with a model that sees pictures the runtime would crash."""


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
    sees_pictures: bool = False
    is_hybrid: bool = False

    @property
    def uses_own_head(self) -> bool:
        """Whether the draft is the target's own MTP head."""
        return self.draft_dir == self.target_dir


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
        self._picture_tokens: dict[tuple[int, int], int] = {}
        self.chat_template = ""

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
        prompt: Prompt,
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
        max_new_tokens = max(1, min(params.max_new_tokens, context_tokens - prompt.tokens))
        config = self._config(pipeline, params, wanted, max_new_tokens)
        try:
            yield from self._run(pipeline, prompt, config, wanted, is_cancelled)
        except BaseException:
            self._built.pop(bool(wanted), None)
            raise

    def picture_tokens(self, path: Path) -> int:
        """How many tokens of the prompt a prepared picture takes, with its marks.

        Computed where the rule is known, else asked of the pipeline once for each size: the
        runtime tells it only when a request is over.
        """
        size = picture_size(path)
        if size not in self._picture_tokens:
            grid = QwenGrid.of_folder(self._source.target_dir)
            self._picture_tokens[size] = grid.tokens(*size) if grid else self._asked_tokens(path)
        return self._picture_tokens[size]

    def _asked_tokens(self, path: Path) -> int:
        with_draft = True in self._built  # whichever is there: a reload would cost more
        pipeline = self._pipeline(with_draft=with_draft)
        config = self._config(pipeline, SamplingParams(), int(with_draft), 1)
        try:
            handle = self._add(pipeline, Prompt((), text=picture_tag(0), pictures=(path,)), config)
            while pipeline.has_non_finished_requests():
                pipeline.step()
        except BaseException:
            self._built.pop(with_draft, None)  # as in `generate`
            raise
        return int(handle.get_vlm_perf_metrics().get_num_input_tokens())

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
        if self._source.sees_pictures:
            # `echo` ends the process where prompts are embeddings (2026.4.1, SIGSEGV).
            raise CannotScoreError("echo is not to be had for a model that sees pictures")
        pipeline = self._pipeline(with_draft=False)
        config = self._config(pipeline, SamplingParams(), 0, new_tokens)
        config.logprobs = 1
        config.echo = echo
        handle = self._add_ids(pipeline, ids, config)
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
        prompt: Prompt,
        config: Any,  # noqa: ANN401
        assistant_tokens: int,
        is_cancelled: Callable[[], bool],
    ) -> Iterator[GenerationStep]:
        clock = StepClock(prompt.tokens, assistant_tokens, picture_tokens=prompt.picture_tokens)
        handle = self._add(pipeline, prompt, config)
        if prompt.pictures:
            clock.note_pictures()
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
                    yield PrefillStep(min(done, prompt.tokens))
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

    def _add(self, pipeline: Any, prompt: Prompt, config: Any) -> Any:  # noqa: ANN401
        if not self._source.sees_pictures:
            return self._add_ids(pipeline, prompt.token_ids, config)
        self._request_id += 1
        return add_vision_request(pipeline, self._request_id, prompt.text, prompt.pictures, config)

    def _add_ids(self, pipeline: Any, ids: Sequence[int], config: Any) -> Any:  # noqa: ANN401
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
        self.chat_template = str(self._tokenizer.chat_template or "")
        if self._source.sees_pictures:
            hand_over_templated(self._tokenizer)
        self._report("Warming up")
        self._warm_up(pipeline, with_draft=with_draft)
        return pipeline

    def _construct(self, *, with_draft: bool, cache_dir: Path | None) -> Any:  # noqa: ANN401
        import openvino_genai as genai

        source = self._source
        scheduler = genai.SchedulerConfig()
        scheduler.enable_prefix_caching = False  # DFlash refuses it (case 1)
        scheduler.max_num_batched_tokens = self._prefill_chunk_tokens
        if with_draft and source.draft and source.is_hybrid and not source.uses_own_head:
            # One row for the state as it is, one for each token of a step: n proposals and one
            # of the target's. By itself the pool holds 7 (2026.4.1), enough for 5 proposals.
            scheduler.num_linear_attention_blocks = source.draft.block_size - 1 + 2
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
        self._add(
            pipeline, Prompt(tuple(int(token) for token in ids), text="Hello, world"), config
        )
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
