"""Export tools in the program's own Python: `pip install dflash-desktop[export]`."""

from __future__ import annotations

import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflash_desktop.domain.export_environment import ExportEnvironment

_NEEDED = ("optimum-intel", "nncf", "torch", "openvino-tokenizers", "diffusers", "gguf")


def own_python(environment: ExportEnvironment) -> Path | None:
    """The running interpreter, if the tools of this environment are installed beside the program.

    A release counts by its first two numbers, since people may have a later one of them.
    """
    if getattr(sys, "frozen", False) or environment.is_development:
        return None
    try:
        versions = {name: metadata.version(name) for name in ("transformers", *_NEEDED)}
    except metadata.PackageNotFoundError:
        return None
    wanted = tuple(map(str, environment.transformers[:2]))
    if tuple(versions["transformers"].split(".")[:2]) != wanted:
        return None
    # Torchvision of the package index is built for CUDA and breaks every model beside a PyTorch
    # that is not.
    if "+cpu" in versions["torch"] and find_spec("torchvision") is not None:
        return Path(sys.executable) if "+cpu" in metadata.version("torchvision") else None
    return Path(sys.executable)
