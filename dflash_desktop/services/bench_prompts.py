"""The built-in questions of the measurement, read from the program's resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from dflash_desktop.domain.benchmark import BenchPrompt, PromptKind
from dflash_desktop.paths import resources_dir

if TYPE_CHECKING:
    from pathlib import Path


class _Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: PromptKind
    text: str
    max_new_tokens: int
    fast: bool


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    about: str
    warm_up: str
    prompts: tuple[_Prompt, ...]


class BenchPrompts(msgspec.Struct, frozen=True):
    """The full set, the short one with one prompt of each kind, and the prompt to warm up with."""

    warm_up: str
    full: tuple[BenchPrompt, ...]
    fast: tuple[BenchPrompt, ...]
    pictures: tuple[BenchPrompt, ...] = ()  # about the built-in picture; the first is the fast one

    def of_text(self, *, fast: bool) -> tuple[BenchPrompt, ...]:
        """The questions of a measurement."""
        return self.fast if fast else self.full

    def of_pictures(self, *, fast: bool) -> tuple[BenchPrompt, ...]:
        """Those that it asks a model that sees besides."""
        return self.pictures[:1] if fast else self.pictures


def load_bench_prompts(file: Path | None = None) -> BenchPrompts:
    """Read the prompts that came with the program, or those of `file`.

    Raises `FileNotFoundError` or `msgspec.MsgspecError` when the installation is damaged.
    """
    path = file or resources_dir() / "bench_prompts.json"
    content = msgspec.json.decode(path.read_bytes(), type=_File)
    made = [(p.fast, BenchPrompt(p.kind, p.text, p.max_new_tokens)) for p in content.prompts]
    full = [(is_fast, prompt) for is_fast, prompt in made if prompt.kind is not PromptKind.PICTURE]
    seen = [(is_fast, prompt) for is_fast, prompt in made if prompt.kind is PromptKind.PICTURE]
    return BenchPrompts(
        warm_up=content.warm_up,
        full=tuple(prompt for _, prompt in full),
        fast=tuple(prompt for is_fast, prompt in full if is_fast),
        pictures=tuple(prompt for _, prompt in sorted(seen, key=lambda one: not one[0])),
    )
