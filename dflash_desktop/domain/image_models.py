"""Models that make pictures: the kinds that the runtime knows, and what each of them can do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final


class ImageKind(StrEnum):
    """The family of a model, as `model_index.json` tells it; the value is for people."""

    STABLE_DIFFUSION = "Stable Diffusion"
    LATENT_CONSISTENCY = "Latent Consistency"
    STABLE_DIFFUSION_XL = "Stable Diffusion XL"
    STABLE_DIFFUSION_3 = "Stable Diffusion 3"
    FLUX = "Flux"
    FLUX_2_KLEIN = "Flux 2 Klein"
    Z_IMAGE = "Z-Image"
    QWEN_IMAGE = "Qwen-Image"


# The class names that openvino-genai 2026.4.1 compares with. FluxFillPipeline is one of them too,
# but can only fill masks, with a picture of its own: it is not offered here.
_KIND_OF_CLASS: Final = {
    "StableDiffusionPipeline": ImageKind.STABLE_DIFFUSION,
    "StableDiffusionImg2ImgPipeline": ImageKind.STABLE_DIFFUSION,
    "StableDiffusionInpaintPipeline": ImageKind.STABLE_DIFFUSION,
    "LatentConsistencyModelPipeline": ImageKind.LATENT_CONSISTENCY,
    "LatentConsistencyModelImg2ImgPipeline": ImageKind.LATENT_CONSISTENCY,
    "StableDiffusionXLPipeline": ImageKind.STABLE_DIFFUSION_XL,
    "StableDiffusionXLImg2ImgPipeline": ImageKind.STABLE_DIFFUSION_XL,
    "StableDiffusionXLInpaintPipeline": ImageKind.STABLE_DIFFUSION_XL,
    "StableDiffusion3Pipeline": ImageKind.STABLE_DIFFUSION_3,
    "StableDiffusion3Img2ImgPipeline": ImageKind.STABLE_DIFFUSION_3,
    "StableDiffusion3InpaintPipeline": ImageKind.STABLE_DIFFUSION_3,
    "FluxPipeline": ImageKind.FLUX,
    "FluxImg2ImgPipeline": ImageKind.FLUX,
    "FluxInpaintPipeline": ImageKind.FLUX,
    "Flux2KleinPipeline": ImageKind.FLUX_2_KLEIN,
    "ZImagePipeline": ImageKind.Z_IMAGE,
    "QwenImagePipeline": ImageKind.QWEN_IMAGE,
}


def kind_of_class(class_name: str) -> ImageKind | None:
    """The kind that diffusers calls by this class; None if the runtime does not know it."""
    return _KIND_OF_CLASS.get(class_name)


@dataclass(frozen=True, slots=True)
class KindFacts:
    """What is true of every model of a kind; steps and guidance are where one begins."""

    native_px: int  # the side of the square that it was trained on
    steps: int
    guidance: float
    takes_negative_prompt: bool = True
    guidance_needs_negative_prompt: bool = False
    takes_picture: bool = False  # image to image was run, or is in the runtime's list of classes
    takes_mask: bool = False

    def uses_guidance(self, *, has_negative_prompt: bool) -> bool:
        """Whether guidance changes anything of a picture."""
        return has_negative_prompt or not self.guidance_needs_negative_prompt


KIND_FACTS: Final = {
    ImageKind.STABLE_DIFFUSION: KindFacts(512, 25, 7.5, takes_picture=True, takes_mask=True),
    ImageKind.LATENT_CONSISTENCY: KindFacts(
        512, 4, 8.0, takes_negative_prompt=False, takes_picture=True
    ),
    ImageKind.STABLE_DIFFUSION_XL: KindFacts(1024, 30, 7.5, takes_picture=True, takes_mask=True),
    ImageKind.STABLE_DIFFUSION_3: KindFacts(1024, 28, 7.0, takes_picture=True, takes_mask=True),
    ImageKind.FLUX: KindFacts(
        1024, 20, 3.5, takes_negative_prompt=False, takes_picture=True, takes_mask=True
    ),
    ImageKind.FLUX_2_KLEIN: KindFacts(1024, 4, 1.0, takes_negative_prompt=False),
    ImageKind.Z_IMAGE: KindFacts(1024, 9, 0.0),
    # Measured: guidance without a negative prompt changes nothing; masks are refused.
    ImageKind.QWEN_IMAGE: KindFacts(
        1024, 30, 4.0, guidance_needs_negative_prompt=True, takes_picture=True
    ),
}


@dataclass(frozen=True, slots=True)
class ImageModel:
    """One model on this disk that makes pictures, as its own files describe it."""

    id: str
    title: str
    folder: Path
    kind: ImageKind
    native_px: int
    size_step_px: int  # width and height are multiples of it
    weights_bytes: int  # of all parts
    decoder_bytes_per_pixel: int  # what turning the result into pixels works on; 0: not known
    has_picture_encoder: bool
    content_label: str = ""  # "uncensored", where the catalogue says so
    prompt_tokens: int | None = None  # that all its text encoders read; None: long, or not known

    @property
    def facts(self) -> KindFacts:
        """What is true of its kind."""
        return KIND_FACTS[self.kind]

    @property
    def takes_picture(self) -> bool:
        """Whether it can begin with a picture."""
        return self.facts.takes_picture and self.has_picture_encoder

    @property
    def takes_mask(self) -> bool:
        """Whether it can change a part of a picture and leave the rest."""
        return self.facts.takes_mask and self.has_picture_encoder


@dataclass(frozen=True, slots=True)
class LoadedImageModel:
    """What the engine holds instead of a pair."""

    title: str
    folder: Path
    device: str
    device_name: str
    load_seconds: float
