"""What an import of a GGUF file says on its way, and what it will need."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from dflash_desktop.domain.gguf_model import GgufModel
from dflash_desktop.domain.library import InstalledModel
from dflash_desktop.domain.pair_contract import Finding

_PROCESS_BYTES: Final = 400_000_000
_MARGIN_BYTES: Final = 64_000_000


class ImportStage(StrEnum):
    """Where an import is."""

    CHECKING = "checking"
    CONVERTING = "converting"
    COMPLETING = "completing"
    HASHING = "hashing"
    INSTALLING = "installing"


class ImportWeights(StrEnum):
    """The form of the weights in the library."""

    AUTO = "auto"  # int8 where the processor computes and has the memory, else as in the file
    INT8 = "int8"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A file, or all parts of a split one, that was checked and can be converted."""

    parts: tuple[Path, ...]
    size_bytes: int
    model: GgufModel


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """One step of an import; the sentence is for people, bytes where they are counted."""

    stage: ImportStage
    sentence: str
    done_bytes: int | None = None
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ImportedModel:
    """The end of an import; `notes` say what the runtime leaves out of the file."""

    model: InstalledModel
    weights: ImportWeights
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def needed_memory_bytes(model: GgufModel, *, as_int8: bool) -> int:
    """What a conversion takes beyond what the system can drop again.

    GenAI holds the weights once as tensors and once while it saves them: 2.9 times the file's
    size was measured with files of 0.4 and 1.5 GB, of which one time is the file itself, mapped.
    The int8 form is built in memory beside four copies of the largest matrix in f32.
    """
    converting = 2 * model.converted_bytes
    packing = model.value_count + 4 * 4 * model.largest_matrix_values if as_int8 else 0
    return max(converting, packing) + _PROCESS_BYTES


def needed_disk_bytes(file: GgufFile, *, as_int8: bool, is_copied: bool) -> int:
    """What the disk of the library must have free while the conversion runs."""
    packed = file.model.value_count if as_int8 else 0
    copied = file.size_bytes if is_copied else 0
    return file.model.converted_bytes + packed + copied + _MARGIN_BYTES
