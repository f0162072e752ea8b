"""Why an export failed, from what it said: the exporter's own texts name no way out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Problem, Remedy

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOG_LINES: Final = 60
"""The cause stands near the end; the same words further up belong to something that went on."""
_DETAIL_LIMIT: Final = 2000
_KILLED: Final = frozenset({-9, 137, 9})
"""How a process ends that the kernel took for its memory, without a word of its own."""

_AGAIN: Final = (Remedy.RETRY, Remedy.OPEN_LOG)
_LOG: Final = (Remedy.OPEN_LOG,)
_NOTHING_KEPT: Final = "Nothing of the half-made model was kept."


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault with the words for it; `code` is stable, `pattern` finds it in what was said."""

    code: str
    pattern: re.Pattern[str]
    headline: str
    advice: str
    remedies: tuple[Remedy, ...] = field(default=_LOG)


def _fault(
    code: str, pattern: str, headline: str, advice: str, remedies: tuple[Remedy, ...] = _LOG
) -> Fault:
    return Fault(code, re.compile(pattern), headline, advice, remedies)


FAULTS: Final = (
    _fault(
        "export_paging_file",
        r"paging file is too small|WinError 1455|os error 1455",
        "Windows had no more memory to promise: its paging file is too small for this export.",
        "Windows counts what programs ask for, not what they use. Let Windows manage the size of "
        "the paging file (System, Advanced system settings, Performance, Virtual memory), keep "
        "its disk half free, and try again.",
        _AGAIN,
    ),
    _fault(
        "export_memory",
        r"MemoryError|bad_alloc|can't allocate memory|Cannot allocate memory|not enough memory",
        "The export ran out of memory.",
        "Close other programs, choose a smaller model or a smaller weight format, or export on a "
        f"machine with more memory. {_NOTHING_KEPT}",
        _AGAIN,
    ),
    _fault(
        "export_disk",
        r"No space left on device|Errno 28\b|WinError 112\b|not enough space on the disk|"
        r"Disk quota exceeded|basic_ios::clear|iostream error|I/O error while writing",
        "The model could not be written.",
        "The disk of the output is full, or it cannot hold files over 4 GB (FAT32), or it may "
        "only be read. The exporter writes its temporary files there, too: free as much as the "
        "plan says, or choose another folder.",
        _AGAIN,
    ),
    _fault(
        "export_file_held",
        r"WinError 32\b|being used by another process",
        "Another program holds a file of the export.",
        "A virus scanner or a backup often does for a moment. Try again: finished stages are "
        "kept.",
        _AGAIN,
    ),
    _fault(
        "export_path_long",
        r"File name too long|WinError 206\b|Errno 36\b",
        "The folder's path is too long for this system.",
        "Choose an output folder nearer to the root of its disk.",
    ),
    _fault(
        "export_not_writable",
        r"Read-only file system|Errno 30\b|Permission denied|WinError 5\b",
        "The export may not write where it should.",
        "Check the rights of the output folder, or choose another one.",
        _AGAIN,
    ),
    _fault(
        "export_group_size",
        r"InvalidGroupSizeError|Failed to apply group-wise quantization",
        "The weights of this model cannot be packed in groups of that size.",
        "A group must divide the length of a row. Leave the group size to the program, or choose "
        "a smaller one.",
    ),
    _fault(
        "export_file_missing",
        r"outgoing traffic has been disabled|OfflineModeIsEnabled|LocalEntryNotFound|"
        r"couldn't connect to 'https?://|does not appear to have (?:a file|any file) named|"
        r"Can't load (?:the configuration|tokenizer|image processor|processor)",
        "The checkpoint is incomplete: a file that the exporter needs is not there.",
        "The export asks no network. Download the model again, or add the file that the details "
        "name to the folder.",
        _AGAIN,
    ),
    _fault(
        "export_tools_unfit",
        r"(?:Maximum|Minimum) required is [0-9.]+, got|custom or unsupported architecture|"
        r"does not recognize this architecture|does not allow for the export of the model|"
        r"ImportError: cannot import name '\w+' from 'transformers|only supports the tasks",
        "These export tools cannot export this kind of model.",
        "Each kind needs a certain release of the tools. Plan the export again, so that the "
        "program chooses those that fit; if it did, choose another model or one that is exported "
        "already.",
    ),
    _fault(
        "export_tools_damaged",
        r"torchvision::nms does not exist|cannot import name 'resolve_revision'|"
        r"is required for a normal functioning of this module|ModuleNotFoundError: No module|"
        r"requires the following packages|DLL load failed",
        "The export tools are damaged: their parts do not fit each other.",
        "Repair them on the page of export tools, or with: dflash-desktop export-env install.",
    ),
    _fault(
        "export_draft_class",
        r"Config dummy inputs are not a subset of the model inputs",
        "The draft was loaded with code that the exporter cannot follow.",
        "Its repository brings modeling code of its own. Plan the export again from the original "
        "repository, so that the program uses the exporter's own class for it.",
    ),
    _fault(
        "export_draft_config",
        r"DFlash export requires non-empty|DFlash export supports only",
        "The draft's config.json does not describe a DFlash draft that can be exported.",
        "It must name the target's layers that the draft reads, and be built as Qwen3. Look "
        "whether its authors offer a newer version.",
    ),
    _fault(
        "export_own_code",
        r"contains custom code which must be executed|trust_remote_code=True",
        "This model needs program code from its repository.",
        "The program runs no code of others unasked. Choose a model that the export tools know "
        "by themselves, or one that is exported already.",
    ),
    _fault(
        "export_tensors",
        r"size mismatch for|ignore_mismatched_sizes|tensors? of another shape",
        "The weights do not fit the model's description.",
        "config.json and the weights are of different models, or a file is from another version. "
        "Download the checkpoint again.",
    ),
    _fault(
        "export_checkpoint_damaged",
        r"deserializing header|SafetensorError|MetadataIncompleteBuffer|HeaderTooLarge|"
        r"InvalidHeader|PytorchStreamReader|UnpicklingError",
        "A file with weights is damaged.",
        "It was cut off or changed on its way. Download the checkpoint again.",
    ),
    _fault(
        "export_task",
        r"Cannot infer the task from a local directory",
        "The exporter was not told what the model is for.",
        "Plan the export again; if you gave the command yourself, add --task.",
    ),
    _fault(
        "export_quantized",
        r"quantization_config|No GPU (?:found|available)|GPTQ|requires a GPU|"
        r"(?:bitsandbytes|gptqmodel|autoawq|compressed.tensors)",
        "The checkpoint's weights are packed in a form that the export tools do not read.",
        "Choose the original with 16-bit weights: packing packed weights again would lose more.",
    ),
    _fault(
        "export_mtp",
        r"mtp_num_hidden_layers|MTP (?:export|head)",
        "The model's own draft head (MTP) cannot be exported.",
        "The exporter knows heads of one layer, whose weights are in the checkpoint.",
    ),
)
"""The first that is found is the one; what is certain stands before what is only likely."""

_OWN: Final = {
    "tensors_wrong": (
        "The checkpoint does not hold the tensors of this model.",
        (
            "The exporter would have filled the gaps with random numbers and called it done. The "
            "details name the tensors: the checkpoint is incomplete, renamed, or of another kind."
        ),
    ),
    "no_safetensors": (
        "The draft's weights are in a form that can hold program code.",
        "This program opens such files of others not at all. Ask its authors for safetensors.",
    ),
    "code_left": (
        "Program code lies in the draft's folder, and is not run.",
        "Plan the export again, so that a copy without the code is made.",
    ),
    "draft_not_supported": (
        "These export tools do not know this kind of draft.",
        (
            "They would make an ordinary model of it, with random embeddings, without a word. "
            "DFlash 2 and DSpark drafts need the development builds."
        ),
    ),
    "gguf_not_like_reference": (
        "What was unpacked from the GGUF file is not what the reference holds.",
        (
            "The file was made from another checkpoint, or by a converter that turns or renames "
            "tensors. The details name the first that differs."
        ),
    ),
    "gguf_tensors": (
        "The GGUF file does not hold exactly the tensors of a DFlash draft.",
        (
            "With a tensor missing or left over it would export, and gain nothing. Convert it "
            "again with today's llama.cpp, or choose another file."
        ),
    ),
    "gguf_draft_kind": (
        "The GGUF file holds a draft that these export tools do not know.",
        "Only DFlash drafts of the first kind can be made from GGUF.",
    ),
    "gguf_draft_old": (
        "The GGUF file was made by a converter from before DFlash was finished.",
        "Choose a newer file, or convert the draft again with today's llama.cpp.",
    ),
    "gguf_architecture": (
        "The GGUF file is no DFlash draft.",
        "Choose the draft's file. A GGUF target is imported, on the models page.",
    ),
    "gguf_damaged": (
        "The GGUF file is damaged or contradicts itself.",
        "Download it again, or choose another one.",
    ),
}
_NOT_SURE: Final = Problem(
    code="export_failed",
    headline="The export failed.",
    advice="Its log says where. If the same happens with another model, repair the export tools; "
    "if not, report it with the log.",
    remedies=_AGAIN,
)


def export_problem(
    *, code: str = "", raw: str = "", log: Sequence[str] = (), exit_code: int | None = None
) -> Problem:
    """The words for a step that ended badly.

    `code` and `raw` are what the step reported of itself, empty if it did not; `log` is the end
    of what it printed; `exit_code` is negative for a signal.
    """
    if code in _OWN:
        return own_problem(code, raw)
    if fault := _found(code, raw):
        return _problem(fault, raw)
    tail = "\n".join(log[-_LOG_LINES:])
    if fault := _found("", tail):
        return _problem(fault, f"{raw}\n{tail}".strip())
    if exit_code in _KILLED:
        return Problem(
            code="export_killed",
            headline="The system ended the export, most likely for lack of memory.",
            advice="Close other programs and try again, choose a smaller model or weight format, "
            f"or export on a machine with more memory. {_NOTHING_KEPT}",
            detail=tail[-_DETAIL_LIMIT:],
            remedies=_AGAIN,
        )
    detail = (raw or tail)[-_DETAIL_LIMIT:]
    return Problem(
        _NOT_SURE.code, _NOT_SURE.headline, _NOT_SURE.advice, detail=detail, remedies=_AGAIN
    )


def own_problem(code: str, raw: str) -> Problem:
    """The words for a fault that this program found itself. Raises `KeyError`."""
    headline, advice = _OWN[code]
    return Problem(f"export_{code}", headline, advice, detail=raw, remedies=_LOG)


def knows(code: str) -> bool:
    """Whether `own_problem` has words for it."""
    return code in _OWN


def _found(code: str, text: str) -> Fault | None:
    return next((f for f in FAULTS if f.code == code or f.pattern.search(text)), None)


def _problem(fault: Fault, detail: str) -> Problem:
    return Problem(
        fault.code,
        fault.headline,
        fault.advice,
        detail=detail[-_DETAIL_LIMIT:],
        remedies=fault.remedies,
    )
