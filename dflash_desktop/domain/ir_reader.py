"""Read an OpenVINO IR's XML in one pass, whoever wrote it.

The file is not trusted: it may be huge, cut off, or made to exhaust whoever reads it. Document
types are refused, and with them every kind of entity; sizes and depths are bounded.
"""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from dflash_desktop.domain.ir_graph import IrGraph, IrLayer, IrOutput, RtInfoMarks, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CHUNK_BYTES: Final = 1 << 20
XML_LIMIT_BYTES: Final = 256 << 20
_ELEMENT_LIMIT_BYTES: Final = 8 << 20
"""One tag with its attributes; expat must hold all of it at once."""
_DEPTH_LIMIT: Final = 64
_KEPT_LIMIT_BYTES: Final = 256 << 20
"""Roughly what the facts take in memory."""
_LAYER_COST_BYTES: Final = 200
_DIMENSION_COST_BYTES: Final = 64
_RANK_LIMIT: Final = 64
_REPEATS_LIMIT: Final = 64
_DIGITS_LIMIT: Final = 32
_ELEMENTS_LIMIT: Final = 8_000_000
_NAMES_LIMIT: Final = 20_000
"""Different names of elements and attributes: expat keeps each of them to the end."""
_SKIPPED_LIMIT_BYTES: Final = 2 << 20
"""Of the inputs of one node: expat remembers every element that is open, however deep."""
_TEXT_ENCODINGS: Final = ("utf-8", "us-ascii")
_SKIPPED_IN_LAYER: Final = frozenset({"input", "rt_info"})


class IrError(Exception):
    """This is no IR that can be read; the text says why."""


def read_ir_graph(chunks: Iterable[bytes]) -> IrGraph:
    """The facts of an IR whose XML comes in pieces of about `CHUNK_BYTES`; raises `IrError`."""
    return _GraphReader().read(chunks)


def read_rt_info(tail: Iterable[bytes]) -> Mapping[tuple[str, ...], str]:
    """The entries of a text that begins where a model's rt_info does; raises `IrError`."""
    return _GraphReader(has_layers=False).read(chain((b"<net>",), tail)).rt_info


class _GraphReader:
    """Handlers for expat. Most elements are skipped: only what the facts need costs time."""

    def __init__(self, *, has_layers: bool = True) -> None:
        self._has_layers = has_layers
        self._names: dict[str, str] = {}
        self._parser = expat.ParserCreate(None, None, self._names)
        self._parser.buffer_text = True
        self._parser.XmlDeclHandler = self._on_declaration
        self._parser.StartDoctypeDeclHandler = self._on_doctype
        self._path: list[str] = []
        self._kept_bytes = 0
        self._elements = 0
        self._layers: list[IrLayer] = []
        self._sources: dict[tuple[int, int], tuple[int, int]] = {}
        self._rt_info: dict[tuple[str, ...], str] = {}
        self._rt_path: list[str] = []
        self._rt_starts: list[int] = []
        self._spans: dict[tuple[str, ...], tuple[Span, ...]] = {}
        self._net_end = 0
        self._needed_bytes = 0
        self._largest_bytes = 0
        self._layer: dict[str, str] = {}
        self._outputs: list[IrOutput] = []
        self._port: dict[str, str] = {}
        self._shape: list[int] = []
        self._dim = ""
        self._is_whole = False
        self._is_in_layer = False
        self._skipped_at: int | None = None
        self._skipped_names: dict[str, object] = {}
        self._use_normal_handlers()

    def read(self, chunks: Iterable[bytes]) -> IrGraph:
        fed = 0
        try:
            for chunk in chunks:
                if fed == 0 and (b"\0" in chunk[:4] or chunk[:2] in {b"\xff\xfe", b"\xfe\xff"}):
                    raise IrError("the text is not UTF-8")
                fed += len(chunk)
                if fed > XML_LIMIT_BYTES:
                    raise IrError(f"the XML has more than {XML_LIMIT_BYTES >> 20} MB")
                self._parser.Parse(chunk, False)
                self._check_limits(fed)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise IrError(f"not well-formed XML: {error}") from error
        finally:
            self._let_go()
        if not self._is_whole or bool(self._layers) != self._has_layers:
            raise IrError("this is XML, but not an OpenVINO model")
        return IrGraph(
            layers=tuple(self._layers),
            sources=self._sources,
            rt_info=self._rt_info,
            needed_weight_bytes=self._needed_bytes,
            marks=RtInfoMarks(self._spans, self._net_end),
            largest_constant_bytes=self._largest_bytes,
        )

    def _check_limits(self, fed_bytes: int) -> None:
        """After each piece, so that the handlers need not."""
        if fed_bytes - self._parser.CurrentByteIndex > _ELEMENT_LIMIT_BYTES:
            raise IrError("an element has more than 8 MB")
        if self._elements > _ELEMENTS_LIMIT:
            raise IrError("the XML has more elements than any real model")
        if len(self._names) > _NAMES_LIMIT:
            raise IrError("the XML has more names of elements than any real model")
        if self._skipped_at is not None and fed_bytes - self._skipped_at > _SKIPPED_LIMIT_BYTES:
            raise IrError("a node has more inputs than any real one")

    def _let_go(self) -> None:
        """The parser holds our methods and we hold the parser: freed now, not at some time."""
        self._parser.StartElementHandler = self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = None
        self._parser.XmlDeclHandler = self._parser.StartDoctypeDeclHandler = None

    def _use_normal_handlers(self) -> None:
        self._parser.StartElementHandler = self._on_start
        self._parser.EndElementHandler = self._on_end

    def _on_declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _TEXT_ENCODINGS:
            raise IrError(f"the text is {encoding[:40]}, not UTF-8")

    def _on_doctype(self, *_args: object) -> None:
        raise IrError("the XML brings a document type, which no OpenVINO model has")

    def _on_start(self, tag: str, attributes: dict[str, str]) -> None:
        path = self._path
        path.append(tag)
        depth = len(path)
        self._elements += 1
        if self._is_in_layer:
            self._on_start_in_layer(tag, attributes, depth)
        elif depth == 3 and tag == "edge" and path[:2] == ["net", "edges"]:
            self._add_edge(attributes)
        elif depth == 3 and tag == "layer" and path[:2] == ["net", "layers"]:
            self._layer, self._outputs, self._is_in_layer = attributes, [], True
        elif depth >= 2 and path[1] == "rt_info" and path[0] == "net":
            self._rt_starts.append(self._parser.CurrentByteIndex)
            if depth >= 3:
                self._add_rt_info(tag, attributes)
        elif tag == "data":
            self._add_data(attributes)
        if depth > _DEPTH_LIMIT:
            raise IrError("the elements are nested too deep")

    def _on_start_in_layer(self, tag: str, attributes: dict[str, str], depth: int) -> None:
        if tag == "dim":
            if depth == 6 and self._path[3:5] == ["output", "port"]:
                self._dim = ""
                self._parser.CharacterDataHandler = self._on_text
        elif tag == "port":
            if depth == 5 and self._path[3] == "output":
                self._port, self._shape = attributes, []
        elif tag == "data":
            self._add_data(attributes)
        elif depth == 4 and tag in _SKIPPED_IN_LAYER:
            self._skipped_at = self._parser.CurrentByteIndex
            # Native and at next to no cost, and yet expat hands us every name for `_names`.
            self._parser.StartElementHandler = self._skipped_names.setdefault
            self._parser.EndElementHandler = self._on_end_of_skipped

    def _on_end_of_skipped(self, tag: str) -> None:
        self._elements += 1
        if tag == self._path[-1]:
            self._path.pop()
            self._skipped_at = None
            self._use_normal_handlers()

    def _on_text(self, text: str) -> None:
        self._dim += text
        if len(self._dim) > _DIGITS_LIMIT:
            raise IrError("a dimension has more digits than any number")

    def _on_end(self, tag: str) -> None:
        path = self._path
        if not path or path.pop() != tag:
            raise IrError("elements are nested as in no OpenVINO model")
        depth = len(path)
        if depth == 0:
            self._is_whole, self._net_end = tag == "net", self._parser.CurrentByteIndex
        elif self._is_in_layer:
            self._on_end_in_layer(tag, depth)
        elif self._rt_starts:
            self._finish_rt_info(depth)

    def _on_end_in_layer(self, tag: str, depth: int) -> None:
        if depth == 2:
            self._finish_layer()
            self._is_in_layer = False
        elif tag == "dim":
            if depth == 5 and self._path[3:5] == ["output", "port"]:
                self._parser.CharacterDataHandler = None
                self._add_dimension()
        elif tag == "port" and depth == 4 and self._path[3] == "output":
            self._finish_port()

    def _add_dimension(self) -> None:
        self._keep(_DIMENSION_COST_BYTES)
        if len(self._shape) == _RANK_LIMIT:
            raise IrError(f"a node gives more than {_RANK_LIMIT} dimensions")
        self._shape.append(_number(self._dim, "a dimension"))

    def _finish_port(self) -> None:
        text = self._port.get("names", "")
        names = tuple(name for name in text.split(",") if name) if text else ()
        self._keep(_LAYER_COST_BYTES + len(text))
        port = _number(self._port.get("id"), "a port")
        self._outputs.append(IrOutput(port, names, tuple(self._shape)))

    def _finish_layer(self) -> None:
        layer = self._layer
        name, names = layer.get("name", ""), layer.get("output_names", "")
        self._keep(_LAYER_COST_BYTES + len(name) + len(names))
        self._layers.append(
            IrLayer(
                id=_number(layer.get("id"), "a node"),
                name=name,
                type=sys.intern(layer.get("type", "")),
                outputs=tuple(self._outputs),
                result_names=tuple(part for part in names.split(",") if part) if names else (),
            )
        )

    def _add_edge(self, attributes: dict[str, str]) -> None:
        self._keep(_LAYER_COST_BYTES)
        try:
            source = (int(attributes["from-layer"]), int(attributes["from-port"]))
            self._sources[int(attributes["to-layer"]), int(attributes["to-port"])] = source
        except (KeyError, ValueError) as error:
            raise IrError(f"an edge has the number {error}"[:100]) from error

    def _add_rt_info(self, tag: str, attributes: dict[str, str]) -> None:
        # A name that is no XML tag is written as <info name="..."/>.
        self._rt_path.append(attributes.get("name", tag) if tag == "info" else tag)
        value = attributes.get("value")
        if value is None:
            return
        path = tuple(self._rt_path)
        self._keep(_LAYER_COST_BYTES + len(value) + sum(map(len, path)))
        if path in self._rt_info:
            raise IrError(f"rt_info has two entries {'/'.join(path)[:80]}")
        self._rt_info[path] = value

    def _finish_rt_info(self, depth: int) -> None:
        path = tuple(self._rt_path)
        self._keep(_LAYER_COST_BYTES + sum(map(len, path)))
        span = Span(self._rt_starts.pop(), self._parser.CurrentByteIndex)
        self._spans[path] = (*self._spans.get(path, ()), span)
        if len(self._spans[path]) > _REPEATS_LIMIT:
            raise IrError(f"rt_info repeats {'/'.join(path)[:80]} without end")
        if depth >= 2:
            self._rt_path.pop()

    def _add_data(self, attributes: dict[str, str]) -> None:
        if "offset" in attributes and "size" in attributes:
            offset = _number(attributes["offset"], "a constant")
            size = _number(attributes["size"], "a constant")
            if offset < 0 or size < 0:
                raise IrError("a constant lies before the start of the weights")
            self._needed_bytes = max(self._needed_bytes, offset + size)
            self._largest_bytes = max(self._largest_bytes, size)

    def _keep(self, count_bytes: int) -> None:
        self._kept_bytes += count_bytes
        if self._kept_bytes > _KEPT_LIMIT_BYTES:
            raise IrError("the model has more nodes, edges or names than any real one")


def _number(text: str | None, owner: str) -> int:
    try:
        return int(text or "")
    except ValueError as error:
        raise IrError(f"{owner} has the number {(text or '')[:40]!r}") from error
