"""`--hardware FILE`, for the commands that look at a machine, and that may look at another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_hardware_option(parser: ArgumentParser) -> None:
    """The file is what `doctor --json` prints, or a part of it."""
    parser.add_argument(
        "--hardware",
        type=Path,
        metavar="FILE",
        help="look at a recorded machine instead of this one; doctor --json writes such a file",
    )
