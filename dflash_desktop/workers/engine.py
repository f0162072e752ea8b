"""The engine process: loads a model, answers prompts, makes pictures, converts GGUF files."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import traceback
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol, assert_never

from dflash_desktop.domain.detokenizer import IncrementalDetokenizer
from dflash_desktop.domain.devices import default_kv_cache_precision
from dflash_desktop.domain.generation import FinishReason, TextRun, ThinkingMode
from dflash_desktop.domain.pair import LoadedPair
from dflash_desktop.workers import model_folder, protocol
from dflash_desktop.workers.failures import failed
from dflash_desktop.workers.fetch_messages import FetchRepos, FetchWheelMember, PlanRepos
from dflash_desktop.workers.generation_steps import LastStep, PrefillStep, TokenStep
from dflash_desktop.workers.gguf_conversion import convert_gguf
from dflash_desktop.workers.guard_messages import EndStep, GuardStep, HoldStep
from dflash_desktop.workers.image_jobs import ImageJobs
from dflash_desktop.workers.picture_messages import MakeThumbnail, PreparePicture
from dflash_desktop.workers.prompt import PromptBuilder
from dflash_desktop.workers.runtime import WorkerRuntime
from dflash_desktop.workers.text_pipeline import PairPipelines, PipelineSource

if TYPE_CHECKING:
    from dflash_desktop.domain.generation import PromptMessage
    from dflash_desktop.domain.pair import DraftFacts
    from dflash_desktop.workers.prompt import Prompt

_M_MMAP_THRESHOLD: Final = -3  # of glibc's malloc.h
_LARGE_BLOCK_BYTES: Final = 1 << 20
_TEXT_INTERVAL_SECONDS: Final = 0.016
"""A frame of the screen: sending more often costs both sides and shows nothing more."""


_EngineJob = (
    protocol.Load
    | protocol.Generate
    | protocol.Score
    | protocol.MeasureNoise
    | protocol.Detokenize
    | protocol.ConvertGguf
    | protocol.LoadImageModel
    | protocol.MakePicture
    | protocol.ListDevices
    | protocol.Unload
)
_NOT_JOBS_OF_THIS_WORKER = (
    FetchWheelMember,
    PlanRepos,
    FetchRepos,
    PreparePicture,
    MakeThumbnail,
    GuardStep,
    HoldStep,
    EndStep,
    protocol.Cancel,
    protocol.Ping,
    protocol.Shutdown,
)


class JobChannel(Protocol):
    """What a job needs of the process that it runs in."""

    def send(self, event: protocol.Event) -> None:
        """Tell the window."""

    def is_cancelled(self, job: int) -> bool:
        """Whether the window asked to stop this job."""


class EngineJobs:
    """Runs the commands of one window, one at a time, on the process's main thread."""

    def __init__(self, runtime: JobChannel) -> None:
        self._runtime = runtime
        self._pipelines: PairPipelines | None = None
        self._prompts: PromptBuilder | None = None
        self._images = ImageJobs(runtime)

    def run(self, command: protocol.Command) -> None:
        """Do one job; every fault becomes a `Failed` event."""
        if isinstance(command, _NOT_JOBS_OF_THIS_WORKER):
            return
        try:
            self._do(command)
        except Exception as error:  # noqa: BLE001 - the process boundary: the window has words for it
            traceback.print_exc()  # to this process's log
            self._runtime.send(failed(command.job, error))

    def _do(self, command: _EngineJob) -> None:
        match command:
            case protocol.Load():
                self._load(command)
            case protocol.Generate():
                self._generate(command)
            case protocol.Score():
                self._score(command)
            case protocol.MeasureNoise():
                self._measure_noise(command)
            case protocol.Detokenize():
                self._detokenize(command)
            case protocol.ConvertGguf():
                self._convert(command)
            case protocol.LoadImageModel() | protocol.MakePicture():
                self._do_pictures(command)
            case protocol.ListDevices():
                self._list_devices(command)
            case protocol.Unload():
                self._unload(command)
            case _:
                assert_never(command)

    def _do_pictures(self, command: protocol.LoadImageModel | protocol.MakePicture) -> None:
        if isinstance(command, protocol.MakePicture):
            self._images.make(command)
        else:
            self._let_go()  # one model at a time has the memory
            self._images.load(command)

    def _load(self, command: protocol.Load) -> None:
        started_at = perf_counter()
        self._let_go()
        self._progress(command.job, "Checking the model's files")
        facts = model_folder.check_target(command.target_dir)
        draft = _draft_facts(command)
        from dflash_desktop.workers.device_list import meant_device, runtime_version

        device = meant_device(command.device, command.device_name)
        precision = command.kv_cache_precision or default_kv_cache_precision(device)
        source = PipelineSource(
            target_dir=command.target_dir,
            draft_dir=command.draft_dir,
            draft=draft,
            device=device.id,
            kv_cache_precision=precision,
            keep_both=command.keep_both,
            cache_dir=command.cache_dir,
            sees_pictures=facts.sees_pictures,
            is_hybrid=facts.is_hybrid,
        )
        pipelines = PairPipelines(source, report=lambda s: self._progress(command.job, s))
        pipelines.build()
        prompts = PromptBuilder(
            pipelines.tokenizer,
            config_context_tokens=facts.context_tokens,
            chat_template=pipelines.chat_template,
            picture_tokens=pipelines.picture_tokens if facts.sees_pictures else None,
        )
        self._pipelines, self._prompts = pipelines, prompts
        pair = LoadedPair(
            title=command.title,
            target_dir=command.target_dir,
            draft_dir=command.draft_dir,
            draft=draft,
            device=device.id,
            device_name=device.full_name,
            driver=device.driver,
            runtime=runtime_version(),
            kv_cache_precision=precision,
            context_tokens=prompts.context_tokens,
            keeps_both=command.keep_both,
            fingerprint=model_folder.fingerprint(command.target_dir, command.draft_dir),
            load_seconds=perf_counter() - started_at,
            supports_thinking=prompts.supports_thinking,
            template_note="" if prompts.has_template else _NO_TEMPLATE,
            sees_pictures=facts.sees_pictures,
            uses_own_head=source.uses_own_head,
        )
        self._runtime.send(protocol.Loaded(command.job, pair))

    def _generate(self, command: protocol.Generate) -> None:
        pipelines, prompts = self._loaded()
        prompt = prompts.build(
            command.messages,
            thinking=command.params.thinking,
            max_new_tokens=command.params.max_new_tokens,
            leave_out_oldest=command.leave_out_oldest,
        )
        self._runtime.send(
            protocol.Started(
                job=command.job,
                prompt_tokens=prompt.tokens,
                context_tokens=prompts.context_tokens,
                left_out_messages=prompt.left_out_messages,
                thinking_is_open=prompt.thinking_is_open,
            )
        )
        self._answer(command, pipelines, prompts, prompt)

    def _answer(
        self,
        command: protocol.Generate,
        pipelines: PairPipelines,
        prompts: PromptBuilder,
        prompt: Prompt,
    ) -> None:
        job = command.job
        tokenizer = pipelines.tokenizer
        text = IncrementalDetokenizer(lambda lists: list(tokenizer.decode(lists)))
        token_ids: list[int] = []
        step_tokens: list[int] = []
        waiting: list[TextRun] = []
        sent_at = 0.0
        for step in pipelines.generate(
            prompt,
            command.params,
            assistant_tokens=command.assistant_tokens,
            context_tokens=prompts.context_tokens,
            is_cancelled=lambda: self._runtime.is_cancelled(job),
        ):
            match step:
                case PrefillStep(done):
                    self._runtime.send(protocol.Prefill(job, done, prompt.tokens))
                case TokenStep(tokens, drafted, stats):
                    token_ids.extend(tokens)
                    step_tokens.append(len(tokens))
                    waiting += text.push(tokens, step=stats.steps - 1, drafted=drafted)
                    if perf_counter() - sent_at >= _TEXT_INTERVAL_SECONDS:
                        self._runtime.send(protocol.Text(job, tuple(waiting), stats))
                        waiting.clear()
                        sent_at = perf_counter()
                case LastStep(reason, stats):
                    waiting += text.finish()
                    self._runtime.send(protocol.Text(job, tuple(waiting), stats))
                    if (
                        reason is FinishReason.LENGTH
                        and stats.tokens < command.params.max_new_tokens
                    ):
                        reason = FinishReason.CONTEXT
                    self._runtime.send(
                        protocol.Finished(job, reason, stats, tuple(token_ids), tuple(step_tokens))
                    )

    def _score(self, command: protocol.Score) -> None:
        pipelines, _ = self._loaded()
        context = (*self._prompt_ids(command.messages), *command.answer_prefix)
        scores = tuple(pipelines.log_probability(context, token) for token in command.candidates)
        self._runtime.send(protocol.Scored(command.job, scores))

    def _measure_noise(self, command: protocol.MeasureNoise) -> None:
        pipelines, _ = self._loaded()
        nats = pipelines.noise(self._prompt_ids(command.messages), command.answer)
        self._runtime.send(protocol.Noise(command.job, nats))

    def _prompt_ids(self, messages: tuple[PromptMessage, ...]) -> tuple[int, ...]:
        _, prompts = self._loaded()
        prompt = prompts.build(
            messages,
            thinking=ThinkingMode.MODEL_DEFAULT,
            max_new_tokens=1,
            leave_out_oldest=False,
        )
        return prompt.token_ids

    def _detokenize(self, command: protocol.Detokenize) -> None:
        pipelines, _ = self._loaded()
        lists = [list(tokens) for tokens in command.token_lists]
        texts = tuple(str(text) for text in pipelines.tokenizer.decode(lists)) if lists else ()
        self._runtime.send(protocol.Detokenized(command.job, texts))

    def _convert(self, command: protocol.ConvertGguf) -> None:
        started_at = perf_counter()
        convert_gguf(command, lambda stage: self._progress(command.job, stage))
        self._runtime.send(protocol.Converted(command.job, perf_counter() - started_at))

    def _list_devices(self, command: protocol.ListDevices) -> None:
        from dflash_desktop.workers.device_list import list_devices

        self._runtime.send(protocol.Devices(command.job, list_devices()))

    def _unload(self, command: protocol.Unload) -> None:
        self._let_go()
        self._runtime.send(protocol.Unloaded(command.job))

    def _let_go(self) -> None:
        self._pipelines = self._prompts = None
        self._images.let_go()

    def _loaded(self) -> tuple[PairPipelines, PromptBuilder]:
        if self._pipelines is None or self._prompts is None:
            raise model_folder.ModelFolderError("nothing_loaded", "no model is loaded")
        return self._pipelines, self._prompts

    def _progress(self, job: int, stage: str) -> None:
        self._runtime.send(protocol.LoadProgress(job, stage))


def _draft_facts(command: protocol.Load) -> DraftFacts | None:
    """The draft's facts; the target's folder named once more means its own head."""
    if command.draft_dir is None:
        return None
    if command.draft_dir == command.target_dir and model_folder.has_own_head(command.draft_dir):
        return model_folder.check_own_head(command.draft_dir)
    return model_folder.check_draft(command.draft_dir)


_NO_TEMPLATE: Final = (
    "This model brings no chat template, so messages reach it as plain text. It is probably a "
    "base model, which continues text rather than answering."
)


def _give_large_blocks_back() -> None:
    """Linux: have the C library give every block of 1 MB or more back when it is freed.

    By itself it raises that limit to 32 MB as soon as one large block was freed, and then keeps
    the holes that a growing KV cache leaves behind: 4,000 tokens with the starter's draft took
    1.9 GB instead of 1.3, and 8,000 took 3.1 instead of 1.7 (measured), for no gain in time.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another C library than glibc
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)


def main() -> None:
    """Entry point of the engine process."""
    runtime = WorkerRuntime.claim("engine")
    _give_large_blocks_back()
    from dflash_desktop.workers.device_list import runtime_version

    runtime.serve(EngineJobs(runtime).run, hello_runtime=runtime_version())


if __name__ == "__main__":
    main()
