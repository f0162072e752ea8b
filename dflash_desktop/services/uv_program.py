"""uv, which makes the export environments: where it is, and what of the person's pip it is told.

uv because it shares one copy of a package between environments (by hard links), brings a Python
where there is none, knows where builds of PyTorch without CUDA are, and takes seconds.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.services.worker_launch import engine_program

if TYPE_CHECKING:
    from collections.abc import Mapping

_PIP_LINE: Final = re.compile(r"(?:global|install|user|site|:env:)\.?([a-z-]+)=(.+)")
_PIP_SECONDS: Final = 20.0
_UV_VARIABLES: Final = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
}


def find_uv() -> Path | None:
    """The uv beside a frozen program, else that of this environment, else one on the PATH."""
    name = "uv.exe" if sys.platform == "win32" else "uv"
    for folder in (Path(sys.executable).parent / "tools", Path(sys.prefix) / _SCRIPTS):
        if (folder / name).is_file():
            return folder / name
    found = shutil.which("uv")
    return Path(found) if found else None


_SCRIPTS: Final = "Scripts" if sys.platform == "win32" else "bin"


def python_inside(environment_dir: Path) -> Path:
    """The interpreter of an environment."""
    name = "python.exe" if sys.platform == "win32" else "python"
    return environment_dir / _SCRIPTS / name


def python_request() -> tuple[str, ...]:
    """uv's options for the Python that an environment is made with.

    A frozen program cannot lend its own: there uv takes one of the system, or fetches one.
    """
    if getattr(sys, "frozen", False):
        return ("--python", ">=3.11,<3.14")
    return ("--python", sys.executable, "--no-python-downloads")


def uv_environment(
    base: Mapping[str, str], *, cache_dir: Path, python_dir: Path
) -> dict[str, str]:
    """The environment of a uv process; blocking, since pip is asked for its settings.

    What a person told pip (mirrors, proxies, certificates) holds for uv too, unless they told uv
    something else.
    """
    kept = {name: value for name, value in base.items() if name not in _NEVER_PASSED}
    told = {
        _UV_VARIABLES[name]: value
        for name, value in pip_settings().items()
        if name in _UV_VARIABLES
    }
    if "UV_FIND_LINKS" in told:  # pip has blanks between several of them, uv commas
        told["UV_FIND_LINKS"] = ",".join(told["UV_FIND_LINKS"].split())
    return {
        **told,
        "UV_SYSTEM_CERTS": "1",
        "UV_HTTP_TIMEOUT": "60",
        **kept,
        "UV_CACHE_DIR": str(cache_dir),
        "UV_PYTHON_INSTALL_DIR": str(python_dir),
        # Every file is held to its hash, so it does not matter which index has it.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }


_NEVER_PASSED: Final = frozenset(
    {"VIRTUAL_ENV", "CONDA_PREFIX", "UV_PYTHON", "UV_LINK_MODE", "UV_NO_CACHE", "UV_OFFLINE"}
)


def pip_settings() -> dict[str, str]:
    """What pip is set to, by its files and variables, if it is here to be asked. Blocking."""
    is_frozen = getattr(sys, "frozen", False)
    if not is_frozen and importlib.util.find_spec("pip") is None:
        return {}
    # In a frozen program pip is a part of the engine's executable.
    pip = (engine_program(), "pip") if is_frozen else (sys.executable, "-P", "-m", "pip")
    try:
        answer = subprocess.run(
            [*pip, "config", "list"],
            env={**os.environ, "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PIP_SECONDS,
            check=False,
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_pip_settings(answer)


def parse_pip_settings(answer: str) -> dict[str, str]:
    """The settings in what `pip config list` prints; variables go before files, as in pip."""
    settings: dict[str, str] = {}
    for line in sorted(answer.splitlines(), key=lambda line: line.startswith(":env:")):
        match = _PIP_LINE.fullmatch(line.strip())
        if match is None:
            continue
        try:
            value = ast.literal_eval(match[2])
        except (SyntaxError, ValueError):
            continue
        if isinstance(value, str):
            settings[match[1]] = " ".join(value.split())
    return settings
