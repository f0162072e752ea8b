"""The starter pair's target, as transformers reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

if TYPE_CHECKING:
    import argparse

Answer = tuple[torch.Tensor, int]
"""The token ids of a whole conversation, and how many of them are the prompt."""


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say where the target is."""
    parser.add_argument("--target", type=Path, required=True, help="folder of the target")
    parser.add_argument("--gguf", help="name of a GGUF file in that folder, for its weights")


def chosen_device() -> torch.device:
    """The first CUDA device, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load_target(folder: Path, gguf: str | None, device: torch.device) -> Any:  # noqa: ANN401
    """The target, frozen; float32 on a CPU, bfloat16 elsewhere."""
    extra = {"gguf_file": gguf} if gguf else {}
    target = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **extra)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    return target.to(dtype).to(device).eval().requires_grad_(False)


def load_tokenizer(folder: Path, gguf: str | None) -> Any:  # noqa: ANN401 - untyped library
    """The target's tokenizer, padding on the left as generation needs it."""
    extra = {"gguf_file": gguf} if gguf else {}
    tokenizer = AutoTokenizer.from_pretrained(folder, **extra)
    tokenizer.padding_side = "left"
    tokenizer.pad_token = "<|endoftext|>"  # noqa: S105 - not a password
    return tokenizer
