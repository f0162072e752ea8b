"""The messages between the window's process and its workers; `frames` says how they travel.

The first message from a worker is `Hello`; one of another protocol number is refused in words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from dflash_desktop.domain.devices import DeviceReport
from dflash_desktop.domain.generation import (
    FinishReason,
    GenerationStats,
    KvCachePrecision,
    PromptMessage,
    SamplingParams,
    TextRun,
)
from dflash_desktop.domain.image_models import LoadedImageModel
from dflash_desktop.domain.made_picture import Pixels
from dflash_desktop.domain.pair import LoadedPair
from dflash_desktop.domain.picture_request import PictureRequest
from dflash_desktop.workers.fetch_messages import (
    Fetched,
    FetchRepos,
    FetchWheelMember,
    FilesProgress,
    PlanRepos,
    ReposFetched,
    ReposPlanned,
    Transfer,
)
from dflash_desktop.workers.guard_messages import (
    EndStep,
    GuardStep,
    HoldStep,
    StepEnded,
    StepMemory,
    StepSaid,
)
from dflash_desktop.workers.picture_messages import (
    MakeThumbnail,
    PicturePrepared,
    PreparePicture,
    ThumbnailMade,
)

PROTOCOL_VERSION: Final = 2


class _Message(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


# --- commands: window → worker ---------------------------------------------------------------


class Load(_Message, frozen=True, tag="load"):
    """Load a pair, replacing what is loaded. → `LoadProgress`…, then `Loaded` or `Failed`.

    `device` is OpenVINO's name, and `device_name`, unless empty, what its maker calls it: if that
    is another one by now, the job fails with code "device_changed". `kv_cache_precision` None
    takes the device's default. With `keep_both` the target is held twice, with and without the
    draft, so that switching costs nothing; else the other pipeline is built when it is first
    needed and replaces this one.
    """

    job: int
    title: str
    target_dir: Path
    draft_dir: Path | None
    device: str
    device_name: str = ""
    kv_cache_precision: KvCachePrecision | None = None
    keep_both: bool = False
    cache_dir: Path | None = None


class Generate(_Message, frozen=True, tag="generate"):
    """Answer the last message. → `Started`, `Prefill`…, `Text`…, then `Finished` or `Failed`.

    `assistant_tokens` 0 runs without the draft. When the prompt does not fit the context, the
    oldest turns are left out if `leave_out_oldest`, else the job fails with code "context_full".
    """

    job: int
    messages: tuple[PromptMessage, ...]
    params: SamplingParams
    assistant_tokens: int
    leave_out_oldest: bool = False


class Score(_Message, frozen=True, tag="score"):
    """How likely the target finds each candidate next token. Answered by `Scored` or `Failed`.

    The context is the templated `messages` followed by `answer_prefix` token ids.
    """

    job: int
    messages: tuple[PromptMessage, ...]
    answer_prefix: tuple[int, ...]
    candidates: tuple[int, ...]


class MeasureNoise(_Message, frozen=True, tag="measure_noise"):
    """How far rounding moves this target's log-probabilities here. → `Noise` or `Failed`.

    `answer` is the target's own greedy answer to `messages`. It is scored twice, token by token
    and in one pass, as answers are made without a draft and checked with one.
    """

    job: int
    messages: tuple[PromptMessage, ...]
    answer: tuple[int, ...]


class Detokenize(_Message, frozen=True, tag="detokenize"):
    """Turn token id lists into text. Answered by `Detokenized`."""

    job: int
    token_lists: tuple[tuple[int, ...], ...]


class ConvertGguf(_Message, frozen=True, tag="convert_gguf"):
    """Convert a GGUF file to OpenVINO files in `output_dir`, made anew.

    → `LoadProgress`…, then `Converted` or `Failed`. `more_parts` are the other files of a split
    one, in order. Without `as_int8` the weights stay as they are in the file.
    """

    job: int
    gguf_path: Path
    output_dir: Path
    more_parts: tuple[Path, ...] = ()
    as_int8: bool = True


class LoadImageModel(_Message, frozen=True, tag="load_image_model"):
    """Load a model that makes pictures, in place of whatever is loaded. `device` as in `Load`.

    → `LoadProgress`…, then `ImageModelLoaded` or `Failed`.
    """

    job: int
    title: str
    model_dir: Path
    device: str
    device_name: str = ""
    cache_dir: Path | None = None


class MakePicture(_Message, frozen=True, tag="make_picture"):
    """Make one picture with the loaded model. → `PictureStep`…, then `PictureMade` or `Failed`.

    The request was checked by whoever sends it.
    """

    job: int
    request: PictureRequest


class ListDevices(_Message, frozen=True, tag="list_devices"):
    """Ask for a `Devices` report."""

    job: int


class Cancel(_Message, frozen=True, tag="cancel"):
    """Stop job `job`; it still answers with `Finished` or `Failed`. Unknown jobs are ignored."""

    job: int


class Unload(_Message, frozen=True, tag="unload"):
    """Let go of the model. Answered by `Unloaded`."""

    job: int


class Ping(_Message, frozen=True, tag="ping"):
    """Answered by the reader thread even while a job runs."""

    number: int


class Shutdown(_Message, frozen=True, tag="shutdown"):
    """End the process now."""


Command = (
    Load
    | Generate
    | Score
    | MeasureNoise
    | Detokenize
    | ConvertGguf
    | LoadImageModel
    | MakePicture
    | ListDevices
    | FetchWheelMember
    | PlanRepos
    | FetchRepos
    | PreparePicture
    | MakeThumbnail
    | GuardStep
    | HoldStep
    | EndStep
    | Cancel
    | Unload
    | Ping
    | Shutdown
)


# --- events: worker → window -----------------------------------------------------------------


class Hello(_Message, frozen=True, tag="hello"):
    """The first frame: who speaks, in which protocol, with which runtime (empty if not loaded)."""

    protocol: int
    worker: str
    pid: int
    runtime: str = ""


class LoadProgress(_Message, frozen=True, tag="load_progress"):
    """Where a `Load` or `ConvertGguf` is; the sentence is for people."""

    job: int
    stage: str


class Loaded(_Message, frozen=True, tag="loaded"):
    """The pair is ready."""

    job: int
    pair: LoadedPair


class Started(_Message, frozen=True, tag="started"):
    """The prompt was built: its size, what was left out, whether thinking is already open."""

    job: int
    prompt_tokens: int
    context_tokens: int
    left_out_messages: int
    thinking_is_open: bool


class Prefill(_Message, frozen=True, tag="prefill"):
    """How much of the prompt the target has read."""

    job: int
    done_tokens: int
    total_tokens: int


class Text(_Message, frozen=True, tag="text"):
    """New text (may be empty: a step without visible text) and the counts up to here."""

    job: int
    runs: tuple[TextRun, ...]
    stats: GenerationStats


class Finished(_Message, frozen=True, tag="finished"):
    """The answer is complete; `token_ids` holds every generated token, special ones included.

    `step_tokens` says how many of them each step brought: all but one of a step's were the
    draft's.
    """

    job: int
    reason: FinishReason
    stats: GenerationStats
    token_ids: tuple[int, ...]
    step_tokens: tuple[int, ...] = ()


class Scored(_Message, frozen=True, tag="scored"):
    """Log-probabilities, one for each candidate, in nats."""

    job: int
    log_probabilities: tuple[float, ...]


class Noise(_Message, frozen=True, tag="noise"):
    """The largest difference that one token showed, in nats."""

    job: int
    nats: float


class Detokenized(_Message, frozen=True, tag="detokenized"):
    """One text for each token list."""

    job: int
    texts: tuple[str, ...]


class Converted(_Message, frozen=True, tag="converted"):
    """The conversion is complete in its output folder."""

    job: int
    seconds: float


class ImageModelLoaded(_Message, frozen=True, tag="image_model_loaded"):
    """The model that makes pictures is ready."""

    job: int
    model: LoadedImageModel


class PictureStep(_Message, frozen=True, tag="picture_step"):
    """`done` of `total` steps are made; `preview` is there for some of them, made smaller.

    Pixels travel as the frame's blob.
    """

    job: int
    done: int
    total: int
    seconds_per_step: float
    preview: Pixels | None = None


class PictureMade(_Message, frozen=True, tag="picture_made"):
    """The picture, or None when the job was cancelled; `seconds` is all that it took."""

    job: int
    seconds: float
    pixels: Pixels | None = None


class Devices(_Message, frozen=True, tag="devices"):
    """What OpenVINO finds on this machine."""

    job: int
    report: DeviceReport


class Failed(_Message, frozen=True, tag="failed"):
    """A job broke off. `code` is stable; `raw` is the untouched error text for Details.

    `tainted` means that this process must not be used again (a GPU error, out of memory).
    `facts` carries numbers for the sentence and `words` names (a file, a host), by name.
    """

    job: int
    code: str
    raw: str
    tainted: bool = False
    facts: dict[str, int] = {}
    words: dict[str, str] = {}


class Unloaded(_Message, frozen=True, tag="unloaded"):
    """The model is gone from memory."""

    job: int


class Pong(_Message, frozen=True, tag="pong"):
    """The process is alive."""

    number: int


Event = (
    Hello
    | LoadProgress
    | Loaded
    | Started
    | Prefill
    | Text
    | Finished
    | Scored
    | Noise
    | Detokenized
    | Converted
    | ImageModelLoaded
    | PictureStep
    | PictureMade
    | Devices
    | Transfer
    | Fetched
    | ReposPlanned
    | FilesProgress
    | ReposFetched
    | PicturePrepared
    | ThumbnailMade
    | StepSaid
    | StepMemory
    | StepEnded
    | Failed
    | Unloaded
    | Pong
)
