"""`dflash-engine self-test`: is everything here that the engine and the fetcher need?

A frozen program starts and answers `--version` without any of OpenVINO's plugins: they are opened
by name, and so nothing that follows imports finds them. What is opened by name is therefore
looked for by name, and then used.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.self_check import SelfCheck, all_passed
from dflash_desktop.workers.hub_http import http_client
from dflash_desktop.workers.no_internet import forbid_internet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MEND: Final = (
    "Install the program again; if it comes back, a virus scanner may have taken a file."
)

LIBRARIES: Final = {
    "openvino": (
        "openvino",
        "openvino_ir_frontend",
        "openvino_intel_cpu_plugin",
        "openvino_intel_gpu_plugin",
        "tbb",
        "tbbbind",
        "tbbmalloc",
        *(("hwloc",) if sys.platform == "linux" else ()),
    ),
    "openvino_genai": ("openvino_genai",),
    "openvino_tokenizers": ("openvino_tokenizers",),
}
"""Each package and the shared libraries in it that this program cannot do without."""

_PACKAGES: Final = ("openvino", "openvino_genai", "openvino_tokenizers")
_FOR_DOWNLOADS: Final = ("ssl", "huggingface_hub", "truststore", "pip")
_PICTURE_LIBRARIES: Final = ("jpg", "zlib", "webp", "avif", "libtiff", "jpg_2000", "littlecms2")
_PRODUCT: Final = 2.0
_RED: Final = (254, 0, 0)


def main() -> None:
    """Print one JSON object, or with `--text` a line for each check; 1 if one of them failed."""
    # As in every worker: nothing of OpenVINO may find the package that reports its import.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # what import checks
    forbid_internet()
    checks = run_checks()
    passed = all_passed(checks)
    if "--text" in sys.argv:
        lines = [f"{'ok    ' if c.passed else 'FAILED'} {c.code}: {c.detail}" for c in checks]
        sys.stdout.write("\n".join(lines) + "\n")
    else:
        fields = [{"code": c.code, "passed": c.passed, "detail": c.detail} for c in checks]
        sys.stdout.write(json.dumps({"passed": passed, "checks": fields}) + "\n")
    sys.stdout.flush()
    sys.exit(0 if passed else 1)


def run_checks() -> tuple[SelfCheck, ...]:
    """All checks of this executable, each whatever became of the others."""
    files = tuple(_library_checks())
    works: tuple[tuple[str, Callable[[], str]], ...] = (
        ("openvino", _openvino),
        ("genai", _genai),
        ("versions", _versions),
        ("devices", _devices),
        ("computing", _computing),
        ("models", _models),
        ("tokenizers", _tokenizers),
        ("graphics", _graphics),
        ("downloads", _downloads),
        ("pictures", _pictures),
    )
    return (*files, *(_checked(code, work) for code, work in works))


class _NotRightError(Exception):
    """Something is here and not as it should be."""


def _checked(code: str, work: Callable[[], str]) -> SelfCheck:
    try:
        return SelfCheck(code, True, work())
    except Exception as error:  # noqa: BLE001 - native code raises what it likes, and it is the answer
        words = " ".join(str(error).split())[:600]
        return SelfCheck(code, False, f"{words or type(error).__name__} {_MEND}")


def _library_checks() -> Iterator[SelfCheck]:
    for package, names in LIBRARIES.items():
        folder = _folder(package)
        if folder is None:
            yield SelfCheck(
                f"files.{package}", False, f"The package {package} is missing. {_MEND}"
            )
            continue
        there = {path.name for path in folder.rglob("*") if path.is_file()}
        absent = [name for name in names if not any(_is_library(one, name) for one in there)]
        found = f"{len(names)} needed here" if not absent else f"Missing: {', '.join(absent)}."
        yield SelfCheck(
            f"files.{package}", not absent, found if not absent else f"{found} {_MEND}"
        )


def _is_library(file_name: str, name: str) -> bool:
    """ "libtbb.so.12", "tbb12.dll" and "tbb.dll" are tbb; "libtbbmalloc.so.2" is not."""
    stem, _, rest = file_name.lower().removeprefix("lib").partition(".")
    return stem.rstrip("0123456789_") == name and rest.startswith(("so", "dll", "dylib"))


def _folder(package: str) -> Path | None:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _openvino() -> str:
    import openvino

    return f"OpenVINO {openvino.get_version()}"


def _genai() -> str:
    import openvino_genai

    return f"OpenVINO GenAI {openvino_genai.get_version()}"


def _versions() -> str:
    """The three are of one release; another mixture loads and then fails in odd places."""
    found = {package: _version(package) for package in _PACKAGES}
    releases = {".".join(one.split("-")[0].split(".")[:3]) for one in found.values()}
    words = ", ".join(f"{package} {one}" for package, one in found.items())
    if len(releases) != 1:
        raise _NotRightError(f"These do not belong together: {words}.")
    return words


def _version(package: str) -> str:
    try:
        return version(package.replace("_", "-"))
    except PackageNotFoundError:  # a frozen program may come without its packages' papers
        module = import_module(f"{package}.__version__" if "tokenizers" in package else package)
        return str(module.__version__)


def _devices() -> str:
    import openvino as ov

    devices = [str(name) for name in ov.Core().available_devices]
    if "CPU" not in devices:
        raise _NotRightError(f"OpenVINO finds no processor, only: {devices or 'nothing'}.")
    return ", ".join(devices)


def _computing() -> str:
    """A product of two matrices, compiled for the processor."""
    import numpy as np
    import openvino as ov
    from openvino import opset13 as ops

    shape = [2, 2]
    left = ops.parameter(shape, np.float32)
    model = ov.Model([ops.matmul(left, left, False, False)], [left])
    compiled = ov.Core().compile_model(model, "CPU")
    product = compiled([np.ones(shape, np.float32)])[0]
    if not np.allclose(product, _PRODUCT):
        raise _NotRightError(f"The processor computes wrongly: {product.tolist()}.")
    return "A small model computes rightly."


def _models() -> str:
    """Reads the draft that comes with the program, which needs the front end for such files."""
    import openvino as ov

    from dflash_desktop.paths import resources_dir

    path = resources_dir() / "starter" / "draft" / "openvino_model.xml"
    return f"{len(ov.Core().read_model(path).get_ops())} operations read"


def _tokenizers() -> str:
    """The library that GenAI opens by its place when it meets a tokenizer."""
    import openvino as ov

    folder = _folder("openvino_tokenizers")
    paths = [] if folder is None else sorted((folder / "lib").glob("*openvino_tokenizers.*"))
    if not paths:
        raise _NotRightError("The tokenizers' library is missing.")
    ov.Core().add_extension(str(paths[0]))
    return paths[0].name


def _graphics() -> str:
    """The graphics plugin opens; without a driver on this machine that is no fault of ours."""
    import openvino as ov

    try:
        versions = ov.Core().get_versions("GPU")
    except RuntimeError as error:
        if "OpenCL" not in str(error):
            raise
        return "Not tried: this system has no OpenCL loader, which graphics drivers bring."
    return f"plugin {next(iter(versions.values())).build_number}"


def _downloads() -> str:
    missing = [name for name in _FOR_DOWNLOADS if find_spec(name) is None]
    if missing:
        raise _NotRightError(f"Missing: {', '.join(missing)}.")
    for name in _FOR_DOWNLOADS[:-1]:
        import_module(name)
    return ", ".join((*_FOR_DOWNLOADS, http_client().__name__))


def _pictures() -> str:
    """What Pillow and libheif were built with, and a picture through the one that is used most."""
    from io import BytesIO

    import pi_heif
    from PIL import Image, features

    missing = [name for name in _PICTURE_LIBRARIES if not features.check(name)]
    if missing:
        raise _NotRightError(f"Pillow was built without: {', '.join(missing)}.")
    stream = BytesIO()
    Image.new("RGB", (8, 8), _RED).save(stream, "JPEG", quality=95)
    red = Image.open(stream).convert("RGB").getpixel((4, 4))
    if not isinstance(red, tuple) or max(abs(a - b) for a, b in zip(red, _RED, strict=True)) > 2:
        raise _NotRightError(f"A red picture comes back as {red}.")
    return f"Pillow {version('pillow')}, libheif {pi_heif.libheif_version()}"


if __name__ == "__main__":
    main()
