"""`dflash-desktop chat`: one question, or a conversation in the terminal."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.pair_options import add_pair_arguments, chosen_folders, load_pair
from dflash_desktop.domain.conversation import Conversation, Message
from dflash_desktop.domain.generation import (
    DraftUse,
    FinishReason,
    GenerationStats,
    SamplingParams,
)
from dflash_desktop.domain.pair import LoadedPair
from dflash_desktop.domain.pictures import Picture
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.settings import Settings
from dflash_desktop.domain.units import format_rate, format_seconds, format_speedup, significant
from dflash_desktop.services.chat_events import AnswerFinished, AnswerText
from dflash_desktop.workers.model_folder import sees_pictures

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.draft_policy import SpeedVerdict
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.chat import Chat

HELP = """Ask a question, or talk in the terminal.

Without --prompt the question is read from standard input; in a terminal it becomes a
conversation that ends with Ctrl+D. Nothing said here is kept.

examples:
  dflash-desktop chat --prompt "Explain gravity to a child."
  dflash-desktop chat --prompt "Count to 20." --json
  dflash-desktop chat --prompt "Tell a story." --temperature 0.8      the draft rests
  dflash-desktop chat --target Ornith --prompt "What is this?" --image photo.jpg
  dflash-desktop chat --target D:/models/Qwen3-8B --draft D:/models/Qwen3-8B-DFlash
"""

_NO_SIGHT_ADVICE: Final = "Ask without --image, or name a model that sees with --target."


def add_arguments(parser: ArgumentParser) -> None:
    """The question, the sampling, the draft, and the pair."""
    parser.add_argument("--prompt", metavar="TEXT", help="the question")
    parser.add_argument(
        "--image",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a picture for the first question, for models that see; give it again for more",
    )
    parser.add_argument("--system", default="", metavar="TEXT", help="a system prompt")
    parser.add_argument(
        "--max-tokens", type=int, default=1024, metavar="N", help="longest answer (default 1024)"
    )
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.0,
        metavar="T",
        help="0 is greedy, and only then the draft can help (default 0)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for sampling")
    draft = parser.add_mutually_exclusive_group()
    draft.add_argument("--no-draft", action="store_true", help="run the target alone")
    draft.add_argument(
        "--assistant-tokens",
        type=int,
        metavar="N",
        help="tokens that the draft proposes in each step (default: what was measured here)",
    )
    add_pair_arguments(parser)


async def run(args: Namespace, context: CommandContext) -> ChatResult:
    """Load the pair and answer; raises `AppError`."""
    from dflash_desktop.services.chat import Chat  # no help text should wait for it

    folders = chosen_folders(args, context)
    if args.no_draft:
        folders = replace(folders, draft_dir=None)
    question = args.prompt if args.prompt is not None else _piped_question()
    pictures = await _prepared(args.image, folders, context)
    pair = await load_pair(folders, args, context)
    chat = Chat(
        engine=context.engine,
        measurements=context.measurements,
        conversations=_NotKept(),
        settings=_CommandSettings(_settings(args)),
        pictures=context.pictures,
    )
    chat.fix_assistant_tokens(args.assistant_tokens)
    if question is None:
        return await _talk(chat, pair, pictures)
    return await _ask(chat, pair, question, pictures, echo=not args.json)


async def _prepared(
    files: list[Path], folders: PairFolders, context: CommandContext
) -> tuple[Picture, ...]:
    """The pictures as the model will see them, before anything is loaded. Raises `AppError`."""
    if files and not sees_pictures(folders.target_dir):
        from dflash_desktop.services.chat_pictures import no_sight_problem

        unseen = no_sight_problem(folders.title)
        raise AppError(replace(unseen, advice=_NO_SIGHT_ADVICE, remedies=()))
    return tuple([await context.pictures.prepare(file) for file in files])


@dataclass(frozen=True, slots=True)
class ChatResult:
    """The last answer of the command, or None when nothing was asked."""

    answer: AnswerFinished | None
    pair: LoadedPair
    pictures: tuple[Picture, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        match self.answer:
            case AnswerFinished(
                message=Message(
                    stats=GenerationStats() as stats,
                    draft=DraftUse() as draft,
                    finish=FinishReason() as finish,
                ) as message,
                speed=speed,
                notice=notice,
            ):
                return {
                    "text": message.text,
                    "pictures": [_picture_json(picture) for picture in self.pictures],
                    "stats": _stats_json(stats, speed),
                    "draft": {
                        "state": str(draft.state),
                        "reason": draft.reason,
                        "assistant_tokens": draft.assistant_tokens,
                    },
                    "device": self.pair.device,
                    "device_name": self.pair.device_name,
                    "kv_cache_precision": str(self.pair.kv_cache_precision),
                    "finish_reason": str(finish),
                    "thinking": message.thinking,
                    "notice": " ".join(filter(None, (message.notice, notice))),
                }
            case _:
                raise AppError(_NOTHING_ASKED)

    def as_text(self) -> str:
        """Nothing more: the answer and its figures were shown while they came."""
        return ""


def _stats_json(stats: GenerationStats, speed: SpeedVerdict) -> dict[str, object]:
    return {
        "tokens": stats.tokens,
        "steps": stats.steps,
        "accepted_tokens": stats.accepted_tokens,
        "tokens_per_step": stats.tokens_per_step,
        "tokens_per_second": stats.tokens_per_second,
        "first_token_seconds": stats.first_token_seconds,
        "picture_tokens": stats.picture_tokens,
        "picture_seconds": stats.picture_seconds,
        "speedup": speed.speedup,
        "baseline_tokens_per_second": speed.baseline_tokens_per_second,
    }


def _picture_json(picture: Picture) -> dict[str, object]:
    return {
        "title": picture.title,
        "width": picture.width,
        "height": picture.height,
        "original_width": picture.original_width,
        "original_height": picture.original_height,
        "notes": list(picture.notes),
    }


class _NotKept:
    """A conversation in the terminal is not kept."""

    def save(self, conversation: Conversation) -> None:
        """Nothing to do."""


@dataclass(frozen=True, slots=True)
class _CommandSettings:
    """What the arguments say, in place of the window's settings."""

    value: Settings


def _settings(args: Namespace) -> Settings:
    params = SamplingParams(
        temperature=args.temperature, seed=args.seed, max_new_tokens=args.max_tokens
    )
    return Settings(sampling=params, system_prompt=args.system)


def _piped_question() -> str | None:
    """The whole of standard input, or None when a person sits there."""
    return None if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()


async def _talk(chat: Chat, pair: LoadedPair, pictures: tuple[Picture, ...]) -> ChatResult:
    import asyncio

    print(f"{pair.title} on {pair.device_name}. Ctrl+D ends the conversation.", file=sys.stderr)
    result = ChatResult(None, pair)
    while True:
        try:
            question = await asyncio.to_thread(input, "\n> ")
        except EOFError:
            return result
        try:
            result = await _ask(chat, pair, question, pictures, echo=True)
            pictures = ()
        except AppError as error:
            print(f"{error.problem.headline}\n{error.problem.advice}", file=sys.stderr)


async def _ask(
    chat: Chat,
    pair: LoadedPair,
    question: str,
    pictures: tuple[Picture, ...],
    *,
    echo: bool,
) -> ChatResult:
    answer = None
    if echo:
        for picture in pictures:
            print(_picture_words(picture), file=sys.stderr)
    async for event in chat.send(question, pictures):
        match event:
            case AnswerText() if echo:
                print("".join(run.text for run in event.runs), end="", flush=True)
            case AnswerFinished():
                answer = event
            case _:
                pass
    if echo and answer is not None:
        print(f"\n\n{_figures(answer)} · {pair.device_name}", file=sys.stderr)
    return ChatResult(answer, pair, pictures)


def _picture_words(picture: Picture) -> str:
    """What the model sees: "photo.jpg: 1280x960, of 4032x3024. ..."."""
    shown = f"{picture.title}: {picture.width}x{picture.height}"
    is_smaller = (picture.width, picture.height) != (
        picture.original_width,
        picture.original_height,
    )
    size = f", of {picture.original_width}x{picture.original_height}" if is_smaller else ""
    return " ".join((f"{shown}{size}.", *picture.notes))


def _figures(answer: AnswerFinished) -> str:
    """One line: "48.2 tok/s · 2.40x · 2.66 tokens per step · first word 0.21 s · 312 tokens"."""
    message = answer.message
    stats, draft = message.stats, message.draft
    if stats is None or draft is None:
        return answer.notice
    parts = [format_rate(stats.tokens_per_second)]
    if answer.speed.speedup is not None:
        parts.append(f"{format_speedup(answer.speed.speedup)} {answer.speed.comparison}")
    if stats.assistant_tokens and stats.tokens_per_step is not None:
        parts.append(f"{significant(stats.tokens_per_step)} tokens per step")
    parts.append(f"first word {format_seconds(stats.first_token_seconds)}")
    if stats.picture_tokens:
        seconds = format_seconds(stats.picture_seconds)
        parts.append(f"pictures {stats.picture_tokens} tokens in {seconds}")
    parts.append(f"{stats.tokens} tokens")
    parts.append(f"draft {draft.state}")
    lines = [" · ".join(parts), draft.reason, message.notice, answer.notice]
    return "\n".join(filter(None, lines))


_NOTHING_ASKED = Problem(
    code="nothing_asked",
    headline="Nothing was asked.",
    advice='Give a question: --prompt "TEXT", or pipe it into standard input.',
)
