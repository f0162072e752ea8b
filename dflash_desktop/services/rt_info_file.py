"""Writes entries into the rt_info of an IR on this disk, of whatever size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.ir_reader import read_ir_graph
from dflash_desktop.domain.rt_info_edit import edit_rt_info, spliced
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.model_inspection import read_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def write_rt_info(xml: Path, values: Mapping[tuple[str, ...], str]) -> None:
    """Give each entry its value; nothing else in the file changes, and it is never half-written.

    Raises `IrError`, `RtInfoEditError` and `OSError`; the file then is as it was.
    """
    write_atomically(xml, _edited(xml, values))


def _edited(xml: Path, values: Mapping[tuple[str, ...], str]) -> Iterator[bytes]:
    marks = read_ir_graph(read_chunks(xml)).marks
    with xml.open("rb") as file:

        def read(start: int, count: int) -> bytes:
            file.seek(start)
            return file.read(count)

        splices = edit_rt_info(marks, values, read)
    yield from spliced(read_chunks(xml), splices)
