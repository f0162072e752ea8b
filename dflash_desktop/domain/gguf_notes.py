"""What GenAI leaves out of a GGUF file without a word, in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dflash_desktop.domain.gguf_header import GgufTensor
    from dflash_desktop.domain.gguf_metadata import GgufMetadata

_PRE_TOKENIZERS: Final = frozenset({"qwen2", "smollm", "llama-bpe"})
_KNOWN: Final = re.compile(
    r"token_embd\.weight|output\.(?:weight|bias)|output_norm\.weight|rope_freqs\.weight"
    r"|blk\.[0-9]+\.(?:attn_norm|ffn_norm|attn_q_norm|attn_k_norm)\.weight"
    r"|blk\.[0-9]+\.(?:attn_q|attn_k|attn_v|attn_output|ffn_gate|ffn_up|ffn_down)\.(?:weight|bias)"
)


def gguf_notes(
    metadata: GgufMetadata, tensors: Mapping[str, GgufTensor], architecture: str
) -> Iterator[str]:
    """What may make the converted model answer worse than the file would elsewhere."""
    scaling = f"{architecture}.rope.scaling.type"
    is_scaled = metadata.has(scaling) and metadata.text(scaling) != "none"
    if "rope_freqs.weight" in tensors or is_scaled:
        yield (
            "The runtime leaves out how this model stretches positions, so that long texts may "
            "get worse answers than in other programs."
        )
    key = f"{architecture}.rope.dimension_count"
    query = tensors["blk.0.attn_q.weight"].shape[1]
    head = query // metadata.number(f"{architecture}.attention.head_count")
    if metadata.number(key, default=head) != head:
        yield (
            "This model turns only a part of each head by its position, and the runtime turns all "
            "of it, which will make its answers worse."
        )
    if left := sorted(name for name in tensors if not _KNOWN.fullmatch(name)):
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        yield (
            f"The runtime leaves out a part of the model ({left[0][:60]!r}{more}), which can make "
            "its answers worse."
        )
    pre = metadata.text("tokenizer.ggml.pre")
    if pre not in _PRE_TOKENIZERS:
        yield (
            f"The runtime does not know how this model cuts text into words ({pre[:40]!r}) and "
            "takes another way, which can make its answers worse."
        )
    if not metadata.has("tokenizer.chat_template"):
        yield ("The file brings no chat template, so messages reach the model as plain text.")
