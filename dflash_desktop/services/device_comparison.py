"""Asks a device and the processor the same question, one after the other."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.device_agreement import DeviceAnswers, compared
from dflash_desktop.domain.generation import PromptMessage, Role, SamplingParams
from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem
from dflash_desktop.workers.protocol import Finished, Text

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.pair_loading import PairLoading

_QUESTION: Final = (
    PromptMessage(Role.USER, "Write the numbers from one to twenty as words, one a line."),
)
_ANSWER: Final = SamplingParams(max_new_tokens=48)
_CPU: Final = "CPU"


async def compare_with_cpu(
    folders: PairFolders, *, device: str, engine: Engine, loading: PairLoading
) -> DeviceAnswers:
    """What both answer; the target alone, greedily. The processor's load is what stays loaded.

    Raises `AppError` ("nothing_to_compare") when the device is the processor itself, and what
    loading and answering raise.
    """
    target = replace(folders, draft_dir=None)
    loaded = await loading.load(target, device=device)
    if loaded.device == _CPU:
        raise AppError(_NOTHING)
    on_device = await _answer(engine)
    await loading.load(target, device=_CPU)
    return compared(device_name=loaded.device_name, device=on_device, cpu=await _answer(engine))


async def _answer(engine: Engine) -> tuple[str, tuple[int, ...]]:
    text = ""
    async with aclosing(engine.generate(_QUESTION, _ANSWER, assistant_tokens=0)) as events:
        async for event in events:
            if isinstance(event, Text):
                text += "".join(run.text for run in event.runs)
            if isinstance(event, Finished):
                return text, event.token_ids
    raise CancelledByPersonError


_NOTHING: Final = Problem(
    code="nothing_to_compare",
    headline="Answers come from the processor already: there is nothing to compare it with.",
    advice="Name a graphics device, as `dflash-desktop doctor` shows them.",
)
