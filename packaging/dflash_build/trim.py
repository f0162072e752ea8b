"""What the frozen program leaves out, and why; `packaging/dflash.spec` obeys, tests look."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

NEVER: Final = {
    "tkinter": "Python's own toolkit; the window is Qt",
    "unittest": "for tests",
    "readline": "no command asks back; it is under the GPL",
    "sqlite3": "nothing is kept in a database",
    "curses": "no such screens",
    "pydoc": "for developers",
    "pytest": "for tests",
    "setuptools": "nothing is built by a person's program",
    "openvino_telemetry": "no telemetry; workers make it unimportable anyway",
    "openvino.tools": "converts models of other frameworks, which export environments do",
    "openvino.torch": "a back end for torch, which is not here",
    "openvino.frontend.pytorch": "as above",
    "openvino.frontend.tensorflow": "as above",
    "openvino.frontend.jax": "as above",
    "openvino.frontend.paddle": "as above",
    "openvino.frontend.onnx": "as above",
    "numpy.f2py": "compiles Fortran",
    "numpy.testing": "for tests",
    "IPython": "for developers",
    "PIL.ImageQt": "pictures are read in a process without Qt",
    "PIL.ImageTk": "no tkinter",
}
"""Python modules that neither executable has."""

_NATIVE: Final = (
    *("openvino", "openvino_genai", "openvino_tokenizers", "numpy", "PIL"),
    *("pip", "huggingface_hub", "hf_xet", "httpx2", "truststore"),
)
NOT_IN_WINDOW: Final = dict.fromkeys(
    _NATIVE, "the window's process loads no native engine, and downloads nothing itself"
)
NOT_IN_ENGINE: Final = dict.fromkeys(
    ("PySide6", "shiboken6", "qasync", "keyring", "markdown_it"),
    "workers draw nothing and keep no secrets",
)


@dataclass(frozen=True, slots=True)
class Drop:
    """Files whose place in the folder matches `pattern` (as in a shell; `*` crosses folders)."""

    pattern: str
    why: str


DROPS: Final = (
    Drop("PySide6/Qt*/translations/*", "the program speaks English; Qt's own words are few"),
    Drop("PySide6/translations/*", "as above, the place on Windows"),
    Drop("*Qt6Qml*", "no QML in this program"),
    Drop("*Qt6Quick*", "no QML in this program"),
    Drop("*Qt6VirtualKeyboard*", "drags in QML"),
    Drop("*/platforminputcontexts/*virtualkeyboard*", "drags in QML"),
    Drop("*Qt6Pdf*", "shows no PDF"),
    Drop("*/imageformats/*qpdf*", "shows no PDF"),
    Drop("*/imageformats/*qtiff*", "pictures are read by Pillow, in a process of their own"),
    Drop("*/imageformats/*qtga*", "as above"),
    Drop("*/imageformats/*qwbmp*", "as above"),
    Drop("*/imageformats/*qicns*", "as above"),
    Drop("*/imageformats/*qgif*", "as above"),
    Drop("*/platforms/*qvnc*", "a server for screens far away"),
    Drop("*/platforms/*qlinuxfb*", "for machines without a desktop"),
    Drop("*/platforms/*qeglfs*", "for machines without a desktop"),
    Drop("*/platforms/*qvkkhrdisplay*", "for machines without a desktop"),
    Drop("*/platforms/*qminimal*", "for developers of Qt"),
    Drop("*/egldeviceintegrations/*", "for machines without a desktop"),
    Drop("*Qt6EglF[sS]*", "for machines without a desktop"),
    Drop("*/platformthemes/*qgtk3*", "drags in GTK of this machine; the program has its own look"),
    Drop("*/generic/*", "touch screens and tablets without a desktop"),
    Drop("*/networkinformation/*", "the program asks no system whether it is online"),
    Drop("*/tls/*", "Qt makes no connection but to its own second start, on this machine"),
    Drop("*/wayland-graphics-integration-server/*", "for compositors"),
    Drop("*Qt6WaylandCompositor*", "for compositors"),
    Drop("*Qt6WaylandEglCompositor*", "for compositors"),
    Drop("*/opengl32sw.dll", "20 MB of a renderer for OpenGL, which nothing here uses"),
    Drop("*/d3dcompiler_47.dll", "for Qt Quick"),
    *(
        Drop(f"*openvino_{name}_frontend*", "reads models of other frameworks")
        for name in ("tensorflow", "tensorflow_lite", "pytorch", "paddle", "jax", "onnx")
    ),
    *(
        Drop(f"openvino/frontend/{name}/*", "as above, the part for Python")
        for name in ("tensorflow", "pytorch", "paddle", "jax", "onnx")
    ),
    Drop("*openvino_c.*", "the interface for C; everything here is C++ or Python"),
    Drop("*tbbmalloc_proxy*", "replaces malloc of whole programs; unused"),
    Drop("openvino/include/*", "for compilers"),
    Drop("openvino/cmake/*", "for compilers"),
    Drop("numpy/*/tests/*", "for tests"),
    Drop("*.pyi", "for type checkers"),
    Drop("*/__pycache__/*", "made anew where a Python wants it"),
    Drop("dflash_desktop/_resources/starter/training/*", "how the draft was made"),
    Drop("*/PIL/_imagingtk*", "no tkinter"),
    Drop("*/PIL/_webp_old*", "unused"),
)
"""Files that PyInstaller would take along."""

BROUGHT_ALONG: Final = re.compile(
    r"libxcb-(cursor|icccm|image|keysyms|render-util|util|xkb)\.so\..*|libpython3.*"
)
"""Libraries of this Linux that go into the folder: many desktops have none of them (case 99).

All others a system must give. They belong to its drivers, its fonts, its certificates and its
security updates: an Intel driver that a newer compiler built cannot be loaded into a process that
brought an older libstdc++ along, and the graphics would be gone without a word.
"""

_SYSTEM_FOLDERS: Final = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")


def reason_to_drop(place: str, source: str = "") -> str | None:
    """Why what comes from `source` is left out of `place` in the folder, or None to keep it."""
    place = place.replace("\\", "/")
    if _is_the_systems(place, source) and not BROUGHT_ALONG.fullmatch(place):
        return "the system's own (see BROUGHT_ALONG)"
    for drop in DROPS:
        if fnmatchcase(place, drop.pattern):
            return drop.why
    return None


def _is_the_systems(place: str, source: str) -> bool:
    """Python's own modules may come from there, too, but go into a folder."""
    return "/" not in place and source.startswith(_SYSTEM_FOLDERS)


_Entry = TypeVar("_Entry", bound=tuple[str, ...])


def kept(entries: Iterable[_Entry]) -> list[_Entry]:
    """PyInstaller's entries (place, source, kind) without what is left out."""
    return [entry for entry in entries if reason_to_drop(entry[0], entry[1]) is None]
