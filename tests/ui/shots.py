"""Pictures of the chat page in every state, for people to look at.

Run: python -m tests.ui.shots FOLDER [STATE …]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from dflash_desktop.domain.conversation import Message
from dflash_desktop.domain.draft_policy import SpeedVerdict
from dflash_desktop.domain.generation import (
    DraftState,
    DraftUse,
    FinishReason,
    GenerationStats,
    Role,
    SamplingParams,
    TextOrigin,
    TextRun,
)
from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.memory_use import EngineParts, MemoryUse
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.ui.chat.pane import ChatPane
from dflash_desktop.ui.theme import Theme
from tests.ui.picture_values import NO_PICTURES

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "SmolLM2 135M"
QUESTION = "Explain speculative decoding, with a small example in Python."
ANSWER = '''## How it works

A **small draft model** proposes a few tokens ahead, and the *target* checks all of them in one
pass. Because `verify()` costs about as much as one ordinary step, every accepted token is a gain.
See [the paper](https://arxiv.org/abs/2211.17192) for the proof.

1. The draft proposes `k` tokens.
2. The target verifies them:

   ```python
   def accepted(draft: list[int], target: list[int]) -> int:
       """How many of the draft's tokens the target would have chosen itself."""
       for index, (proposed, own) in enumerate(zip(draft, target)):
           if proposed != own:
               return index  # the first difference ends it
       return len(draft)
   ```
3. What was accepted is kept, and the next round begins.

| Assistant tokens | Speed | Per step |
|:-----------------|------:|---------:|
| off | 20.1 tok/s | 1.00 |
| 3 | **48.2 tok/s** | 3.61 |
| 5 | 44.0 tok/s | 3.90 |

Some things to keep in mind:

- The text stays the same with greedy decoding.
- A weak draft costs more than it gives:
  - it proposes what nobody accepts,
  - and every step becomes longer.

> The target always has the last word.
'''
STATS = GenerationStats(42, 312, 87, 1, 0.213, 6.47, 3)
MEMORY = MemoryUse(
    pool=PoolKind.SHARED,
    device_name="Intel(R) Arc(TM) 140V GPU (16GB)",
    pool_bytes=17_900_000_000,
    engine_bytes=7_700_000_000,
    other_bytes=3_400_000_000,
    reserve_bytes=2_000_000_000,
    parts=EngineParts(5_700_000_000, 866_000_000, 436_000_000, 698_000_000),
    is_estimated=True,
)
VERDICT = SpeedVerdict(
    2.4, 20.1, datetime(2026, 11, 29, tzinfo=UTC), "compared with 20.1 tok/s without the draft"
)
DRAFT_ON = DraftUse(DraftState.ON, "3 tokens was fastest in the last measurement here.", 3)
DRAFT_RESTS = DraftUse(
    DraftState.RESTING,
    "The draft rests: it works only with greedy decoding, and the temperature is 0.7. "
    "Set it to 0 to use the draft.",
)
DRAFT_OFF = DraftUse(DraftState.OFF, "The draft cost more than it gave in the last 8 answers.")
QUESTION_MESSAGE = Message(Role.USER, QUESTION)
ANSWER_MESSAGE = Message(
    Role.ASSISTANT,
    ANSWER,
    stats=STATS,
    draft=DRAFT_ON,
    finish=FinishReason.STOP,
    model_title=MODEL,
)


def stats_after(tokens: int) -> GenerationStats:
    wave = 1 + 0.25 * ((tokens // 16) % 5) / 4
    return replace(
        STATS, tokens=tokens, steps=max(1, tokens // 4), decode_seconds=tokens / 48 * wave
    )


def pump(seconds: float, pane: ChatPane) -> None:
    end = time.monotonic() + 8
    least = time.monotonic() + seconds
    while time.monotonic() < end:
        QApplication.processEvents()
        if time.monotonic() > least and pane.transcript.drawing.clock.is_idle:
            break
        time.sleep(0.005)
    for _ in range(5):
        QApplication.processEvents()


def ready(pane: ChatPane) -> None:
    pane.show_model(MODEL, "")
    pane.show_draft(DRAFT_ON, is_attached=True)
    pane.show_verdict(VERDICT)
    pane.show_sampling(SamplingParams(), DRAFT_ON, can_think=False)
    pane.show_system_prompt("")
    pane.show_context(None, 8192)


def empty(pane: ChatPane) -> None:
    pane.show_verdict(SpeedVerdict(None, None, None))
    pane.focus_composer()


def no_model(pane: ChatPane) -> None:
    off = DraftUse(DraftState.OFF, "No model is loaded.")
    pane.show_model("", "Loading SmolLM2 135M: reading the weights…")
    pane.show_draft(off, is_attached=False)
    pane.show_sampling(SamplingParams(), off, can_think=False)
    pane.show_verdict(SpeedVerdict(None, None, None))


def finished(pane: ChatPane) -> None:
    stream(pane, ANSWER)
    pane.finish_answer(ANSWER_MESSAGE, VERDICT)
    pump(0.2, pane)
    pane.transcript.verticalScrollBar().setValue(0)


def finished_end(pane: ChatPane) -> None:
    finished(pane)
    pane.transcript.follow()


def streaming(pane: ChatPane) -> None:
    stream(pane, ANSWER[:840])


def stream(pane: ChatPane, text: str) -> None:
    pane.show_question(Message(Role.USER, QUESTION))
    pane.begin_answer(MODEL)
    for index in range(0, len(text), 16):
        run = TextRun(text[index : index + 16], TextOrigin.DRAFT, index // 16)
        stats = stats_after(index // 4 + 4)
        pane.append((run,), "", stats)
        pane.meter._history.keep_point()
        QApplication.processEvents()
    pane.show_context(354, 8192)
    pane.show_memory(MEMORY)


def waiting(pane: ChatPane) -> None:
    pane.show_question(Message(Role.USER, QUESTION))
    pane.begin_answer(MODEL)
    pane.show_prompt_read(512, 2048)


def thinking(pane: ChatPane) -> None:
    pane.show_question(Message(Role.USER, "What is 17 times 23?"))
    pane.begin_answer("Qwen3 4B")
    pane.append((), "17 times 20 is 340. 17 times 3 is 51. Together 391.", stats_after(20))
    answer = pane.transcript.answer
    assert answer is not None
    answer._thinking._fold.click()
    pump(0.1, pane)
    pane.append((TextRun("17 × 23 = **391**.", TextOrigin.TARGET, 3),), "", stats_after(40))


def marked(pane: ChatPane) -> None:
    pane.show_question(Message(Role.USER, QUESTION))
    pane.begin_answer(MODEL)
    words = [
        "A",
        "small",
        "draft",
        "model",
        "proposes",
        "a",
        "few",
        "tokens",
        "ahead,",
        "and",
        "the",
        "target",
        "checks",
        "all",
        "of",
        "them",
        "in",
        "one",
        "pass.",
        "What",
        "it",
        "would",
        "have",
        "chosen",
        "itself",
        "is",
        "kept;",
        "at",
        "the",
        "first",
        "difference",
        "it",
        "writes",
        "its",
        "own",
        "word,",
        "and",
        "the",
        "draft",
        "begins",
        "again",
        "from",
        "there.\n\nSo",
        "the",
        "text",
        "is",
        "the",
        "target's",
        "own,",
        "word",
        "for",
        "word,",
        "and",
        "only",
        "the",
        "time",
        "it",
        "takes",
        "changes.",
    ]
    runs = tuple(
        TextRun(word + " ", TextOrigin.TARGET if i % 4 == 3 else TextOrigin.DRAFT, i // 4)
        for i, word in enumerate(words)
    )
    pane.show_draft_tokens(True)
    pane.append(runs, "", STATS)
    text = "".join(run.text for run in runs)
    pane.finish_answer(replace(ANSWER_MESSAGE, text=text, runs=runs), VERDICT)


def failed(pane: ChatPane) -> None:
    streaming(pane)
    message = replace(
        ANSWER_MESSAGE,
        text=ANSWER[:840],
        finish=FinishReason.FAILED,
        problem_headline="the engine ran out of memory.",
    )
    pane.finish_answer(message, None)
    pane.show_problem(
        Problem(
            code="out_of_memory",
            headline="The engine ran out of memory in the middle of the answer.",
            advice="What was written is kept. The model is being loaded again; a new chat needs "
            "less memory.",
            detail="RuntimeError: Exception from src/inference/src/cpp/infer_request.cpp:116",
            remedies=(Remedy.RETRY, Remedy.NEW_CHAT),
        )
    )


def resting(pane: ChatPane) -> None:
    finished_end(pane)
    pane.show_draft(DRAFT_RESTS, is_attached=True)
    pane.show_sampling(SamplingParams(temperature=0.7), DRAFT_RESTS, can_think=False)
    message = replace(
        ANSWER_MESSAGE,
        notice="This conversation fills 91% of the context. Soon "
        "the oldest messages will not fit any more.",
        finish=FinishReason.CANCELLED,
    )
    pane.finish_answer(message, VERDICT)
    pane.show_context(7460, 8192)
    pane.show_memory(replace(MEMORY, other_bytes=9_400_000_000))


def long_text(pane: ChatPane) -> None:
    pane.show_question(
        Message(Role.USER, "Please read this.\n" + "A long line of pasted text. " * 400)
    )
    pane.begin_answer(MODEL)
    text = ("A very long paragraph goes on and on. " * 80) + "\n\n```\n" + "x" * 400 + "\n```\n"
    pane.append((TextRun(text, TextOrigin.TARGET, 1),), "", STATS)
    pane.finish_answer(replace(ANSWER_MESSAGE, text=text), VERDICT)
    pane.composer._on_long_paste("Chapter one. " * 90_000)


def sampling(pane: ChatPane) -> None:
    finished(pane)
    pane.composer._sampling.click()


def system_prompt(pane: ChatPane) -> None:
    finished(pane)
    pane.composer._system_prompt.click()


STATES: dict[str, Callable[[ChatPane], None]] = {
    "empty": empty,
    "no-model": no_model,
    "waiting": waiting,
    "streaming": streaming,
    "finished": finished,
    "finished-end": finished_end,
    "thinking": thinking,
    "draft-marked": marked,
    "failed": failed,
    "resting": resting,
    "long": long_text,
    "sampling": sampling,
    "system-prompt": system_prompt,
}
SIZES = {"": (1180, 760), "-narrow": (720, 620)}


def shoot(folder: Path, theme: Theme, state: str, suffix: str) -> None:
    for size_name, size in SIZES.items():
        pane = ChatPane(
            theme=theme, report=lambda problem: problem.headline, picture_files=NO_PICTURES
        )
        pane.setProperty("surface", "page")
        pane.resize(*size)
        pane.show()
        ready(pane)
        pump(0.05, pane)
        STATES[state](pane)
        pump(0.5, pane)
        popover = QApplication.activePopupWidget()
        picture = (popover or pane).grab()
        picture.save(str(folder / f"{state}{size_name}{suffix}.png"))
        if popover is not None:
            popover.close()
        pane.close()
        pane.deleteLater()
        QApplication.processEvents()


def main() -> None:
    """Shoot everything; each scale needs a process of its own."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    scale = os.environ.get("QT_SCALE_FACTOR")
    states = sys.argv[2:] or list(STATES)
    if scale is None:
        for factor in ("1", "1.5"):
            environment = {**os.environ, "QT_SCALE_FACTOR": factor}
            command = [sys.executable, "-m", "tests.ui.shots", str(folder), *states]
            subprocess.run(command, env=environment, check=True)
        return
    application = QApplication(sys.argv[:1])
    theme = Theme(application)
    for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
        theme.choose(choice)
        for state in states:
            percent = f"{float(scale) * 100:.0f}"
            shoot(folder, theme, state, f"-{choice.value}-{percent}")


if __name__ == "__main__":
    main()
