"""From a GGUF file that was checked before to an OpenVINO model, by GenAI's own reader."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.workers import model_folder
from dflash_desktop.workers.model_folder import MODEL_BIN, MODEL_XML
from dflash_desktop.workers.recompress import recompress_to_int8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dflash_desktop.workers.protocol import ConvertGguf

_PACKING: Final = "Packing the weights for fast verification"
_LINUX_FIRST_TO_GO: Final = "1000"


def convert_gguf(command: ConvertGguf, report: Callable[[str], None]) -> None:
    """Make the model in `command.output_dir`; raises whatever GenAI raises.

    A folder that was begun stays: the one who asked removes it, whatever ended this process.
    """
    raw_dir = command.output_dir / "raw"
    raw_dir.mkdir(parents=True)
    with _first_to_go():
        report("Converting the model for OpenVINO")
        _convert((command.gguf_path, *command.more_parts), raw_dir)
        if command.as_int8:
            report(_PACKING)
            recompress_to_int8(
                raw_dir / MODEL_XML,
                command.output_dir / MODEL_XML,
                on_progress=lambda done, total: _report_tenths(report, done, total),
            )
            for name in (MODEL_XML, MODEL_BIN):
                (raw_dir / name).unlink()
    for path in raw_dir.iterdir():
        path.replace(command.output_dir / path.name)
    raw_dir.rmdir()
    model_folder.check_target(command.output_dir)


def _report_tenths(report: Callable[[str], None], done: int, total: int) -> None:
    if 10 * done // total > 10 * (done - 1) // total:
        report(f"{_PACKING}: {100 * done // total} %")


def _convert(parts: tuple[Path, ...], raw_dir: Path) -> None:
    from openvino_genai import LLMPipeline

    sources = [_borrowed(part, raw_dir / name) for part, name in _named(parts)]
    LLMPipeline(str(sources[0]), "CPU", enable_save_ov_model=True)
    for source in sources:
        source.unlink()


def _named(parts: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    """Plain names for any file's: GenAI finds the parts of a split file by exactly these."""
    if len(parts) == 1:
        yield parts[0], "model.gguf"
        return
    for number, part in enumerate(parts, start=1):
        yield part, f"model-{number:05}-of-{len(parts):05}.gguf"


def _borrowed(path: Path, link: Path) -> Path:
    """The file under another name: GenAI writes beside the file that it reads.

    Where links are not allowed (another disk, FAT) the bytes are copied.
    """
    # WORKAROUND: https://github.com/antirez/gguf-tools (gguf_open) opens for writing what it only
    # reads, which a read-only file refuses: a hub's cache keeps its files that way.
    if os.access(path, os.W_OK):
        with suppress(OSError):
            link.hardlink_to(path)
            return link
    shutil.copyfile(path, link)
    return link


@contextmanager
def _first_to_go() -> Iterator[None]:
    """When memory runs out now, the kernel ends this process and none of the person's."""
    score = Path("/proc/self/oom_score_adj")
    if not sys.platform.startswith("linux"):
        yield
        return
    before = ""
    with suppress(OSError):
        before = score.read_text("ascii")
        score.write_text(_LINUX_FIRST_TO_GO, encoding="ascii")
    try:
        yield
    finally:
        with suppress(OSError):
            score.write_text(before or "0", encoding="ascii")
