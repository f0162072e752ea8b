"""A small starter pair for tests: a tiny pinned file, and an engine that is made up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.generation import FinishReason, GenerationStats, KvCachePrecision
from dflash_desktop.domain.pair import LoadedPair, PairFingerprint, PairFolders
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.starter import StarterPin, WheelSource
from dflash_desktop.paths import AppPaths
from dflash_desktop.services.starter import Starter
from dflash_desktop.services.starter_store import StarterResources
from dflash_desktop.services.worker_launch import WorkerCommand, WorkerLauncher
from dflash_desktop.workers.protocol import Finished
from tests.fakes.package_index import CONTENT, MEMBER, PACKAGE, SHA256, VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.generation import PromptMessage, SamplingParams
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.starter import InstallProgress

HIDDEN_SIZE, LAYER_COUNT = 8, 3
PIN = StarterPin(
    title="Tiny",
    file_name="Tiny Model.gguf",
    size_bytes=len(CONTENT),
    sha256=SHA256,
    licence="Apache-2.0",
    source_url="https://example.com/tiny",
    wheel=WheelSource(PACKAGE, VERSION, MEMBER),
    context_tokens=512,
    hidden_size=HIDDEN_SIZE,
    layer_count=LAYER_COUNT,
    vocab_size=100,
    min_free_bytes=1_000_000,
)


def converted_xml(layer_count: int = LAYER_COUNT) -> str:
    """The graph that GenAI makes, as far as anybody here looks at it."""
    ports = (
        f"<output><port id='0'><dim>-1</dim><dim>-1</dim><dim>{HIDDEN_SIZE}</dim></port></output>"
    )
    layers = "".join(
        f"<layer id='{i}' name='model.layers.self_attn.add1.layer{i}' type='Add'>{ports}</layer>\n"
        for i in range(layer_count)
    )
    return f"<?xml version='1.0'?>\n<net name='m'>\n<layers>{layers}</layers>\n<rt_info/></net>\n"


class FakeEngine:
    """Converts and answers as told; `calls` are the names of what was asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.steps_for_100_tokens = 40
        self.layer_count = LAYER_COUNT
        self.problem: Exception | None = None
        self.may_convert = asyncio.Event()
        self.may_convert.set()
        self.is_converting = asyncio.Event()

    async def convert_gguf(self, gguf_path: Path, output_dir: Path) -> None:
        """Write files as GenAI does, the first before it may be held up."""
        self.calls.append("convert")
        self._begin_conversion(gguf_path, output_dir)
        self.is_converting.set()
        await self.may_convert.wait()
        if self.problem:
            raise self.problem
        for name in ("openvino_model.bin", "openvino_tokenizer.xml", "openvino_detokenizer.xml"):
            (output_dir / name).write_text(f"{name} from Tiny")

    def _begin_conversion(self, gguf_path: Path, output_dir: Path) -> None:
        assert gguf_path.read_bytes() == CONTENT
        output_dir.mkdir(parents=True)
        (output_dir / "openvino_model.xml").write_text(converted_xml(self.layer_count))

    async def load(self, folders: PairFolders, *, device: str) -> LoadedPair:
        """Accept every pair."""
        self.calls.append("load")
        return LoadedPair(
            title=folders.title,
            target_dir=folders.target_dir,
            draft_dir=folders.draft_dir,
            draft=None,
            device=device,
            device_name="made up",
            driver="",
            runtime="made up 1.0",
            kv_cache_precision=KvCachePrecision.F32,
            context_tokens=512,
            keeps_both=False,
            fingerprint=PairFingerprint("t", "d"),
            load_seconds=0.1,
        )

    async def generate(
        self,
        messages: tuple[PromptMessage, ...],
        params: SamplingParams,
        *,
        assistant_tokens: int,
    ) -> AsyncIterator[Finished]:
        """Answer with 100 tokens in as many steps as told."""
        self.calls.append("generate")
        assert params.is_greedy
        stats = GenerationStats(
            prompt_tokens=10,
            tokens=100,
            steps=self.steps_for_100_tokens,
            first_step_tokens=1,
            first_token_seconds=0.1,
            decode_seconds=1.0,
            assistant_tokens=assistant_tokens,
        )
        yield Finished(1, FinishReason.LENGTH, stats, ())

    async def unload(self) -> None:
        """Let go."""
        self.calls.append("unload")


class OfflineLauncher(WorkerLauncher):
    """Nothing may be fetched."""

    def fetch(self) -> WorkerCommand:
        """Fail the test."""
        raise AssertionError("a download was started")


class StarterWorld:
    """One installation below `root`, with a folder beside the program."""

    def __init__(self, root: Path, *, launcher: WorkerLauncher | None = None) -> None:
        self.paths = AppPaths(
            root / "config", root / "Daten ü 模型", root / "cache", root / "logs"
        )
        self.beside_dir = root / "neben dem Programm"
        self.draft_dir = root / "draft"
        for folder in (self.beside_dir, self.draft_dir):
            folder.mkdir(parents=True)
        for name in ("openvino_model.xml", "openvino_model.bin", "config.json"):
            (self.draft_dir / name).write_text("draft")
        self.launcher = launcher or OfflineLauncher(log_dir=self.paths.log_dir)
        self.engine = FakeEngine()
        self.starter = self.other_starter()

    @property
    def target_dir(self) -> Path:
        """Where the target goes."""
        return self.paths.models_dir / "starter"

    @property
    def incoming_dir(self) -> Path:
        """Where everything unfinished is."""
        return self.paths.incoming_dir / "starter"

    def other_starter(self, *, min_free_bytes: int = PIN.min_free_bytes) -> Starter:
        """As another process, or a later start of the program, sees the same folders."""
        pin = replace(PIN, min_free_bytes=min_free_bytes)
        resources = StarterResources(pin, self.draft_dir, (self.beside_dir,))
        return Starter(
            paths=self.paths, launcher=self.launcher, engine=self.engine, resources=resources
        )


def write(path: Path, content: bytes = CONTENT) -> Path:
    """A file with this content, or the right one."""
    path.write_bytes(content)
    return path


def left_in(folder: Path) -> list[str]:
    """The names in a folder; none if it is not there."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def installed(starter: Starter, file: Path | None = None) -> list[InstallProgress]:
    """Install and return every report."""
    return [step async for step in starter.install(file=file)]


async def problem_of(starter: Starter, file: Path | None = None) -> Problem:
    """Try to install, and return the problem that must come."""
    with pytest.raises(AppError) as caught:
        await installed(starter, file)
    return caught.value.problem
