"""From a GGUF draft back to the checkpoint that it was made from, as far as its bits tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_draft import checkpoint_names, draft_config
from dflash_desktop.domain.gguf_header import read_gguf_header
from dflash_desktop.workers.export_report import StepFailedError, say, say_fact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from gguf import GGUFReader

_SHARD_BYTES: Final = 1 << 30
"""What is unpacked and not yet written; the rest of a large draft does not have to fit."""
_LEAST_CORRELATION: Final = 0.9
"""The right tensor gives 0.99 and more, Q2_K included; a turned or another one gives 0."""
_LARGEST_NORM_ERROR: Final = 0.1
_F16_LIMIT: Final = 65_504.0


def unpack_gguf(source: Path, output: Path, *, reference: Path | None = None) -> None:
    """Write the checkpoint into `output`; every tensor of the file is used exactly once.

    With a reference, the folder of the checkpoint that the file was made from, each tensor is
    compared with its original. Raises `StepFailedError` with the code of `GgufError`, or
    "gguf_not_like_reference".
    """
    say(0.0, "Looking at the file")
    try:
        with source.open("rb") as file:
            header = read_gguf_header(file.read, file_bytes=source.stat().st_size)
        from gguf import GGUFReader

        reader = GGUFReader(source)
        values = {key: field.contents() for key, field in reader.fields.items()}
        config = draft_config(values, {n: one.shape for n, one in header.tensors.items()})
        names = checkpoint_names(header.tensors, int(str(config["num_hidden_layers"])))
    except GgufError as error:
        raise StepFailedError(error.code, str(error)) from error
    output.mkdir(parents=True, exist_ok=True)
    unpacked = _unpacked(reader, names)
    if reference is not None:
        unpacked = _compared(unpacked, reference)
    _write_shards(unpacked, output, len(names))
    (output / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    say(1.0, "The checkpoint is unpacked")


def _unpacked(reader: GGUFReader, names: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Name and numbers of each tensor, 32 bits wide, in the order of the file."""
    from gguf import dequantize

    for tensor in reader.tensors:
        if tensor.name in names:
            # The reader has turned the shape around already; the numbers stay where they are.
            shape = tuple(int(length) for length in reversed(tensor.shape.tolist()))
            yield names[tensor.name], dequantize(tensor.data, tensor.tensor_type).reshape(shape)


def _compared(unpacked: Iterator[tuple[str, Any]], reference: Path) -> Iterator[tuple[str, Any]]:
    import numpy
    from safetensors import safe_open

    places: dict[str, Path] = {}
    for path in sorted(reference.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            places |= dict.fromkeys(file.keys(), path)
    lowest = 1.0
    for name, values in unpacked:
        if name not in places:
            raise StepFailedError("gguf_not_like_reference", f"{name} is not in the reference")
        with safe_open(places[name], framework="pt") as file:
            original = file.get_tensor(name).float().numpy()
        if original.shape != values.shape:
            shapes = f"{list(values.shape)} and not {list(original.shape)}"
            raise StepFailedError("gguf_not_like_reference", f"{name} is {shapes}")
        if values.ndim == 1:  # two norms correlate, a shift of one by 1 does not show there
            error = float(abs(values - original).mean() / max(1e-9, abs(original).mean()))
            agrees, told = error < _LARGEST_NORM_ERROR, f"differs by {error:.1%}"
        else:
            found = float(numpy.corrcoef(values.ravel(), original.ravel())[0, 1])
            agrees, told = found > _LEAST_CORRELATION, f"correlates by {found:.3f}"
            lowest = min(lowest, found)
        if not agrees:
            raise StepFailedError("gguf_not_like_reference", f"{name} {told}")
        yield name, values
    say_fact("lowest_correlation", round(lowest, 4))


def _write_shards(unpacked: Iterator[tuple[str, Any]], output: Path, count: int) -> None:
    import torch
    from safetensors.torch import save_file

    places: dict[str, str] = {}
    shard: dict[str, Any] = {}
    held_bytes = 0

    def write() -> None:
        nonlocal held_bytes
        name = f"model-{len(set(places.values())) + 1:05}.safetensors"
        save_file(shard, output / name, metadata={"format": "pt"})
        places.update(dict.fromkeys(shard, name))
        shard.clear()
        held_bytes = 0

    for done, (name, values) in enumerate(unpacked):
        say(done / count, name)
        largest = float(abs(values).max())
        kind = torch.float16 if largest < _F16_LIMIT else torch.bfloat16
        shard[name] = torch.from_numpy(values.copy()).to(kind)
        held_bytes += 2 * values.size
        if held_bytes > _SHARD_BYTES:
            write()
    if shard:
        write()
    index = {"metadata": {}, "weight_map": places}
    text = json.dumps(index, indent=2)
    (output / "model.safetensors.index.json").write_text(text, encoding="utf-8")
