"""Export environments of one tiny package, from an index on this machine."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from dflash_desktop.services.export_environments import ExportEnvironments
from dflash_desktop.services.export_lock import platform_name
from tests.fakes.library_world import app_paths
from tests.fakes.package_index import CONTENT, PACKAGE, VERSION, tiny_wheel

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.fakes.package_index import PackageIndex

IDS = ("transformers-5.5", "transformers-5.2", "transformers-4.57")
MODULE = "tiny_model"


def write_locks(
    folder: Path, *, wheel: bytes | None = None, unpacked_bytes: int = len(CONTENT), note: str = ""
) -> Path:
    """Locks that hold the tiny package to its hash; `note` makes another lock of it."""
    digest = hashlib.sha256(tiny_wheel() if wheel is None else wheel).hexdigest()
    text = (
        f"# {note}\n# {len(tiny_wheel())} {unpacked_bytes}\n"
        f"{PACKAGE}=={VERSION} \\\n    --hash=sha256:{digest}\n"
    )
    place = folder / platform_name()
    place.mkdir(parents=True, exist_ok=True)
    for name in IDS:
        (place / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "development.txt").write_text("# estimated: 1000\n", encoding="utf-8")
    return folder


def environments(home: Path, *, locks_dir: Path | None = None) -> ExportEnvironments:
    """Those of one home, from its own locks."""
    return ExportEnvironments(paths=app_paths(home), locks_dir=locks_dir or home / "locks")


def index_settings(index: PackageIndex | None) -> dict[str, str]:
    """Variables that make this index the only one; None: one that nobody answers for."""
    return {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": index.url if index else "http://127.0.0.1:9/simple/",
        "UV_HTTP_RETRIES": "0",
        "NO_PROXY": "127.0.0.1",
    }


def use_index(monkeypatch: pytest.MonkeyPatch, index: PackageIndex | None) -> None:
    """Tell pip of it: uv shall learn it from there."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    for name, value in index_settings(index).items():
        monkeypatch.setenv(name, value)
