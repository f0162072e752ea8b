"""What exports of many sizes really take, against what the plan says.

They run in the export environments of the tests, each in that which the program would choose.

Each checkpoint is made here, of random numbers: memory depends on their count and not on them. The
figure is PSS summed over the process tree, sampled; the sum of RSS counts shared pages once a
process. The largest process's own peak stands beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from dflash_desktop.domain.export_environment import choose_environment
from dflash_desktop.domain.export_recipes import Recipe, convert_command
from dflash_desktop.domain.export_request import WeightFormat
from tests.export_environment_fixture import cached_environments
from tests.exporting.measured_export import MeasuredExport

_PROGRAM: Final = Path(__file__).resolve().parents[2] / "dflash_desktop/workers/export_program.py"
_SCRIPTS: Final = Path(__file__).resolve().parents[1] / "exporting"
_LICENCE: Final = Path(__file__).resolve().parents[2] / "LICENSE"
_PAUSE_SECONDS: Final = 0.2
_RECIPES: Final = {
    "draft": Recipe.DRAFT,
    "vision": Recipe.VISION_TARGET,
    "qwen3_5": Recipe.VISION_TARGET,
}
_MODEL_TYPES: Final = {"vision": "gemma4", "qwen3_5": "qwen3_5", "qwen3_moe": "qwen3_moe"}


@dataclass(frozen=True, slots=True)
class Case:
    """One checkpoint; `shape` is what `make_checkpoint` or `write_target_parts` takes.

    `is_calibration`: the formula was made, or changed, after its figures were seen.
    """

    shape: str
    formats: tuple[str, ...]
    is_calibration: bool = True

    @property
    def kind(self) -> str:
        """The first word of the shape."""
        return self.shape.split(":")[0]


CASES: Final = (
    Case("draft:576:1536:4:0:bfloat16:1", ("int8", "int4")),
    Case("text:512:1536:8:32000:bfloat16:1", ("fp16", "int8")),
    Case("text:768:2048:8:32000:bfloat16:1", ("int8", "int4")),
    Case("draft:2048:6144:5:0:bfloat16:1", ("fp16", "int8", "int4")),
    Case("text:1024:4096:16:64000:bfloat16:1", ("fp16", "int8", "int4")),
    Case("text:1024:4096:16:64000:float32:1", ("fp16", "int8")),
    Case("text:1280:4096:20:64000:bfloat16:2", ("int8", "int4")),
    Case("vision:1024:12", ("int8",)),
    Case("text:1536:6144:20:96000:bfloat16:2", ("fp16", "int8", "int4")),
    Case("draft:4096:12288:6:0:bfloat16:2", ("int8", "int4")),
    Case("text:2048:8192:18:96000:bfloat16:4", ("int4",)),
    Case("draft:1024:3584:4:0:bfloat16:1", ("int8",), is_calibration=False),
    Case("text:768:3072:13:80000:bfloat16:1", ("int8",), is_calibration=False),
    Case("text:1536:6144:16:80000:bfloat16:2", ("int4",), is_calibration=False),
    Case("qwen3_5:512:8:32000", ("int8",)),
    Case("qwen3_5:1024:12:64000", ("int8",)),
    Case("qwen3_moe:512:16:32000", ("int4",)),
    Case("qwen3_moe:1024:14:32000", ("int4",)),
    Case("qwen3_moe:768:12:40000", ("int8",), is_calibration=False),
    Case("qwen3_moe:512:8:32000", ("fp16",), is_calibration=False),
    Case("qwen3_5:768:10:48000", ("int4",), is_calibration=False),
    Case("text:960:3584:12:48000:bfloat16:1", ("int8",), is_calibration=False),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=None, help="where the checkpoints go")
    parser.add_argument("--only", default="", help="part of a shape")
    parser.add_argument("--log", type=Path, default=None, help="where lines of JSON are added")
    args = parser.parse_args()
    work = args.work or Path(tempfile.mkdtemp(prefix="export-memory-"))
    for case in CASES:
        if args.only in case.shape:
            folder = work / "checkpoint"
            shutil.rmtree(folder, ignore_errors=True)
            python = _python(case)
            made = json.loads(subprocess.check_output([python, *_maker(case, folder)]))
            for weight_format in case.formats:
                peak = _measured(case, weight_format, made, python, folder, work)
                line = json.dumps({name: getattr(peak, name) for name in MeasuredExport.__slots__})
                print(line, flush=True)
                if args.log is not None:
                    with args.log.open("a", encoding="utf-8") as log:
                        log.write(line + "\n")
            shutil.rmtree(folder)
    return 0


def _python(case: Case) -> Path:
    environment = choose_environment(_MODEL_TYPES.get(case.kind, "qwen3")).id
    environments = cached_environments()
    asyncio.run(environments.install(environment))
    return environments.python(environment)


def _maker(case: Case, folder: Path) -> list[str | Path]:
    if case.kind in _MODEL_TYPES:
        return [
            _SCRIPTS / "write_target_parts.py",
            case.kind,
            _LICENCE,
            folder,
            *case.shape.split(":")[1:],
        ]
    return [_SCRIPTS / "make_checkpoint.py", case.shape, folder]


def _measured(
    case: Case, weight_format: str, made: dict[str, int], python: Path, folder: Path, work: Path
) -> MeasuredExport:
    output, temporary = work / "output", work / "temporary"
    for place in (output, temporary):
        shutil.rmtree(place, ignore_errors=True)
    recipe = _RECIPES.get(case.kind, Recipe.TEXT_TARGET)
    exporter = convert_command(
        recipe,
        model=str(folder),
        output=str(output),
        weight_format=WeightFormat(weight_format),
        group_size=64,
        all_layers=recipe.is_draft,
    )
    command = [python, "-P", "-X", "utf8", _PROGRAM, "--temporary", temporary, "run", *exporter]
    started = time.monotonic()
    with (work / "export.log").open("wb") as log:
        process = subprocess.Popen([*map(str, command)], stdout=log, stderr=log)
        tree, largest, temporary_bytes = _watched(process, temporary)
    if process.returncode:
        sys.exit((work / "export.log").read_text("utf-8", "replace")[-3000:])
    return MeasuredExport(
        shape=case.shape,
        weight_format=weight_format,
        parameters=made["parameters"],
        checkpoint_bytes=made["bytes"],
        largest_tensor_values=made["largest"],
        is_calibration=case.is_calibration,
        tree_bytes=tree,
        process_bytes=largest,
        output_bytes=_size(output),
        temporary_bytes=temporary_bytes,
        seconds=round(time.monotonic() - started, 1),
    )


def _watched(process: subprocess.Popen[bytes], temporary: Path) -> tuple[int, int, int]:
    """The peaks of the tree's PSS, of one process's RSS, and of what lies between on disk."""
    tree = largest = kept = 0
    root = psutil.Process(process.pid)
    while process.poll() is None:
        together = 0
        for one in (root, *_children(root)):
            try:
                memory = one.memory_full_info()
            except (psutil.Error, OSError):
                continue
            together += memory.pss
            largest = max(largest, memory.rss, _own_peak(one.pid))
        tree, kept = max(tree, together), max(kept, _size(temporary))
        time.sleep(_PAUSE_SECONDS)
    return tree, largest, kept


def _own_peak(pid: int) -> int:
    """The most that a process ever had, which no sample can miss; 0 where nobody tells."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    except OSError:
        return 0
    match = re.search(r"VmHWM:\s+([0-9]+) kB", status)
    return int(match[1]) << 10 if match else 0


def _children(root: psutil.Process) -> list[psutil.Process]:
    try:
        return root.children(recursive=True)
    except psutil.Error:
        return []


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


if __name__ == "__main__":
    sys.exit(main())
