"""The defects that real drafts were published with, made by editing a good draft's files."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from dflash_desktop.services.model_inspection import inspect_model

if TYPE_CHECKING:
    from tests.fakes.ir_models import ModelFiles

GRAPH = "openvino_model.xml"
WEIGHTS = "openvino_model.bin"


def shift_output(draft: ModelFiles) -> None:
    """As an export through the wrong class: the block's first place is not cut off."""
    graph = inspect_model(draft.folder).graph
    assert graph is not None
    (result,) = (n for n in graph.layers if n.result_names == ("last_hidden_state",))
    cut = graph.sources[result.id, 0]
    whole = graph.sources[cut[0], 0]
    end = f'to-layer="{result.id}" to-port="0"'
    draft.edit(
        f'from-layer="{cut[0]}" from-port="{cut[1]}" {end}',
        f'from-layer="{whole[0]}" from-port="{whole[1]}" {end}',
    )


def randomise(draft: ModelFiles) -> None:
    """As a draft of another target: the same shapes, other weights."""
    path = draft.folder / WEIGHTS
    data = bytearray(path.read_bytes())
    text = (draft.folder / GRAPH).read_text("utf-8")
    weights = re.findall(
        r'<data element_type="(?:u8|i8|u4)" shape="[^"]*" offset="(\d+)" size="(\d+)"', text
    )
    source = random.Random(1)
    for offset, size in ((int(o), int(s)) for o, s in weights if int(s) > 4096):
        data[offset : offset + size] = source.randbytes(size)
    path.unlink()  # it may be a link to the good one
    path.write_bytes(data)


def forget_state(draft: ModelFiles) -> None:
    """As an export without past inputs: it begins every step with an empty cache."""
    graph = inspect_model(draft.folder).graph
    assert graph is not None
    path = draft.folder / GRAPH
    text = path.read_text("utf-8")
    gone = {n.id for n in graph.layers if n.type in {"ReadValue", "Assign"}}
    for node in graph.layers:
        if node.type == "ReadValue":
            layer, port = graph.sources[node.id, 0]
            text = re.sub(
                rf'from-layer="{node.id}" from-port="\d+"',
                f'from-layer="{layer}" from-port="{port}"',
                text,
            )
    for number in gone:
        text = re.sub(rf'\t*<layer id="{number}" .*?</layer>\n', "", text, flags=re.DOTALL)
        text = re.sub(rf'\t*<edge [^>]*to-layer="{number}" [^>]*/>\n', "", text)
    path.write_text(text, encoding="utf-8")
