"""A real worker process that does as its script says: answer, or any kind of trouble.

It speaks the protocol through `WorkerRuntime`, as the real workers do; only the model is made up.
Start it with `tests.fakes.launcher.fake_launcher(script)`.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain.devices import Device, DeviceReport
from dflash_desktop.domain.generation import (
    FinishReason,
    GenerationStats,
    KvCachePrecision,
    TextOrigin,
    TextRun,
)
from dflash_desktop.domain.pair import DraftFacts, LoadedPair, PairFingerprint
from dflash_desktop.workers.protocol import (
    PROTOCOL_VERSION,
    Command,
    Converted,
    ConvertGguf,
    Detokenize,
    Detokenized,
    Devices,
    Failed,
    Finished,
    Generate,
    Hello,
    ListDevices,
    Load,
    Loaded,
    LoadProgress,
    Prefill,
    Score,
    Scored,
    Started,
    Text,
    Unload,
    Unloaded,
)
from dflash_desktop.workers.runtime import WorkerRuntime

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT_VARIABLE = "DFLASH_FAKE_SCRIPT"
RUNTIME_NAME = "fake 1.0"
PICTURE_TOKENS = 100
PICTURE_SECONDS = 0.5
DEFAULT_ANSWER = "Light is scattered by the air, and blue light is scattered most. " * 4


class When(StrEnum):
    """Where in its life the worker makes trouble."""

    START = "start"  # before hello
    DEVICES = "devices"
    LOAD = "load"
    CONVERT = "convert"
    GENERATE = "generate"  # after `after_chunks` pieces of text


class Trouble(StrEnum):
    """What goes wrong."""

    NOISE = "noise"  # prints on standard output, from Python and past it
    OTHER_VERSION = "other_version"  # says hello in another protocol
    GARBAGE = "garbage"  # bytes on the channel that are no frame
    STALL = "stall"  # no more events; cancel and terminate are obeyed
    IGNORE_CANCEL = "ignore_cancel"  # no more events and deaf to cancel
    IGNORE_TERMINATE = "ignore_terminate"  # deaf to cancel and terminate
    FREEZE = "freeze"  # sleeps while holding the GIL: not even pings are answered
    BUSY_FREEZE = "busy_freeze"  # works for `seconds` while holding the GIL, then goes on
    BUSY = "busy"  # works in Python code forever, which lets go of the GIL now and then
    ABORT = "abort"  # as native code does
    KILLED = "killed"  # as the kernel does when memory runs out
    VANISH = "vanish"  # ends without a word
    CLOSE_PIPE = "close_pipe"  # closes its end of the channel and lives on
    FAIL = "fail"  # a Failed event: `code`, `raw`, `tainted`, `facts`
    RAISE = "raise"  # the job raises
    RUN_OUT_OF_MEMORY = "run_out_of_memory"  # the job raises MemoryError
    GRANDCHILD = "grandchild"  # starts a child that sleeps; its pid goes to `pid_file`


class Mishap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One trouble at one place; `only_once_file` makes it happen in the first process only."""

    trouble: Trouble
    when: When = When.GENERATE
    after_chunks: int = 3
    only_once_file: str | None = None
    seconds: float = 0.0
    code: str = "worker_error"
    raw: str = "a scripted failure"
    tainted: bool = False
    facts: dict[str, int] = {}
    pid_file: str = ""


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the worker does; the defaults answer politely and at once.

    A chunk is one verification step. With a draft it brings `tokens_per_step` tokens, of which
    the last is the target's own; without one it brings one token.
    """

    answers: tuple[str, ...] = (DEFAULT_ANSWER,)  # one after the other, then again
    chunk_characters: int = 8
    chunks_per_second: float = 0.0  # 0: as fast as they can be sent
    tokens_per_step: int = 3
    prompt_tokens: int = 40
    context_tokens: int = 2048
    thinking_is_open: bool = False
    sees_pictures: bool = False
    load_seconds: float = 0.0
    log_probability: float = -1.0
    genai_version: str = "0.0 fake"
    has_graphics: bool = True
    mishaps: tuple[Mishap, ...] = ()


class FakeModel:
    """The jobs, in the order of the protocol."""

    def __init__(self, *, script: Script, runtime: WorkerRuntime) -> None:
        self._script = script
        self._runtime = runtime
        self._answered = 0

    def run(self, command: Command) -> None:
        """Do one job as the script says."""
        send = self._runtime.send
        match command:
            case ListDevices(job):
                if not self._meet(When.DEVICES, job):
                    report = device_report()
                    devices = report.devices if self._script.has_graphics else report.devices[:1]
                    version = self._script.genai_version
                    report = replace(report, devices=devices, genai_version=version)
                    send(Devices(job, report))
            case Load():
                self._load(command)
            case Generate():
                self._generate(command)
            case Score(job):
                send(Scored(job, (self._script.log_probability,) * len(command.candidates)))
            case Detokenize(job, token_lists):
                texts = tuple(" ".join(f"t{token}" for token in tokens) for tokens in token_lists)
                send(Detokenized(job, texts))
            case ConvertGguf(job):
                send(LoadProgress(job, "Converting the model"))
                command.output_dir.mkdir(parents=True)
                if self._meet(When.CONVERT, job):
                    return
                (command.output_dir / "openvino_model.xml").write_text("<net/>", encoding="utf-8")
                send(Converted(job, 0.1))
            case Unload(job):
                send(Unloaded(job))
            case _:
                raise NotImplementedError(type(command).__name__)

    def _load(self, command: Load) -> None:
        self._runtime.send(LoadProgress(command.job, "Reading the model"))
        time.sleep(self._script.load_seconds)
        if self._meet(When.LOAD, command.job):
            return
        self._runtime.send(Loaded(command.job, loaded_pair(command, self._script)))

    def _generate(self, command: Generate) -> None:
        script, send, job = self._script, self._runtime.send, command.job
        answer = script.answers[self._answered % len(script.answers)]
        self._answered += 1
        send(Started(job, script.prompt_tokens, script.context_tokens, 0, script.thinking_is_open))
        send(Prefill(job, script.prompt_tokens, script.prompt_tokens))
        stats = GenerationStats(script.prompt_tokens, 0, 0, 0, 0.0, 0.0, command.assistant_tokens)
        files = [path for message in command.messages for path in message.pictures]
        if any(not path.is_file() for path in files):
            raise FileNotFoundError(files)
        seconds = PICTURE_SECONDS * len(files)
        stats = replace(stats, picture_tokens=PICTURE_TOKENS * len(files), picture_seconds=seconds)
        started = time.monotonic()
        reason = FinishReason.STOP
        for step, chunk in enumerate(_chunks(answer, script.chunk_characters)):
            if self._meet(When.GENERATE, job, chunks=step):
                return
            if self._runtime.is_cancelled(job):
                reason = FinishReason.CANCELLED
                break
            if script.chunks_per_second:
                due = started + step / script.chunks_per_second
                time.sleep(max(0.0, due - time.monotonic()))
            stats = self._after_step(stats, started)
            send(Text(job, self._runs(chunk, step, command.assistant_tokens), stats))
        send(Finished(job, reason, stats, tuple(range(stats.tokens))))

    def _after_step(self, stats: GenerationStats, started: float) -> GenerationStats:
        gained = self._script.tokens_per_step if stats.assistant_tokens and stats.steps else 1
        elapsed = time.monotonic() - started
        return replace(
            stats,
            tokens=stats.tokens + gained,
            steps=stats.steps + 1,
            first_step_tokens=stats.first_step_tokens or gained,
            first_token_seconds=stats.first_token_seconds or elapsed + 1e-3,
            decode_seconds=elapsed if stats.steps else 0.0,
        )

    def _runs(self, chunk: str, step: int, assistant_tokens: int) -> tuple[TextRun, ...]:
        if not assistant_tokens or step == 0 or len(chunk) < 2:
            return (TextRun(chunk, TextOrigin.TARGET, step),)
        cut = len(chunk) * (self._script.tokens_per_step - 1) // self._script.tokens_per_step
        parts = ((chunk[:cut], TextOrigin.DRAFT), (chunk[cut:], TextOrigin.TARGET))
        return tuple(TextRun(text, origin, step) for text, origin in parts if text)

    def _meet(self, when: When, job: int, *, chunks: int | None = None) -> bool:
        """Make the trouble that is due; True when the job has been answered by it."""
        return any(self.make(mishap, job) for mishap in due_mishaps(self._script, when, chunks))

    def make(self, mishap: Mishap, job: int) -> bool:  # noqa: C901  # one arm a trouble
        """Make one trouble; True when it answered the job."""
        match mishap.trouble:
            case Trouble.NOISE:
                print("noise from Python")  # noqa: T201  # the trouble itself
                os.write(1, b"noise past Python\n")
            case Trouble.STALL:
                while not self._runtime.is_cancelled(job):
                    time.sleep(0.005)
                if mishap.when is not When.GENERATE:
                    self._runtime.send(Failed(job, "cancelled", ""))
                    return True
            case Trouble.IGNORE_CANCEL:
                time.sleep(3600)
            case Trouble.IGNORE_TERMINATE:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(3600)
            case Trouble.FREEZE:
                _sleep_holding_the_gil(3600)
            case Trouble.BUSY_FREEZE:
                _work_holding_the_gil(mishap.seconds)
            case Trouble.BUSY:
                while True:
                    sum(range(1000))
            case Trouble.FAIL:
                self._runtime.send(
                    Failed(job, mishap.code, mishap.raw, mishap.tainted, mishap.facts)
                )
                return True
            case Trouble.RAISE:
                raise RuntimeError(mishap.raw)
            case Trouble.RUN_OUT_OF_MEMORY:
                raise MemoryError
            case Trouble.GRANDCHILD:
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
                Path(mishap.pid_file).write_text(str(child.pid), encoding="ascii")
            case Trouble.GARBAGE:
                os.write(self._runtime._events.fileno(), b"\xff" * 64)
            case Trouble.CLOSE_PIPE:
                self._runtime._events.close()
                time.sleep(3600)
            case _:
                _end_by(mishap.trouble)
        return False


def device_report() -> DeviceReport:
    """A machine with a CPU and one integrated GPU."""
    return DeviceReport(
        devices=(
            Device("CPU", "Made-up CPU"),
            Device("GPU", "Intel Arc Made-up Graphics", driver="1.2.3", is_discrete=False),
        ),
        openvino_version="0.0 fake",
        genai_version="0.0 fake",
        tokenizers_version="0.0 fake",
        python_version=platform.python_version(),
        os=platform.platform(),
    )


def loaded_pair(command: Load, script: Script) -> LoadedPair:
    """What the fake says that it loaded."""
    device = next((d for d in device_report().devices if d.id == command.device), None)
    has_draft = command.draft_dir is not None
    return LoadedPair(
        title=command.title,
        target_dir=command.target_dir,
        draft_dir=command.draft_dir,
        draft=DraftFacts(8, (2, 8, 14, 20, 26), 16) if has_draft else None,
        device=command.device,
        device_name=device.full_name if device else command.device,
        driver=device.driver if device else "",
        runtime=RUNTIME_NAME,
        kv_cache_precision=command.kv_cache_precision or KvCachePrecision.F32,
        context_tokens=script.context_tokens,
        keeps_both=command.keep_both and has_draft,
        fingerprint=PairFingerprint("fake-target", "fake-draft" if has_draft else None),
        load_seconds=script.load_seconds,
        sees_pictures=script.sees_pictures,
    )


def due_mishaps(script: Script, when: When, chunks: int | None) -> Iterator[Mishap]:
    """The mishaps of this moment, each claimed if it may happen only once."""
    for mishap in script.mishaps:
        if mishap.when is not when or (chunks is not None and chunks != mishap.after_chunks):
            continue
        if mishap.only_once_file is None or _claim_once(Path(mishap.only_once_file)):
            yield mishap


def _claim_once(file: Path) -> bool:
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _chunks(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _end_by(trouble: Trouble) -> None:
    match trouble:
        case Trouble.ABORT:
            sys.stderr.write("terminate called after throwing an instance of 'made-up'\n")
            os.abort()
        case Trouble.KILLED if sys.platform != "win32":
            os.kill(os.getpid(), signal.SIGKILL)
        case Trouble.VANISH:
            os._exit(3)
        case _:
            raise NotImplementedError(trouble)


def _sleep_holding_the_gil(seconds: int) -> None:
    ctypes.PyDLL(None).sleep(seconds)


def _work_holding_the_gil(seconds: float) -> None:
    """One C call after the other, none of which lets another Python thread run."""
    switch_seconds = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            sum(range(100_000))
    finally:
        sys.setswitchinterval(switch_seconds)


def main() -> None:
    """Read the script and serve."""
    script = msgspec.json.decode(os.environ[SCRIPT_VARIABLE], type=Script)
    runtime = WorkerRuntime.claim("engine")
    for mishap in due_mishaps(script, When.START, None):
        if mishap.trouble is Trouble.OTHER_VERSION:
            runtime.send(Hello(PROTOCOL_VERSION + 1, "engine", os.getpid(), RUNTIME_NAME))
        else:
            FakeModel(script=script, runtime=runtime).make(mishap, job=0)
    model = FakeModel(script=script, runtime=runtime)
    runtime.serve(model.run, hello_runtime=RUNTIME_NAME)


if __name__ == "__main__":
    main()
