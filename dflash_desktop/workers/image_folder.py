"""What the folder of a model that makes pictures says about itself; no weights are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.image_models import KIND_FACTS, ImageKind, ImageModel, kind_of_class
from dflash_desktop.workers.model_folder import MODEL_BIN, MODEL_XML, ModelFolderError

if TYPE_CHECKING:
    from pathlib import Path

INDEX_NAME: Final = "model_index.json"
_LIMIT_BYTES: Final = 1 << 20
_MODELS: Final = ("text_encoder", "text_encoder_2", "text_encoder_3", "unet", "transformer")
_TOKENIZER: Final = "openvino_tokenizer.xml"
_POSITIONS: Final = "max_position_embeddings"
_ENCODER: Final = "vae_encoder"
_DECODER: Final = "vae_decoder"
_USUAL_VAE_FACTOR: Final = 8
_PATCH: Final = 2  # of every transformer that the runtime knows
_MOST_BLOCKS: Final = 8
_MOST_CHANNELS: Final = 1 << 14
_BYTES_PER_VALUE: Final = 4


def read_image_model(
    folder: Path, *, model_id: str = "", title: str = "", content_label: str = ""
) -> ImageModel:
    """The model in this folder. Blocking, milliseconds.

    Raises `ModelFolderError`: "model_missing" or "model_broken" when files are absent, empty or
    unreadable, "image_kind_unknown" for a pipeline that the runtime does not know.
    """
    index = _object(folder / INDEX_NAME)
    if index is None:
        raise ModelFolderError("model_broken", f"{folder / INDEX_NAME} is missing or damaged")
    class_name = str(index.get("_class_name", ""))
    kind = kind_of_class(class_name)
    if kind is None:
        raise ModelFolderError("image_kind_unknown", f"{INDEX_NAME} says {class_name[:80]!r}")
    parts = _required_parts(index)
    _require(folder, parts, index)
    has_encoder = _has_model(folder / _ENCODER)
    weighed = (*parts, _ENCODER) if has_encoder else parts
    vae = _object(folder / _DECODER / "config.json") or {}
    native = KIND_FACTS[kind].native_px
    factor = _vae_factor(vae)
    return ImageModel(
        id=model_id,
        title=title or folder.name,
        folder=folder,
        kind=kind,
        native_px=_native_px(folder, factor, native),
        size_step_px=_size_step_px(folder, factor),
        weights_bytes=sum((folder / part / MODEL_BIN).stat().st_size for part in weighed),
        decoder_bytes_per_pixel=_decoder_bytes_per_pixel(kind, vae),
        has_picture_encoder=has_encoder,
        content_label=content_label,
        prompt_tokens=_prompt_tokens(folder, parts),
    )


def _required_parts(index: dict[str, Any]) -> tuple[str, ...]:
    named = [name for name in _MODELS if _is_named(index, name)]
    return (*named, _DECODER)


def _is_named(index: dict[str, Any], name: str) -> bool:
    entry = index.get(name)
    return isinstance(entry, list) and any(isinstance(part, str) for part in entry)


def _require(folder: Path, parts: tuple[str, ...], index: dict[str, Any]) -> None:
    if not {"unet", "transformer"} & set(parts):
        raise ModelFolderError("model_broken", f"{INDEX_NAME} names neither unet nor transformer")
    files = [folder / part / name for part in parts for name in (MODEL_XML, MODEL_BIN)]
    files += [
        folder / name / _TOKENIZER
        for name in index
        if name.startswith("tokenizer") and _is_named(index, name)
    ]
    files.append(folder / "scheduler" / "scheduler_config.json")
    for file in files:
        if not file.is_file():
            raise ModelFolderError("model_missing", f"{file} is missing")
        if file.stat().st_size == 0:
            raise ModelFolderError("model_broken", f"{file} is empty")


def _prompt_tokens(folder: Path, parts: tuple[str, ...]) -> int | None:
    """What CLIP encoders read; None as soon as another kind, which reads more, is among them."""
    lengths = []
    for part in parts:
        if not part.startswith("text_encoder"):
            continue
        tokenizer = folder / part.replace("text_encoder", "tokenizer") / "tokenizer_config.json"
        name = str((_object(tokenizer) or {}).get("tokenizer_class"))
        length = _count((_object(folder / part / "config.json") or {}).get(_POSITIONS))
        if name.removesuffix("Fast") != "CLIPTokenizer" or length is None:
            return None
        lengths.append(length)
    return max(lengths, default=None)


def _has_model(folder: Path) -> bool:
    files = (folder / MODEL_XML, folder / MODEL_BIN)
    return all(file.is_file() and file.stat().st_size for file in files)


def _vae_factor(vae: dict[str, Any]) -> int:
    """How many pixels of a side one place of the latent stands for."""
    if samples := _list(vae.get("temperal_downsample")):  # so it is spelt, by Qwen-Image
        return int(2 ** len(samples))
    if channels := _list(vae.get("block_out_channels")):
        return int(2 ** (len(channels) - 1))
    return _USUAL_VAE_FACTOR


def _size_step_px(folder: Path, vae_factor: int) -> int:
    """A UNet halves the latent at each block but the last, a transformer cuts it into patches."""
    unet = _object(folder / "unet" / "config.json")
    if unet is None:
        return vae_factor * _PATCH
    blocks = _list(unet.get("block_out_channels")) or (1, 1, 1, 1)
    return int(vae_factor * 2 ** (len(blocks) - 1))


def _native_px(folder: Path, vae_factor: int, usual_px: int) -> int:
    unet = _object(folder / "unet" / "config.json") or {}
    side = _count(unet.get("sample_size"))
    return usual_px if side is None else min(side * vae_factor, usual_px)


def _decoder_bytes_per_pixel(kind: ImageKind, vae: dict[str, Any]) -> int:
    """The widest layer at full resolution, as f32: what it takes is a multiple of that."""
    if kind is ImageKind.QWEN_IMAGE:
        base, widths = _count(vae.get("base_dim")), _list(vae.get("dim_mult"))
        second = _count(widths[1]) if len(widths) > 1 else None
        return base * (second or 1) * _BYTES_PER_VALUE if base else 0
    channels = _list(vae.get("block_out_channels"))
    widest = _count(channels[1] if len(channels) > 1 else None)
    return widest * _BYTES_PER_VALUE if widest else 0


def _object(file: Path) -> dict[str, Any] | None:
    """A JSON object of ordinary size, or None for anything else."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            loaded = json.loads(stream.read(_LIMIT_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _list(value: object) -> tuple[object, ...]:
    return tuple(value[:_MOST_BLOCKS]) if isinstance(value, list) else ()


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 < value <= _MOST_CHANNELS else None
