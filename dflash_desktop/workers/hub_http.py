"""The HTTP client that the installed huggingface_hub uses, so that both are one.

httpx2 since some release 2, httpx before. The export tools hold huggingface_hub below 1.22: where
they are installed beside this program (`pip install dflash-desktop[export]`) it is the older.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types


def http_client() -> types.ModuleType:
    """The module, as `import httpx2` or `import httpx` gives it."""
    from huggingface_hub.errors import HfHubHTTPError

    # Its own errors are those of the client that it uses.
    for base in HfHubHTTPError.__mro__:
        name = base.__module__.partition(".")[0]
        if name in ("httpx", "httpx2"):
            return sys.modules.get(name) or importlib.import_module(name)
    raise ImportError("huggingface_hub uses an HTTP client that this program does not know")
