"""What a draft's checkpoint is worth in each weight format, against the draft that a pair has.

Run: python -m tests.perf.draft_weight_formats CHECKPOINT [--target DIR --draft DIR] [--json]

Each is exported as the program does it. Errors are those of its hidden states against the fp16
export's, for one made-up block; tokens per step are those of the pair's target with it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.export_environment_fixture import DEFAULT_ID, cached_environments
from tests.exporting.draft_outputs import difference, draft_output
from tests.exporting.draft_quality import ASSISTANT_TOKENS, FORMATS, exported, tokens_per_step
from tests.perf.pair_option import add_pair_arguments, chosen_pair
from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders

_BAR: Final = 0.03
_BARRED: Final = "int8"


async def measure(pair: PairFolders, work: Path, args: argparse.Namespace) -> list[Measured]:
    if pair.draft_dir is None:
        raise SystemExit("the pair has no draft to compare with: --draft")
    environments = cached_environments()
    await environments.install(DEFAULT_ID)
    python = environments.python(DEFAULT_ID)
    folders = {
        form: await exported(python, args.checkpoint, work / form, form) for form in FORMATS
    }
    outputs = {form: draft_output(folder) for form, folder in folders.items()}

    async def steps_of(draft: Path) -> float:
        return await tokens_per_step(
            pair, draft, work, device=args.device, fast=False, answer_tokens=args.answer_tokens
        )

    own = await steps_of(pair.draft_dir)
    rows = [Measured("the pair's own draft: tokens per step", own, "")]
    for form, folder in folders.items():
        error, cosine = difference(outputs[form], outputs["fp16"])
        there = await steps_of(folder)
        size = (folder / "openvino_model.bin").stat().st_size / 1e6
        rows += [
            Measured(f"{form}: weights", size, "MB"),
            Measured(f"{form}: relative error", 100 * error, "%"),
            Measured(f"{form}: cosine", cosine, ""),
            Measured(f"{form}: tokens per step", there, ""),
            Measured(
                f"{form}: off the pair's own",
                abs(there / own - 1),
                "",
                bar=_BAR if form == _BARRED else None,
                note=f"{there / own - 1:+.2%}",
            ),
        ]
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path, help="folder of the draft's checkpoint")
    add_pair_arguments(parser)
    parser.add_argument("--answer-tokens", type=int, default=128, help="of each answer")
    args = parser.parse_args()
    pair = chosen_pair(args)
    with tempfile.TemporaryDirectory(prefix="draft-formats-") as work:
        rows = asyncio.run(measure(pair, Path(work), args))
    title = f"Weight formats of a draft, {ASSISTANT_TOKENS} assistant tokens"
    return show(title, rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
