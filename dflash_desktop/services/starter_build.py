"""Makes a checked pair of the starter target's file: converts, annotates, tries the draft."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.generation import (
    NO_STATS,
    PromptMessage,
    Role,
    SamplingParams,
)
from dflash_desktop.domain.ir_reader import IrError
from dflash_desktop.domain.locators import LocatorError
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.rt_info_edit import RtInfoEditError
from dflash_desktop.domain.starter import (
    MIN_TOKENS_PER_STEP,
    STARTER_PAIR_ID,
    InstallProgress,
    InstallStage,
    StarterPin,
)
from dflash_desktop.services import starter_problems as problems
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.rt_info_file import annotate_layers
from dflash_desktop.workers.model_folder import MODEL_XML
from dflash_desktop.workers.protocol import Finished

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.generation import GenerationStats
    from dflash_desktop.domain.pair import LoadedPair
    from dflash_desktop.services.starter_store import StarterResources
    from dflash_desktop.workers.protocol import Event

_CHECK_DEVICE: Final = "CPU"  # every machine has it, and whether a draft fits is the same on all
_CHECK_ASSISTANT_TOKENS: Final = 3
_CHECK_SAMPLING: Final = SamplingParams(temperature=0.0, max_new_tokens=64)
_CHECK_PROMPTS: Final = (
    "What is the capital of France?",
    "Write a Python function that checks whether a number is prime.",
    "Count from 1 to 40, separated by commas.",
)


class BuildEngine(Protocol):
    """What is asked of the engine here."""

    async def convert_gguf(self, gguf_path: Path, output_dir: Path) -> None:
        """Convert a GGUF file into OpenVINO files in a new folder."""

    async def load(self, folders: PairFolders, *, device: str) -> LoadedPair:
        """Load a pair in place of what is loaded."""

    def generate(
        self,
        messages: tuple[PromptMessage, ...],
        params: SamplingParams,
        *,
        assistant_tokens: int,
    ) -> AsyncIterator[Event]:
        """Answer; `Finished` comes last."""

    async def unload(self) -> None:
        """Let go of the model."""


@dataclass(frozen=True, slots=True)
class BuiltPair:
    """What the check of a finished pair found."""

    runtime: str
    tokens_per_step: float


class StarterBuild:
    """Uses the engine for a while, and leaves it without a model."""

    def __init__(self, *, engine: BuildEngine, resources: StarterResources) -> None:
        self._engine = engine
        self._pin = resources.pin
        self._draft_dir = resources.draft_dir

    async def run(
        self, gguf: Path, folder: Path
    ) -> AsyncGenerator[InstallProgress | BuiltPair, None]:
        """Build the target in `folder`, which must not exist yet; ends with a `BuiltPair`.

        Raises `AppError`, also when the draft is not accepted, and `OSError`.
        """
        yield InstallProgress(InstallStage.CONVERTING, "Converting the model for OpenVINO.")
        await self._engine.convert_gguf(gguf, folder)
        yield InstallProgress(InstallStage.ANNOTATING, "Marking where the draft reads.")
        try:
            await asyncio.to_thread(complete_target, folder, self._pin)
        except (LocatorError, IrError, RtInfoEditError) as error:
            raise AppError(problems.not_annotatable(str(error))) from error
        async with aclosing(self._check(folder)) as steps:
            async for step in steps:
                yield step

    async def _check(self, folder: Path) -> AsyncGenerator[InstallProgress | BuiltPair, None]:
        """Only numbers tell a draft that works from one that is loaded and never accepted."""
        yield _check_progress("Loading the pair for a first try.")
        pair = PairFolders(STARTER_PAIR_ID, self._pin.title, folder, self._draft_dir)
        tokens = steps = 0
        try:
            loaded = await self._engine.load(pair, device=_CHECK_DEVICE)
            for number, prompt in enumerate(_CHECK_PROMPTS, start=1):
                yield _check_progress(f"Trying the draft: {number} of {len(_CHECK_PROMPTS)}.")
                stats = await self._answer(prompt)
                tokens += stats.tokens
                steps += stats.steps
        finally:
            # Windows cannot move a folder out of which a model is mapped into memory.
            await self._engine.unload()
        tokens_per_step = tokens / steps if steps else None
        if tokens_per_step is None or tokens_per_step <= MIN_TOKENS_PER_STEP:
            raise AppError(problems.check_failed(tokens_per_step))
        yield BuiltPair(loaded.runtime, tokens_per_step)

    async def _answer(self, prompt: str) -> GenerationStats:
        stats = NO_STATS
        async for event in self._engine.generate(
            (PromptMessage(Role.USER, prompt),),
            _CHECK_SAMPLING,
            assistant_tokens=_CHECK_ASSISTANT_TOKENS,
        ):
            if isinstance(event, Finished):
                stats = event.stats
        return stats


def complete_target(folder: Path, pin: StarterPin) -> None:
    """Add what GenAI's conversion leaves out: the locators and a config.json. Blocking.

    Raises `LocatorError`, `IrError` and `RtInfoEditError`, before anything was changed, and
    `OSError`.
    """
    annotate_layers(folder / MODEL_XML, hidden_size=pin.hidden_size, layer_count=pin.layer_count)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": pin.hidden_size,
        "num_hidden_layers": pin.layer_count,
        "vocab_size": pin.vocab_size,
        "max_position_embeddings": pin.context_tokens,
    }
    text = f"{json.dumps(config, indent=2)}\n"
    write_atomically(folder / "config.json", text.encode())


def _check_progress(sentence: str) -> InstallProgress:
    return InstallProgress(InstallStage.CHECKING, sentence)
