"""Which Debian packages a folder of programs needs, from the libraries that they link to."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

import check_system

if TYPE_CHECKING:
    from pathlib import Path

_LINKED: Final = re.compile(r"\(NEEDED\).*\[(.+)\]")
_ELF: Final = b"\x7fELF"

PACKAGES: Final = {
    **check_system.ALWAYS,
    **check_system.FOR_A_WINDOW,
    "ld-linux-x86-64.so.2": "libc6",
    "libc.so.6": "libc6",
    "libdl.so.2": "libc6",
    "libm.so.6": "libc6",
    "libpthread.so.0": "libc6",
    "libresolv.so.2": "libc6",
    "librt.so.1": "libc6",
    "libutil.so.1": "libc6",
    "libstdc++.so.6": "libstdc++6",
    "libgcc_s.so.1": "libgcc-s1",
    "libbrotlicommon.so.1": "libbrotli1",
    "libbrotlidec.so.1": "libbrotli1",
    "libbz2.so.1.0": "libbz2-1.0",
    "libcrypto.so.3": "libssl3",
    "libssl.so.3": "libssl3",
    "libexpat.so.1": "libexpat1",
    "libffi.so.8": "libffi8",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "liblzma.so.5": "liblzma5",
    "libuuid.so.1": "libuuid1",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
"""Each library's package in Debian 12."""

RENAMED: Final = {"libssl3": "libssl3t64", "libglib2.0-0": "libglib2.0-0t64"}
"""What Ubuntu 24.04 and Debian 13 call those whose times of 32-bit systems became longer."""

OPTIONAL: Final = {"libOpenCL.so.1": "ocl-icd-libopencl1"}
"""Only graphics need it, and the program says how to get it."""


def linked_libraries(folder: Path) -> set[str]:
    """What the programs and libraries in `folder` link to and do not find in it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    inside = {path.name for path in files}
    linked: set[str] = set()
    for path in files:
        if not path.is_symlink() and _is_program(path):
            shown = subprocess.run(
                ["readelf", "--dynamic", "--wide", str(path)],
                capture_output=True,
                text=True,
                env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
                check=True,
            )
            linked.update(_LINKED.findall(shown.stdout))
    return linked - inside


def dependencies(libraries: set[str]) -> list[str]:
    """As in a package's `Depends`, sorted. Raises `ValueError` for a library nobody knows."""
    unknown = libraries - PACKAGES.keys() - OPTIONAL.keys()
    if unknown:
        raise ValueError(f"no package is known for {', '.join(sorted(unknown))}")
    names = {PACKAGES[library] for library in libraries - OPTIONAL.keys()}
    return [f"{RENAMED[name]} | {name}" if name in RENAMED else name for name in sorted(names)]


def _is_program(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_ELF)) == _ELF
