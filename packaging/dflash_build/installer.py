"""The installer for Windows, by Inno Setup, and the manifests that winget reads."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dflash_build import layout

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT: Final = layout.PACKAGING / "windows" / "installer.iss"
DEFINED_HERE: Final = ("AppVersion", "SourceDir", "IconFile", "OutDir", "OutName")

_WINGET: Final = layout.PACKAGING / "windows" / "winget"
_IDENTIFIER: Final = "DFlashDesktop.DFlashDesktop"
_SOURCE: Final = re.compile(r'^Source: "\{#SourceDir\}\\([^"]+)"', re.MULTILINE)


def write(folder: Path, out_dir: Path, name: str) -> Path:
    """Compile the installer. Raises `FileNotFoundError` where Inno Setup is not installed."""
    compiler = shutil.which("iscc")
    if compiler is None:
        raise FileNotFoundError("Inno Setup's compiler (iscc) is not on the PATH")
    if absent := missing_files(folder):
        raise FileNotFoundError(f"the frozen folder lacks {', '.join(absent)}")
    out_name = f"{name}-setup"
    values = (
        layout.project().version,
        str(folder),
        str(folder.parent / "work" / "icons" / f"{layout.PACKAGE_NAME}.ico"),
        str(out_dir),
        out_name,
    )
    defines = [f"/D{define}={value}" for define, value in zip(DEFINED_HERE, values, strict=True)]
    subprocess.run([compiler, "/Qp", *defines, str(SCRIPT)], check=True)
    return out_dir / f"{out_name}.exe"


def named_files() -> tuple[str, ...]:
    """What the script takes from the frozen folder, with slashes; a `*` at the end is a folder."""
    text = SCRIPT.read_text(encoding="utf-8")
    return tuple(name.replace("\\", "/") for name in _SOURCE.findall(text))


def missing_files(folder: Path) -> list[str]:
    """Those of `named_files` that are not there."""
    return [name for name in named_files() if not (folder / name.removesuffix("/*")).exists()]


def write_winget(installer: Path, base_url: str) -> Path:
    """The manifests, in a folder beside `installer`, which will be found below `base_url`."""
    folder = installer.parent / "winget"
    folder.mkdir(exist_ok=True)
    with installer.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest().upper()
    words = {
        "@VERSION@": layout.project().version,
        "@DATE@": datetime.fromtimestamp(layout.source_date(), UTC).date().isoformat(),
        "@URL@": f"{base_url.rstrip('/')}/{installer.name}",
        "@SHA256@": digest,
    }
    for template in _WINGET.glob("*.yaml"):
        text = template.read_text(encoding="utf-8")
        for mark, word in words.items():
            text = text.replace(mark, word)
        infix = "" if template.stem == "version" else f".{template.stem}"
        (folder / f"{_IDENTIFIER}{infix}.yaml").write_text(text, encoding="utf-8")
    return folder
