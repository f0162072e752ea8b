"""Hands thousands of damaged files to everything that reads strangers' files, in one child.

`python -m tests.perf.fuzz_readers [--count 10000] [--seed 1] [--json]`. A case is told by its seed
and number: `--only N` repeats it alone. Ends with 1 when a file made a reader crash, take longer
than two seconds, or take more than 300 MB.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_header import read_gguf_header
from dflash_desktop.domain.gguf_model import gguf_model
from dflash_desktop.domain.ir_reader import CHUNK_BYTES, IrError, read_ir_graph
from dflash_desktop.domain.layer_outputs import find_layer_outputs
from dflash_desktop.domain.locators import LocatorError, annotation_value
from dflash_desktop.domain.ovms_log import read_ovms_log
from dflash_desktop.domain.pair_contract import check_contract
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.rt_info_edit import RtInfoEditError, edit_rt_info
from dflash_desktop.services.diagnostics import PrivateFacts
from dflash_desktop.services.model_description import describe_model
from dflash_desktop.services.model_inspection import inspect_model
from dflash_desktop.services.model_manifest import (
    MANIFEST_NAME,
    ModelRecord,
    encode_record,
    read_record,
)
from dflash_desktop.services.record_file import encode_record as encode_pair_record
from dflash_desktop.services.record_file import read_record as read_pair_record
from tests.domain.records import record
from tests.fakes.library_world import arrive
from tests.fakes.mutations import configurations, gguf_heads, graphs, mutated
from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

LIMIT_SECONDS = 2.0
LIMIT_BYTES = 300 << 20
HANG_SECONDS = 60.0


class Readers:
    """Everything that reads, and good files for each to begin with."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._graphs = graphs(folder)
        self._configurations = configurations(folder)
        self._heads = gguf_heads()
        manifest = arrive(folder / "arrived").manifest()
        self._records = [encode_record(ModelRecord("a/b", "B", manifest))]
        private = PrivateFacts(Path("/nowhere"), "nobody", "nowhere")
        self._pair_records = [encode_pair_record(record(), private)]
        self.kinds: Mapping[str, tuple[list[bytes], Callable[[bytes], object]]] = {
            "graph": (self._graphs, self._read_graph),
            "graph in a folder": (self._graphs, self._read_folder),
            "config": (self._configurations, self._read_config),
            "gguf": (self._heads, self._read_gguf),
            "gguf again": (self._heads, self._read_gguf),
            "manifest": (self._records, self._read_manifest),
            "record": (self._pair_records, self._read_pair_record),
            "log": ([b"Draft model strategy: DFlash\nstate: AVAILABLE\n"], _read_log),
        }

    def try_one(self, seed: int, number: int) -> tuple[str, float]:
        """One damaged file: its kind, and the seconds it took. Raises what no reader may raise."""
        bits = random.Random(f"{seed}-{number}")
        kind = list(self.kinds)[number % len(self.kinds)]
        bases, read = self.kinds[kind]
        data = mutated(bits.choice(bases), bits)
        started = time.process_time()
        with suppress(IrError, GgufError, AppError):
            read(data)
        return kind, time.process_time() - started

    def _read_graph(self, data: bytes) -> None:
        graph = read_ir_graph(_pieces(data))
        graph.inputs(), graph.outputs(), graph.is_stateful(), graph.runtime_version()
        with suppress(LocatorError):
            value = annotation_value(find_layer_outputs(graph))
            with suppress(RtInfoEditError):
                edit_rt_info(graph.marks, {("x",): value}, lambda at, n: data[at : at + n])

    def _read_folder(self, data: bytes) -> None:
        for name in ("openvino_model.xml", "openvino_detokenizer.xml"):
            (self._folder / "target" / name).write_bytes(data)
        self._look()

    def _read_config(self, data: bytes) -> None:
        for name in ("config.json", "openvino_config.json"):
            (self._folder / "target" / name).write_bytes(data)
        (self._folder / "target" / "openvino_model.xml").write_bytes(self._graphs[0])
        self._look()

    def _look(self) -> None:
        folder = self._folder / "target"
        target, draft = inspect_model(folder), inspect_model(self._folder / "draft")
        check_contract(target, draft, runtime="2026.4.1")
        check_contract(draft, target, runtime=None)
        describe_model(folder)

    def _read_manifest(self, data: bytes) -> None:
        (self._folder / MANIFEST_NAME).write_bytes(data)
        read_record(self._folder)

    def _read_pair_record(self, data: bytes) -> None:
        (self._folder / "pair.json").write_bytes(data)
        read_pair_record(self._folder / "pair.json")

    def _read_gguf(self, data: bytes) -> None:
        gguf_model(read_gguf_header(io.BytesIO(data).read, file_bytes=len(data) + 200_000))


def _read_log(data: bytes) -> None:
    read_ovms_log(data.decode("utf-8", "replace").splitlines())


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), CHUNK_BYTES):
        yield data[start : start + CHUNK_BYTES]


def child(seed: int, numbers: range) -> None:
    """Try the cases with little memory, and print what each kind took as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(Path(folder))
        _limit_memory()
        slowest = dict.fromkeys(readers.kinds, (0.0, -1))
        for number in numbers:
            print(number, file=sys.stderr, flush=True)  # the last one is the guilty one
            kind, seconds = readers.try_one(seed, number)
            slowest[kind] = max(slowest[kind], (seconds, number))
    print(json.dumps({"slowest": slowest, "grown_bytes": _grown_bytes()}))


def _limit_memory() -> None:
    """Give no more than the limit from here on."""
    global _bytes_before
    if sys.platform == "win32":
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + LIMIT_BYTES, used + LIMIT_BYTES))
    _bytes_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


_bytes_before = 0


def _grown_bytes() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - _bytes_before


def fuzz(seed: int, numbers: range) -> dict[str, object]:
    """Run the child; raises `AssertionError` that names the case which it did not survive."""
    span = f"{numbers.start}:{numbers.stop}"
    try:
        finished = subprocess.run(
            [sys.executable, "-m", "tests.perf.fuzz_readers", f"--seed={seed}", f"--child={span}"],
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=HANG_SECONDS + len(numbers) * 0.2,
        )
    except subprocess.TimeoutExpired as error:
        log = error.stderr or b""
        last = (log if isinstance(log, bytes) else log.encode()).decode().split()[-1:]
        raise AssertionError(f"hangs at seed {seed}, case {last}") from error
    assert finished.returncode == 0, f"seed {seed}: {finished.stderr[-3000:]}"
    answer = json.loads(finished.stdout)
    assert isinstance(answer, dict)
    return answer


def main() -> int:
    """Run all cases, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one case, with its traceback")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        start, stop = map(int, args.child.split(":"))
        child(args.seed, range(start, stop))
        return 0
    if args.only is not None:
        child(args.seed, range(args.only, args.only + 1))
        return 0
    answer = fuzz(args.seed, range(args.count))
    slowest, grown = answer["slowest"], answer["grown_bytes"]
    assert isinstance(slowest, dict)
    assert isinstance(grown, int)
    rows = [
        Measured(f"slowest {kind}", seconds, "s", LIMIT_SECONDS, note=f"case {number}")
        for kind, (seconds, number) in slowest.items()
    ]
    rows.append(Measured("memory", grown / (1 << 20), "MB", LIMIT_BYTES / (1 << 20)))
    return show(f"{args.count} damaged files, seed {args.seed}", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
