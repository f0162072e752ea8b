"""What a checkpoint says of itself before anything is loaded, and what can be made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_recipes import Recipe
from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.model_facts import ModelKind
from dflash_desktop.domain.problems import AppError, Problem, Remedy

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEWER_DRAFTS: Final = (
    (ModelKind.DFLASH2, ("dflash2",), ("candidate_selector.", "attention_conv.", "mlp_conv.")),
    (ModelKind.DSPARK, ("dspark",), ("markov_", "confidence_head", "log_snr_")),
    (ModelKind.EAGLE3, ("eagle3",), ("midlayer.", "d2t")),
)
"""By the class that config.json names, or by tensors that only this kind has."""

_UNPACKED_BY_EXPORTER: Final = ("", "mxfp4")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint by its small files and the heads of its weights; empty is what is silent."""

    name: str
    model_type: str = ""
    architectures: tuple[str, ...] = ()
    has_vision_part: bool = False
    hidden_size: int = 0
    layer_count: int = 0
    expert_count: int = 0  # of each layer of a mixture of experts; 0 where it is dense
    row_widths: tuple[int, ...] = ()  # of its matrices: a group of int4 must divide them
    target_layer_ids: tuple[int, ...] = ()
    own_code: tuple[str, ...] = ()  # files that are code, or say where code is
    packed_by: str = ""  # "fp8", "gptq": weights that are no plain numbers
    tensor_names: tuple[str, ...] = ()  # only those that tell a kind are looked for
    parameters: int = 0
    largest_tensor_values: int = 0
    weights_bytes: int = 0
    weight_files: tuple[str, ...] = ()
    largest_file_bytes: int = 0
    is_gguf: bool = False
    has_tokenizer: bool = True
    is_openvino: bool = False  # it was exported before
    is_exact: bool = True  # the parameters were counted, and not reckoned from sizes

    @property
    def bytes_per_parameter(self) -> float:
        """How wide its numbers are stored."""
        return self.weights_bytes / self.parameters if self.parameters else 2.0

    def draft_kind(self) -> ModelKind | None:
        """Which kind of draft it is; None for one that is none."""
        named = " ".join(self.architectures).lower().replace("-", "").replace("_", "")
        for kind, words, tensors in _NEWER_DRAFTS:
            if any(word in named for word in words) or _any_has(self.tensor_names, tensors):
                return kind
        is_dflash = "dflash" in named or bool(self.target_layer_ids) or self.is_gguf
        return ModelKind.DFLASH if is_dflash else None


def recipe_for(checkpoint: Checkpoint, role: ExportRole) -> Recipe:
    """The way to export it in that role.

    Raises `AppError` for what cannot become what it is wanted for. That an exporter knows its
    kind is asked elsewhere (`choose_environment`).
    """
    if checkpoint.is_openvino:
        raise AppError(_exported_already(checkpoint))
    if checkpoint.packed_by not in _UNPACKED_BY_EXPORTER:
        raise AppError(_packed(checkpoint))
    kind = checkpoint.draft_kind()
    if role is ExportRole.DRAFT:
        if kind is None:
            raise AppError(_no_draft(checkpoint))
        if checkpoint.is_gguf:
            return Recipe.GGUF_DRAFT
        is_known_by_name = checkpoint.architectures[:1] == ("DFlashDraftModel",)
        needs_copy = bool(checkpoint.own_code) or (
            kind is ModelKind.DFLASH and not is_known_by_name
        )
        _require_safetensors(checkpoint, needs_copy=needs_copy)
        return Recipe.OWN_CODE_DRAFT if needs_copy else Recipe.DRAFT
    if kind is not None:
        raise AppError(_draft_as_target(checkpoint))
    if not checkpoint.weight_files:
        raise AppError(_no_weights(checkpoint))
    if not checkpoint.has_tokenizer:
        raise AppError(no_tokenizer(checkpoint.name))
    return Recipe.VISION_TARGET if checkpoint.has_vision_part else Recipe.TEXT_TARGET


def _require_safetensors(checkpoint: Checkpoint, *, needs_copy: bool) -> None:
    if not checkpoint.weight_files:
        raise AppError(_no_weights(checkpoint))
    if needs_copy and not any(f.endswith(".safetensors") for f in checkpoint.weight_files):
        problem = Problem(
            code="export_no_safetensors",
            headline=f"The weights of “{checkpoint.name}” are in a form that can hold code.",
            advice="This draft brings code of its own, so the program opens no such files of it. "
            "Ask its authors for safetensors, or choose another draft.",
            detail=", ".join(checkpoint.weight_files[:5]),
        )
        raise AppError(problem)


def _any_has(names: Iterable[str], parts: tuple[str, ...]) -> bool:
    return any(part in name for name in names for part in parts)


def no_tokenizer(name: str) -> Problem:
    """A target that no text can go into: the exporter would make a tokenizer up."""
    return Problem(
        code="export_no_tokenizer",
        headline=f"“{name}” has no tokenizer.",
        advice="Without it the exporter makes one up that knows a few characters, and ends as if "
        "all were well. Download the checkpoint with all of its small files, tokenizer.json above "
        "all.",
    )


def _exported_already(checkpoint: Checkpoint) -> Problem:
    return Problem(
        code="export_not_needed",
        headline=f"“{checkpoint.name}” is an OpenVINO model already.",
        advice="It needs no export: add it to the models.",
        remedies=(Remedy.ADD_MODEL,),
    )


def _packed(checkpoint: Checkpoint) -> Problem:
    return Problem(
        code="export_quantized",
        headline=f"“{checkpoint.name}” holds packed weights ({checkpoint.packed_by}).",
        advice="The export tools do not unpack them, and packing them again would lose more. "
        "Choose the original with 16-bit weights.",
    )


def _no_draft(checkpoint: Checkpoint) -> Problem:
    named = checkpoint.architectures[0] if checkpoint.architectures else "nothing"
    return Problem(
        code="export_no_draft",
        headline=f"“{checkpoint.name}” is no DFlash draft.",
        advice="A draft's config.json says which layers of its target it reads; this one does "
        "not. Choose the draft that was made for your target.",
        detail=f"architectures: {named}",
    )


def _draft_as_target(checkpoint: Checkpoint) -> Problem:
    return Problem(
        code="export_draft_as_target",
        headline=f"“{checkpoint.name}” is a draft, and no model that answers by itself.",
        advice="Choose it as the draft, and the model it was made for as the target.",
    )


def _no_weights(checkpoint: Checkpoint) -> Problem:
    return Problem(
        code="export_no_weights",
        headline=f"“{checkpoint.name}” holds no weights that can be exported.",
        advice="A checkpoint has a config.json and files in safetensors form. Choose its folder, "
        "or download it again.",
    )
