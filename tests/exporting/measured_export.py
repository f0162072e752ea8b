"""What one real export took: a line of tests/data/exports/memory.jsonl."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredExport:
    """Sizes in bytes; `shape` is that of the checkpoint which was made for it.

    `is_calibration`: the formula was made, or changed, after its figures were seen.
    """

    shape: str
    weight_format: str
    parameters: int
    checkpoint_bytes: int
    largest_tensor_values: int
    is_calibration: bool
    tree_bytes: int
    process_bytes: int
    output_bytes: int
    temporary_bytes: int
    seconds: float
