"""The program of an export's steps; it runs in the export environment, which lacks this app.

    export_program.py --threads N --temporary DIR run optimum-cli export openvino …
    export_program.py --threads N --temporary DIR copy-draft --source DIR OUTPUT
    export_program.py --threads N --temporary DIR tokenizer --source DIR OUTPUT
    export_program.py --threads N --temporary DIR unpack-gguf --source FILE OUTPUT

Standard output is the log. Lines that begin with the record separator are for the app: see
`export_report`. It ends with 0 when the step was done, else with 1 after it has said why.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

_PACKAGE = "dflash_desktop"


def main() -> None:
    """Do one step; the arguments say which."""
    if _PACKAGE not in sys.modules:
        _find_own_package()
    from dflash_desktop.workers.export_report import reported

    arguments = _arguments()
    _set_environment(arguments.threads, arguments.temporary)
    with reported():
        match arguments.part:
            case "run":
                from dflash_desktop.workers.export_conversion import run_exporter

                run_exporter(arguments.command)
            case "copy-draft":
                from dflash_desktop.workers.export_draft_copy import copy_draft

                copy_draft(arguments.source, arguments.output)
            case "tokenizer":
                from dflash_desktop.workers.export_tokenizer import convert_tokenizer

                convert_tokenizer(arguments.source, arguments.output)
            case _:
                from dflash_desktop.workers.export_gguf import unpack_gguf

                unpack_gguf(arguments.source, arguments.output, reference=arguments.reference)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="export_program", description=__doc__)
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--temporary", type=Path, default=None)
    parts = parser.add_subparsers(dest="part", required=True)
    run = parts.add_parser("run")
    run.add_argument("command", nargs=argparse.REMAINDER)
    for name in ("copy-draft", "tokenizer", "unpack-gguf"):
        part = parts.add_parser(name)
        part.add_argument("--source", type=Path, required=True)
        part.add_argument("--reference", type=Path, default=None)
        part.add_argument("output", type=Path)
    return parser.parse_args()


def _find_own_package() -> None:
    """Make this app's modules importable, and nothing that lies beside them.

    Its folder on the path would bring the app's own numpy and OpenVINO along, of other versions
    than the environment's.
    """
    folder = Path(__file__).resolve().parent.parent
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is no package")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = module
    spec.loader.exec_module(module)


def _set_environment(threads: int, temporary: Path | None) -> None:
    """Before anything native is imported: these are read once, when a library starts."""
    _limit_cores(threads)
    for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)
    os.environ |= {
        # All files are here by now. A question to a hub would tell it what is exported, and
        # fails where there is no network.
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if temporary is not None:
        temporary.mkdir(parents=True, exist_ok=True)
        os.environ |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
        os.environ["HF_HOME"] = str(temporary / "hub")
    # With None in its place importing it fails, which openvino and nncf take for "not installed".
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # what import checks


def _limit_cores(threads: int) -> None:
    """The libraries' own settings miss OpenVINO's threads; what the system allows, all obey."""
    if sys.platform == "linux":
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[-threads:] if threads > 0 else allowed)
    elif sys.platform == "win32":
        import ctypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        cores = min(os.cpu_count() or 1, 64)
        mask = ((1 << cores) - 1) & ~((1 << max(0, cores - threads)) - 1)
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetProcessAffinityMask.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        kernel.SetProcessAffinityMask(kernel.GetCurrentProcess(), mask)


if __name__ == "__main__":
    main()
