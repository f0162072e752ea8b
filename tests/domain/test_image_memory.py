"""What a picture takes: the formula, against what was measured, and in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop.domain.image_memory import image_memory, memory_words, parts_words
from tests.fakes.image_models import MODEL

# Two random decoders of the real sizes, run alone on a processor (openvino 2026.4.1): what a
# picture of this side added to the process between 256 px and this one, in MB.
STABLE_DIFFUSION_DECODER = replace(MODEL, decoder_bytes_per_pixel=256 * 4)
QWEN_IMAGE_DECODER = replace(MODEL, decoder_bytes_per_pixel=96 * 2 * 4)


@pytest.mark.parametrize(
    ("model", "side", "measured_mb"),
    [
        (STABLE_DIFFUSION_DECODER, 384, 173),
        (STABLE_DIFFUSION_DECODER, 512, 418),
        (QWEN_IMAGE_DECODER, 384, 152),
        (QWEN_IMAGE_DECODER, 512, 338),
    ],
)
def test_turning_into_pixels_takes_about_what_was_measured(
    model: object, side: int, measured_mb: int
) -> None:
    assert isinstance(model, type(MODEL))

    def decoder_bytes(px: int) -> int:
        memory = image_memory(model, width=px, height=px, precision="fp16", runs_on_cpu=True)
        return memory.decoder_bytes

    grown = decoder_bytes(side) - decoder_bytes(256)
    assert grown / 1e6 == pytest.approx(measured_mb, rel=0.3)
    assert grown / 1e6 > 0.9 * measured_mb, "too little is worse than too much"


def test_weights_of_16_bits_are_unpacked_on_a_processor_only() -> None:
    model = replace(MODEL, weights_bytes=1_000_000_000)

    def weights(precision: str, *, runs_on_cpu: bool) -> int:
        memory = image_memory(
            model, width=512, height=512, precision=precision, runs_on_cpu=runs_on_cpu
        )
        return memory.weights_bytes

    assert weights("fp16", runs_on_cpu=True) == 2_000_000_000
    assert weights("", runs_on_cpu=True) == 2_000_000_000
    assert weights("int4", runs_on_cpu=True) == 1_250_000_000
    assert weights("int4", runs_on_cpu=False) == 1_000_000_000


def test_a_larger_picture_takes_more_and_what_is_not_known_is_said() -> None:
    small = image_memory(MODEL, width=512, height=512, precision="", runs_on_cpu=True)
    large = image_memory(MODEL, width=1024, height=1024, precision="", runs_on_cpu=True)
    assert large.needed_bytes > small.needed_bytes
    assert "nobody has measured" in parts_words(small)
    unknown = replace(MODEL, decoder_bytes_per_pixel=0)
    silent = image_memory(unknown, width=512, height=512, precision="", runs_on_cpu=True)
    assert "is not known" in parts_words(silent)


def test_the_line_says_when_it_is_more_than_there_is() -> None:
    memory = image_memory(MODEL, width=512, height=512, precision="", runs_on_cpu=True)
    assert "only 1.00 MB are there" in memory_words(memory, usable_bytes=10**6)
    assert memory_words(memory, usable_bytes=10**12).endswith("of 1.00 TB of memory.")
    assert memory_words(memory, usable_bytes=None).endswith("of memory.")
