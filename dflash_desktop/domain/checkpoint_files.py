"""Which files of a repository an export needs: never its code, no weights twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT: Final = (".json", ".jinja", ".model", ".txt", ".tiktoken", ".safetensors")
_PICKLES: Final = (".bin", ".pt", ".pth")
_TOKENIZERS: Final = frozenset({"tokenizer.json", "vocab.json", "vocab.txt", "tekken.json"})
_SMALL: Final = (".json", ".jinja")
_SMALL_LIMIT_BYTES: Final = 32 << 20


def wanted_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Of all files of a repository those that its export reads, in their order.

    Files in folders belong to other forms of the same model (original/, onnx/, gguf/); code is
    not even fetched; pickles only where there are no safetensors.
    """
    top = [path for path in paths if "/" not in path and not path.startswith(".")]
    has_tensors = any(is_weights(path) for path in top)
    kept = (*_KEPT, *(() if has_tensors else _PICKLES))
    return tuple(path for path in top if path.endswith(kept) and not _is_doubled(path))


def has_tokenizer(paths: Iterable[str]) -> bool:
    """Whether a tokenizer is among them: without one the exporter makes one up."""
    return any(path in _TOKENIZERS or path.endswith((".tiktoken", ".model")) for path in paths)


def is_weights(path: str) -> bool:
    """Whether it holds weights that are read."""
    return path.endswith(".safetensors") and not _is_doubled(path)


def is_looked_at(path: str, size_bytes: int) -> bool:
    """Whether it is fetched before the plan, to know what the repository holds."""
    return path.endswith(_SMALL) and size_bytes <= _SMALL_LIMIT_BYTES and path != "tokenizer.json"


def _is_doubled(path: str) -> bool:
    """Mistral's repositories hold all weights once more in a file of this name."""
    return path.startswith("consolidated")
