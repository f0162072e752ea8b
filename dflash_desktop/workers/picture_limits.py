"""What reading one picture may take; apart, since starting the reader needs nothing else of it."""

from __future__ import annotations

from typing import Final

PICTURE_MEMORY_BYTES: Final = 500_000_000
"""All that the process may take, itself included."""

PICTURE_CPU_SECONDS: Final = 2.0
"""Of the processor: the clock on the wall also counts what other programs do."""

PICTURE_WAIT_SECONDS: Final = 20.0
"""By the clock: a disk in the network, or a machine that is busy with something else."""
