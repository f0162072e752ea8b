"""Let the target write the questions and answers on which its draft is trained.

    python write_answers.py --target FOLDER --out answers.pt --seconds 600

FOLDER holds SmolLM2-135M-Instruct; with `--gguf FILE` its weights come out of a GGUF file in that
folder, as in the starter pair. Wants a CUDA device; on a CPU it is only good for a try.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from target import Answer, add_target_arguments, chosen_device, load_target, load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

END_OF_TEXT_ID = 0
END_OF_TURN_ID = 2
FIRST_ORDINARY_ID = 17  # below are control tokens, which no question of a person contains
SYSTEM_TURN = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n<|im_start|>user\n"
)
ANSWER_TURN = "<|im_end|>\n<|im_start|>assistant\n"
QUESTION_STARTS = (
    # An empty start lets the target make up the whole question; the rest steer it to variety.
    *("", "", "", "Write a Python function", "Explain", "What is", "How do I", "Write a short"),
    *("Tell me", "List", "Why", "Summarize", "Count from", "Give me", "Translate"),
    *("Describe the image", "Compare", "Create a", "Can you", "Hello", "Write a story about"),
    *("Fix this", "Solve", "Write an email"),
)
MIN_ANSWER_TOKENS = 12
QUESTION_CHARACTERS = range(3, 401)


@dataclass(frozen=True)
class AnswerConfig:
    """How the training answers are written."""

    seconds: float = 600.0
    batch_size: int = 2048
    question_tokens: int = 48
    answer_tokens: int = 256
    greedy_share: float = 0.85
    seed: int = 0


def cut_after(tokens: Tensor, is_end: Tensor, keep_end: bool) -> Tensor:
    """`tokens` up to the first place where `is_end` holds."""
    ends = is_end.nonzero()
    return tokens[: int(ends[0, 0]) + int(keep_end)] if len(ends) else tokens


class AnswerWriter:
    """Lets the target write questions and then answer them."""

    def __init__(self, *, target: Any, tokenizer: Any, config: AnswerConfig) -> None:  # noqa: ANN401
        self._target = target
        self._tokenizer = tokenizer
        self._config = config
        self._random = random.Random(config.seed)  # noqa: S311 - not for secrets

    def write(self) -> list[Answer]:
        """Answers, until the time is up."""
        answers: list[Answer] = []
        began = time.monotonic()
        while time.monotonic() - began < self._config.seconds:
            prompts = sorted(self._prompts(), key=len)  # like lengths together: less padding
            step = max(1, self._config.batch_size // 2)
            for start in range(0, len(prompts), step):
                answers += self._answers(prompts[start : start + step])
            print(f"{len(answers)} answers after {time.monotonic() - began:.0f} s", flush=True)
        return answers

    def _prompts(self) -> Iterator[str]:
        starts = [self._random.choice(QUESTION_STARTS) for _ in range(self._config.batch_size)]
        _, continuations = self._generate(
            [SYSTEM_TURN + start for start in starts],
            max_new_tokens=self._config.question_tokens,
            do_sample=True,
            temperature=1.0,
            top_p=0.95,
            top_k=0,
        )
        for start, continuation in zip(starts, continuations, strict=True):
            tokens = cut_after(continuation, continuation < FIRST_ORDINARY_ID, keep_end=False)
            written = self._tokenizer.decode(tokens, skip_special_tokens=True)
            question = f"{start}{written}".strip()
            if len(question) in QUESTION_CHARACTERS:
                yield SYSTEM_TURN + question + ANSWER_TURN

    def _answers(self, prompts: Sequence[str]) -> Iterator[Answer]:
        is_greedy = self._random.random() < self._config.greedy_share
        sampling = {"do_sample": True, "temperature": 0.7, "top_p": 0.9, "top_k": 0}
        prompt_ids, continuations = self._generate(
            prompts,
            max_new_tokens=self._config.answer_tokens,
            **({"do_sample": False} if is_greedy else sampling),
        )
        for prompt, continuation in zip(prompt_ids, continuations, strict=True):
            answer = cut_after(continuation, continuation == END_OF_TURN_ID, keep_end=True)
            if len(answer) >= MIN_ANSWER_TOKENS:
                yield torch.cat([prompt, answer]).to(torch.int32), len(prompt)

    @torch.no_grad()
    def _generate(self, texts: Sequence[str], **options: object) -> tuple[list[Tensor], Tensor]:
        """The token ids of `texts` without padding, and what the target adds to each."""
        # The texts bring their own special tokens; a tokenizer out of a GGUF file would add one.
        inputs = self._tokenizer(
            list(texts), return_tensors="pt", padding=True, add_special_tokens=False
        )
        inputs = inputs.to(self._target.device)
        output = self._target.generate(
            **inputs, pad_token_id=END_OF_TEXT_ID, eos_token_id=END_OF_TURN_ID, **options
        )
        rows = zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
        prompts = [ids[mask.bool()].cpu() for ids, mask in rows]
        return prompts, output[:, inputs["input_ids"].shape[1] :].cpu()


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_target_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--seconds", type=float, default=AnswerConfig.seconds, help="time to use")
    parser.add_argument(
        "--batch-size", type=int, default=AnswerConfig.batch_size, help="questions at a time"
    )
    parser.add_argument("--seed", type=int, default=AnswerConfig.seed, help="chooses questions")
    return parser.parse_args(arguments)


def main() -> None:
    """Write answers until the time is up."""
    options = parse_arguments()
    config = AnswerConfig(
        seconds=options.seconds, batch_size=options.batch_size, seed=options.seed
    )
    torch.manual_seed(config.seed)
    target = load_target(options.target, options.gguf, chosen_device())
    tokenizer = load_tokenizer(options.target, options.gguf)
    answers = AnswerWriter(target=target, tokenizer=tokenizer, config=config).write()
    torch.save(answers, options.out)


if __name__ == "__main__":
    main()
