"""Train the starter pair's DFlash draft on answers that its target wrote itself.

    python train_draft.py --target FOLDER --answers answers.pt --out draft/model.safetensors

PROVENANCE.md has the settings and the numbers of the draft that is shipped, and the command that
exports a checkpoint. Wants a CUDA device; on a CPU it is only good for a try.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - everybody's name for it
from draft_model import Draft, DraftConfig, load_draft, save_draft
from target import Answer, add_target_arguments, chosen_device, load_target
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Sequence

HELD_OUT_ANSWERS = 512
MAX_SEQUENCE_TOKENS = 400


@dataclass(frozen=True)
class TrainConfig:
    """How the draft is trained; the learning rate follows a cosine over `schedule_seconds`."""

    seconds: float = 1020.0
    schedule_seconds: float = 1020.0
    seconds_before: float = 0.0
    max_steps: int | None = None
    peak_learning_rate: float = 8e-4
    warm_up_steps: int = 200
    final_share: float = 0.02
    batch_size: int = 64
    blocks_per_sequence: int = 24
    position_decay: float = 4.0  # later tokens of a block count less: exp(-position / decay)
    seed: int = 0
    log_every: int = 100


@dataclass(frozen=True)
class Batch:
    """Padded conversations, and in each the places where blocks begin."""

    ids: Tensor  # (batch, tokens)
    starts: Tensor  # (batch, blocks): position of each block's first, known token
    lengths: Tensor  # (batch,)


@dataclass(frozen=True)
class BlockTargets:
    """What the draft is asked for: every token of a block but the first, which it is given."""

    hidden: Tensor  # (batch, blocks, block_size - 1, hidden_size)
    labels: Tensor  # (batch, blocks, block_size - 1)
    is_valid: Tensor  # False beyond the conversation's end


@dataclass(frozen=True)
class Acceptance:
    """How much of what the draft proposes its target would accept."""

    mean_tokens: float
    by_position: tuple[float, ...]

    def __str__(self) -> str:
        shares = ", ".join(f"{share:.0%}" for share in self.by_position)
        return f"{self.mean_tokens:.2f} tokens accepted, right by position: {shares}"


def draw_batch(
    answers: Sequence[Answer], size: int, blocks: int, generator: torch.Generator
) -> Batch:
    """Random conversations, with blocks that begin anywhere in the answers."""
    chosen = torch.randint(len(answers), (size,), generator=generator).tolist()
    rows = [answers[index] for index in chosen]
    width = min(MAX_SEQUENCE_TOKENS, max(len(tokens) for tokens, _ in rows))
    ids = torch.zeros(size, width, dtype=torch.long)
    starts = torch.zeros(size, blocks, dtype=torch.long)
    lengths = torch.zeros(size, dtype=torch.long)
    for row, (whole, prompt_length) in enumerate(rows):
        tokens = whole[:width].long()
        ids[row, : len(tokens)] = tokens
        lengths[row] = len(tokens)
        first = min(prompt_length, len(tokens) - 2)
        last = max(len(tokens) - 1, first + 1)
        starts[row] = torch.randint(first, last, (blocks,), generator=generator)
    return Batch(ids, starts, lengths)


def run_blocks(target: Any, draft: Draft, batch: Batch) -> BlockTargets:  # noqa: ANN401
    """Let the draft fill all blocks of a batch at once, each blind to the others."""
    config, size = draft.config, draft.config.block_size
    device = batch.ids.device
    rows, width = batch.ids.shape
    blocks = batch.starts.shape[1]
    with torch.no_grad():
        positions = batch.starts[:, :, None] + torch.arange(size, device=device)
        clamped = positions.clamp(max=width - 1).view(rows, -1)
        tokens = batch.ids.gather(1, clamped).view(rows, blocks, size)
        inputs = torch.full_like(tokens, config.mask_token_id)
        inputs[:, :, 0] = tokens[:, :, 0]
        embeddings = target.get_input_embeddings()(inputs.view(rows, -1))
        hidden = target_states(target, batch, config.target_layer_ids)
        at_block = positions.view(rows, -1)
        at_context = torch.arange(width, device=device)[None].expand(rows, -1)
        at_all = torch.cat([at_context, at_block], 1)
        mask = block_mask(batch, size)
    filled = draft(embeddings, hidden, at_block, at_all, mask).view(rows, blocks, size, -1)
    is_valid = positions < batch.lengths[:, None, None]
    return BlockTargets(filled[:, :, 1:], tokens[:, :, 1:], is_valid[:, :, 1:])


def target_states(target: Any, batch: Batch, layer_ids: Sequence[int]) -> Tensor:  # noqa: ANN401
    """The hidden states that leave the chosen layers, side by side."""
    everywhere = torch.arange(batch.ids.shape[1], device=batch.ids.device)[None]
    states = target.model(
        input_ids=batch.ids,
        attention_mask=(everywhere < batch.lengths[:, None]).long(),
        output_hidden_states=True,
        use_cache=False,
    ).hidden_states
    # The first entry is the embeddings, so layer i leaves its state at i + 1.
    return torch.cat([states[layer + 1] for layer in layer_ids], -1)


def block_mask(batch: Batch, block_size: int) -> Tensor:
    """Which sources each block token sees: the context before its block, and its own block."""
    rows, width = batch.ids.shape
    blocks = batch.starts.shape[1]
    everywhere = torch.arange(width, device=batch.ids.device)
    before = everywhere[None, None] < batch.starts[:, :, None]
    before = before.repeat_interleave(block_size, 1)
    block_of = torch.arange(blocks * block_size, device=batch.ids.device) // block_size
    same = (block_of[:, None] == block_of[None]).expand(rows, -1, -1)
    return torch.cat([before, same], -1)[:, None]


class Trainer:
    """Trains a draft against a frozen target."""

    def __init__(self, *, target: Any, draft: Draft, config: TrainConfig) -> None:  # noqa: ANN401
        self._target = target
        self._draft = draft
        self._config = config
        self._device = next(draft.parameters()).device
        self._optimizer = torch.optim.AdamW(
            draft.parameters(), lr=config.peak_learning_rate, betas=(0.9, 0.95), weight_decay=0.01
        )
        positions = torch.arange(draft.config.block_size - 1, device=self._device)
        self._weights = torch.exp(-positions.float() / config.position_decay)

    def run(self, answers: Sequence[Answer], held_out: Sequence[Answer]) -> Acceptance:
        """Train until the time or the steps are used up; returns the final acceptance."""
        generator = torch.Generator().manual_seed(self._config.seed)
        most_steps = math.inf if self._config.max_steps is None else self._config.max_steps
        began = time.monotonic()
        for step in itertools.count(1):
            elapsed = time.monotonic() - began
            if elapsed > self._config.seconds or step > most_steps:
                break
            rate = self._learning_rate(step, elapsed)
            loss = self._train_step(answers, generator, rate)
            if step % self._config.log_every == 0:
                print(
                    f"step {step}, {elapsed:.0f} s, loss {loss:.3f}, rate {rate:.2e}", flush=True
                )
            if step % (5 * self._config.log_every) == 0:
                print(f"  {self.evaluate(held_out, batches=2)}", flush=True)
        return self.evaluate(held_out, batches=8)

    @torch.no_grad()
    def evaluate(self, held_out: Sequence[Answer], batches: int) -> Acceptance:
        """Acceptance on blocks of held-out answers, the same ones in every call."""
        generator = torch.Generator().manual_seed(1)
        accepted = blocks = 0
        right = torch.zeros_like(self._weights)
        asked = torch.zeros_like(self._weights)
        self._draft.eval()
        for _ in range(batches):
            batch = self._draw(held_out, generator, size=64, blocks=16)
            with torch.autocast(self._device.type, torch.bfloat16):
                found = run_blocks(self._target, self._draft, batch)
            head = self._target.lm_head
            proposed = head(found.hidden.to(head.weight.dtype)).argmax(-1)
            is_right = (proposed == found.labels) & found.is_valid
            is_whole = found.is_valid.all(-1)
            accepted += int(is_right.long().cumprod(-1).sum(-1)[is_whole].sum())
            blocks += int(is_whole.sum())
            right += is_right.sum((0, 1))
            asked += found.is_valid.sum((0, 1))
        self._draft.train()
        return Acceptance(accepted / max(blocks, 1), tuple((right / asked.clamp(min=1)).tolist()))

    def _draw(
        self, answers: Sequence[Answer], generator: torch.Generator, *, size: int, blocks: int
    ) -> Batch:
        batch = draw_batch(answers, size, blocks, generator)
        tensors = (batch.ids, batch.starts, batch.lengths)
        return Batch(*(tensor.to(self._device) for tensor in tensors))

    def _train_step(
        self, answers: Sequence[Answer], generator: torch.Generator, rate: float
    ) -> float:
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        batch = self._draw(
            answers,
            generator,
            size=self._config.batch_size,
            blocks=self._config.blocks_per_sequence,
        )
        with torch.autocast(self._device.type, torch.bfloat16):
            found = run_blocks(self._target, self._draft, batch)
            logits = F.linear(found.hidden, self._target.lm_head.weight).float()
        losses = F.cross_entropy(logits.flatten(0, -2), found.labels.flatten(), reduction="none")
        weights = found.is_valid.float() * self._weights
        loss = (losses.view(found.labels.shape) * weights).sum() / weights.sum()
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self._draft.parameters(), 1.0)
        self._optimizer.step()
        return loss.item()

    def _learning_rate(self, step: int, elapsed_seconds: float) -> float:
        config = self._config
        done = min(1.0, (config.seconds_before + elapsed_seconds) / config.schedule_seconds)
        cosine = 0.5 * (1 + math.cos(math.pi * done))
        warm_up = min(1.0, step / config.warm_up_steps)
        share = cosine * (1 - config.final_share) + config.final_share
        return config.peak_learning_rate * warm_up * share


def read_answers(files: Sequence[Path]) -> tuple[list[Answer], list[Answer]]:
    """Training and held-out answers; those held out come from the first file alone.

    So a draft that is trained on with more answers is still judged on ones it never saw.
    """
    first = torch.load(files[0])
    order = torch.randperm(len(first), generator=torch.Generator().manual_seed(0)).tolist()
    shuffled = [first[index] for index in order]
    held_out, training = shuffled[:HELD_OUT_ANSWERS], shuffled[HELD_OUT_ANSWERS:]
    for file in files[1:]:
        training += torch.load(file)
    if not training:
        raise SystemExit(f"More than {HELD_OUT_ANSWERS} answers are needed; got {len(first)}.")
    return training, held_out


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_target_arguments(parser)
    parser.add_argument(
        "--answers",
        type=Path,
        nargs="+",
        required=True,
        help="files of write_answers.py; some of the first are held out to judge the draft",
    )
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--init", type=Path, help="checkpoint to start from")
    parser.add_argument("--seconds", type=float, default=TrainConfig.seconds, help="time to use")
    parser.add_argument(
        "--schedule-seconds", type=float, help="length of the cosine (as long as --seconds)"
    )
    parser.add_argument(
        "--seconds-before",
        type=float,
        default=TrainConfig.seconds_before,
        help="where on the cosine to begin",
    )
    parser.add_argument(
        "--max-steps", type=int, help="stop after so many steps; 0 only evaluates --init"
    )
    parser.add_argument(
        "--learning-rate", type=float, default=TrainConfig.peak_learning_rate, help="at its peak"
    )
    parser.add_argument(
        "--batch-size", type=int, default=TrainConfig.batch_size, help="answers in each step"
    )
    parser.add_argument("--seed", type=int, default=TrainConfig.seed, help="chooses the batches")
    return parser.parse_args(arguments)


def main() -> None:
    """Train a draft and write its checkpoint."""
    options = parse_arguments()
    config = TrainConfig(
        seconds=options.seconds,
        schedule_seconds=options.schedule_seconds or options.seconds,
        seconds_before=options.seconds_before,
        max_steps=options.max_steps,
        peak_learning_rate=options.learning_rate,
        batch_size=options.batch_size,
        seed=options.seed,
    )
    torch.manual_seed(config.seed)
    training, held_out = read_answers(options.answers)
    device = chosen_device()
    target = load_target(options.target, options.gguf, device)
    draft = load_draft(options.init, DraftConfig()) if options.init else Draft(DraftConfig())
    trainer = Trainer(target=target, draft=draft.to(device), config=config)
    print(f"{len(training)} answers to train on, {len(held_out)} held out", flush=True)
    print(trainer.run(training, held_out), flush=True)
    save_draft(draft, options.out)


if __name__ == "__main__":
    main()
