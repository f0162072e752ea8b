"""What a model that makes pictures needs of memory, with the formula and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from dflash_desktop.domain.image_models import ImageModel

# Measured on a processor with 2026.4.1: random decoders of the real sizes (Stable Diffusion's and
# Qwen-Image's, 99 and 145 MB of fp16), from 256 to 512 px square. Weights of 16 bits are unpacked
# to 32; a picture took 2.2 and 2.35 times the widest layer at full resolution.
_UNPACKED_SHARE_ON_CPU: Final = 2.0
_PACKED_SHARE_ON_CPU: Final = 1.25  # as for pairs: see `memory_budget`
_COPIES_OF_WIDEST_LAYER: Final = 2.4
_RUNTIME_BYTES_ON_CPU: Final = 250_000_000
_RUNTIME_BYTES_ON_GPU: Final = 500_000_000
_SCRATCH_SHARE_ON_GPU: Final = 0.03
_QUANTIZED: Final = ("int", "nf4", "mxfp4", "u4", "u8")

UNKNOWN_WORDS: Final = (
    "What the steps themselves work on is not in it: nobody has measured that for this model."
)


@dataclass(frozen=True, slots=True)
class ImageMemory:
    """The parts of what one picture takes; `decoder_bytes` is 0 when the files do not tell."""

    weights_bytes: int
    decoder_bytes: int
    overhead_bytes: int

    @property
    def needed_bytes(self) -> int:
        """The sum of what is known; the steps take more."""
        return self.weights_bytes + self.decoder_bytes + self.overhead_bytes


def image_memory(
    model: ImageModel, *, width: int, height: int, precision: str, runs_on_cpu: bool
) -> ImageMemory:
    """All parts that can be told for a picture of this size; `precision` "" counts as 16 bits."""
    is_quantized = precision.lower().startswith(_QUANTIZED)
    share = 1.0
    if runs_on_cpu:
        share = _PACKED_SHARE_ON_CPU if is_quantized else _UNPACKED_SHARE_ON_CPU
    overhead = _RUNTIME_BYTES_ON_CPU
    if not runs_on_cpu:
        overhead = _RUNTIME_BYTES_ON_GPU + round(model.weights_bytes * _SCRATCH_SHARE_ON_GPU)
    widest = model.decoder_bytes_per_pixel * width * height
    return ImageMemory(
        weights_bytes=round(model.weights_bytes * share),
        decoder_bytes=round(widest * _COPIES_OF_WIDEST_LAYER),
        overhead_bytes=overhead,
    )


def memory_words(memory: ImageMemory, *, usable_bytes: int | None) -> str:
    """One line: what it needs, of what there is."""
    needed = format_bytes(memory.needed_bytes)
    if usable_bytes is None:
        return f"Takes about {needed} of memory."
    there = format_bytes(usable_bytes)
    if memory.needed_bytes > usable_bytes:
        return f"Takes about {needed} of memory; only {there} are there."
    return f"Takes about {needed} of {there} of memory."


def parts_words(memory: ImageMemory) -> str:
    """The formula for whoever asks."""
    decoder = (
        f"{format_bytes(memory.decoder_bytes)} to turn the result into pixels"
        if memory.decoder_bytes
        else "turning the result into pixels is not known"
    )
    return (
        f"Weights {format_bytes(memory.weights_bytes)}, {decoder}, "
        f"the runtime {format_bytes(memory.overhead_bytes)}. {UNKNOWN_WORDS}"
    )
