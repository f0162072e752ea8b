"""Where each decoder layer's hidden state is in an OpenVINO graph, written into its XML.

A DFlash draft reads hidden states out of its target. The runtime finds them by the entry
`hidden_states_decoder_layers` of the model's rt_info: JSON that names, for each layer, the node
that produces its hidden state. Models that GenAI converts from GGUF lack it. The entry lives in
the XML alone, so it is added as an edit of the text: nothing else in the file changes, and the
weights are not even read.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ANNOTATION: Final = "hidden_states_decoder_layers"

_GGUF_PRODUCER = re.compile(r"model\.layers\.self_attn\.add1\.layer(0|[1-9][0-9]{0,4})")
_LAYER = ("net", "layers", "layer")
_PORT = (*_LAYER, "output", "port")
_DIM = (*_PORT, "dim")
_RT_INFO = ("net", "rt_info")
_ANNOTATION = (*_RT_INFO, ANNOTATION)
_EMPTY_RT_INFO = re.compile(rb"<rt_info\s*/>")
_ANNOTATION_TAG = re.compile(rb"<" + ANNOTATION.encode() + rb"\s[^<>]*/>")
_TEXT_ENCODINGS = ("utf-8", "us-ascii")


class LocatorError(Exception):
    """The graph cannot be annotated; the text says why, for Details."""


@dataclass(frozen=True, slots=True)
class Locator:
    """One output of one node: where a layer's hidden state leaves it."""

    producer: str
    output_index: int = 0


@dataclass(frozen=True, slots=True)
class IrNode:
    """A node of the outer graph; a dynamic dimension is -1."""

    name: str
    output_shapes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class IrText:
    """What an edit needs to know about an IR's XML; the offsets count bytes."""

    nodes: tuple[IrNode, ...]
    annotation: str | None  # the entry's value, if the model has one
    annotation_at: int | None
    rt_info_at: int | None
    rt_info_end: int | None  # where `</rt_info>` begins
    net_end: int  # where `</net>` begins


def read_ir(xml: bytes) -> IrText:
    """Read an IR's XML. Raises `LocatorError` for anything that is not one.

    The file is not trusted: document types, and with them every kind of entity, are refused.
    """
    return _IrReader().read(xml)


def gguf_locators(
    nodes: Iterable[IrNode], *, hidden_size: int, layer_count: int
) -> tuple[Locator, ...]:
    """The locators of all layers, first to last, in a graph that GenAI made from a GGUF file.

    Raises `LocatorError` unless every layer has exactly one producer of the right shape.
    """
    found: dict[int, IrNode] = {}
    for node in nodes:
        match = _GGUF_PRODUCER.fullmatch(node.name)
        if match is None:
            continue
        layer = int(match.group(1))
        if layer in found:
            raise LocatorError(f"two nodes are called {node.name}")
        found[layer] = node
    return _complete(found, hidden_size=hidden_size, layer_count=layer_count)


def annotate(xml: bytes, locators: Sequence[Locator]) -> bytes:
    """`xml` with the locators in its rt_info; a different entry is replaced, an equal one kept.

    Raises `LocatorError` when the text cannot be edited safely.
    """
    ir = read_ir(xml)
    value = annotation_value(locators)
    if ir.annotation is not None and _is_same_json(ir.annotation, value):
        return xml
    entry = f'<{ANNOTATION} value="{html.escape(value)}" />'.encode()
    if ir.annotation_at is not None:
        return _replaced(xml, _ANNOTATION_TAG, ir.annotation_at, entry)
    if ir.rt_info_at is None or ir.rt_info_end is None:
        return _inserted(xml, ir.net_end, b"<rt_info>" + entry + b"</rt_info>")
    if not xml.startswith(b"</rt_info", ir.rt_info_end):
        full = b"<rt_info>" + entry + b"</rt_info>"
        return _replaced(xml, _EMPTY_RT_INFO, ir.rt_info_at, full)
    return _inserted(xml, ir.rt_info_end, entry)


def annotation_value(locators: Sequence[Locator]) -> str:
    """The entry's text as the runtime reads it."""
    layers = {
        str(layer): {"producer": locator.producer, "output_index": locator.output_index}
        for layer, locator in enumerate(locators)
    }
    return json.dumps({"layers": layers})


def _complete(
    found: dict[int, IrNode], *, hidden_size: int, layer_count: int
) -> tuple[Locator, ...]:
    missing = sorted(set(range(layer_count)) - found.keys())
    if missing:
        raise LocatorError(f"no producer of a hidden state for layers {_listed(missing)}")
    extra = sorted(found.keys() - set(range(layer_count)))
    if extra:
        raise LocatorError(f"the model has {layer_count} layers, the graph also {_listed(extra)}")
    for _, node in sorted(found.items()):
        shape = node.output_shapes[0] if node.output_shapes else ()
        if len(shape) != 3 or shape[2] != hidden_size:
            raise LocatorError(f"{node.name} gives {list(shape)}, not [?, ?, {hidden_size}]")
    return tuple(Locator(found[layer].name) for layer in range(layer_count))


def _listed(layers: Sequence[int]) -> str:
    shown = ", ".join(map(str, layers[:5]))
    return f"{shown} and {len(layers) - 5} more" if len(layers) > 5 else shown


def _is_same_json(left: str, right: str) -> bool:
    try:
        return bool(json.loads(left) == json.loads(right))
    except ValueError:  # a damaged entry is replaced
        return False


def _inserted(xml: bytes, end_tag_at: int, entry: bytes) -> bytes:
    """Put `entry` before an end tag, on a line of its own if the end tag has one."""
    before, after = xml[:end_tag_at], xml[end_tag_at:]
    line_start = before.rfind(b"\n") + 1
    indent = before[line_start:]
    if line_start == 0 or indent.strip():
        return before + entry + after
    line_end = b"\r\n" if before[:line_start].endswith(b"\r\n") else b"\n"
    return before + b"\t" + entry + line_end + indent + after


def _replaced(xml: bytes, tag: re.Pattern[bytes], start: int, replacement: bytes) -> bytes:
    match = tag.match(xml, start)
    if match is None:
        raise LocatorError(f"the element at byte {start} is not written as OpenVINO writes it")
    return xml[:start] + replacement + xml[match.end() :]


class _IrReader:
    """One pass of expat over the text; keeps the path of open elements and what was seen."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.XmlDeclHandler = self._on_declaration
        self._parser.StartDoctypeDeclHandler = self._on_doctype
        self._parser.StartElementHandler = self._on_start
        self._parser.EndElementHandler = self._on_end
        self._parser.CharacterDataHandler = self._on_text
        self._path: list[str] = []
        self._nodes: list[IrNode] = []
        self._name = ""
        self._shapes: list[list[int]] = []
        self._dim: str | None = None  # the text of the open <dim>
        self._annotation: str | None = None
        self._annotation_at: int | None = None
        self._rt_info_at: int | None = None
        self._rt_info_end: int | None = None
        self._net_end: int | None = None

    def read(self, xml: bytes) -> IrText:
        if b"\0" in xml[:4]:
            raise LocatorError("the text is not UTF-8")
        try:
            self._parser.Parse(xml, True)
        except expat.ExpatError as error:
            raise LocatorError(f"not well-formed XML: {error}") from error
        if self._net_end is None or not self._nodes:
            raise LocatorError("this is XML, but not an OpenVINO model")
        return IrText(
            nodes=tuple(self._nodes),
            annotation=self._annotation,
            annotation_at=self._annotation_at,
            rt_info_at=self._rt_info_at,
            rt_info_end=self._rt_info_end,
            net_end=self._net_end,
        )

    def _on_declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _TEXT_ENCODINGS:
            raise LocatorError(f"the text is {encoding}, not UTF-8")

    def _on_doctype(self, *_args: object) -> None:
        # A document type could declare entities that expand without bound or name local files.
        raise LocatorError("the XML brings a document type, which no OpenVINO model has")

    def _on_start(self, tag: str, attributes: dict[str, str]) -> None:
        self._path.append(tag)
        path = tuple(self._path[: len(_DIM) + 1])
        if path == _LAYER:
            self._name, self._shapes = attributes.get("name", ""), []
        elif path == _PORT:
            self._shapes.append([])
        elif path == _DIM:
            self._dim = ""
        elif path == _RT_INFO:
            if self._rt_info_at is not None:
                raise LocatorError("the model has two rt_info blocks")
            self._rt_info_at = self._parser.CurrentByteIndex
        elif path == _ANNOTATION:
            if self._annotation is not None:
                raise LocatorError(f"the model has two entries {ANNOTATION}")
            self._annotation = attributes.get("value", "")
            self._annotation_at = self._parser.CurrentByteIndex

    def _on_end(self, _tag: str) -> None:
        path = tuple(self._path[: len(_DIM) + 1])
        if path == _DIM:
            self._shapes[-1].append(self._dimension())
            self._dim = None
        elif path == _LAYER:
            shapes = tuple(tuple(shape) for shape in self._shapes)
            self._nodes.append(IrNode(self._name, shapes))
        elif path == _RT_INFO:
            self._rt_info_end = self._parser.CurrentByteIndex
        elif path == ("net",):
            self._net_end = self._parser.CurrentByteIndex
        self._path.pop()

    def _on_text(self, text: str) -> None:
        if self._dim is not None:
            self._dim += text

    def _dimension(self) -> int:
        try:
            return int(self._dim or "")
        except ValueError as error:
            raise LocatorError(f"{self._name} has a dimension {self._dim!r}") from error
