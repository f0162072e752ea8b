"""Writes entries into the rt_info of an IR on this disk, of whatever size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.ir_reader import read_ir_graph, read_rt_info
from dflash_desktop.domain.layer_outputs import find_layer_outputs
from dflash_desktop.domain.locators import ANNOTATION, annotation_value
from dflash_desktop.domain.rt_info_edit import edit_rt_info, spliced
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.model_inspection import read_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from dflash_desktop.domain.ir_graph import RtInfoMarks


def annotate_layers(xml: Path, *, hidden_size: int, layer_count: int) -> None:
    """Write where a draft reads, which GenAI's conversion of a GGUF file leaves out.

    Raises `LocatorError`, `IrError`, `RtInfoEditError` and `OSError`; the file then is as it was.
    """
    graph = read_ir_graph(read_chunks(xml))
    locators = find_layer_outputs(graph, hidden_size=hidden_size, layer_count=layer_count)
    write_rt_info(xml, {(ANNOTATION,): annotation_value(locators)}, marks=graph.marks)


def write_rt_info(xml: Path, values: Mapping[tuple[str, ...], str], *, marks: RtInfoMarks) -> None:
    """Give each entry its value; nothing else in the file changes, and it is never half-written.

    `marks` are those of this very text. Raises `IrError`, `RtInfoEditError` and `OSError`; the
    file then is as it was.
    """
    write_atomically(xml, _edited(xml, values, marks))


def entries_in(xml: Path, marks: RtInfoMarks) -> Mapping[tuple[str, ...], str]:
    """What stands in the rt_info of a file that differs from the marked one in nothing else.

    Raises `IrError` and `OSError`.
    """
    spans = marks.elements.get((), ())
    start = spans[0].start if spans else marks.net_end
    return read_rt_info(read_chunks(xml, start=start))


def _edited(
    xml: Path, values: Mapping[tuple[str, ...], str], marks: RtInfoMarks
) -> Iterator[bytes]:
    with xml.open("rb") as file:

        def read(start: int, count: int) -> bytes:
            file.seek(start)
            return file.read(count)

        splices = edit_rt_info(marks, values, read)
    yield from spliced(read_chunks(xml), splices)
