"""Writes what OpenVINO Model Server reads, and reads what it has logged. Blocking."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING, BinaryIO, Final

from dflash_desktop.domain.ovms_files import (
    CONFIG_FILE,
    GRAPH_FILE,
    MARK,
    ServedPair,
    config_text,
    graph_text,
)
from dflash_desktop.domain.ovms_log import LogReading, read_ovms_log
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.atomic_file import write_atomically, write_problem

if TYPE_CHECKING:
    from pathlib import Path

_LOG_LIMIT_BYTES: Final = 32 << 20
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),  # PowerShell's `>`
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def write_ovms_files(pair: ServedPair, folder: Path) -> tuple[Path, ...]:
    """Write the graph and the configuration into this folder, over earlier ones of ours only.

    Raises `AppError`: "output_taken" for files of somebody else, or why nothing can be written.
    """
    graph, config = folder / GRAPH_FILE, folder / CONFIG_FILE
    try:
        if _is_foreign(graph) or (config.exists() and not graph.exists()):
            raise AppError(_taken(folder))
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(graph, graph_text(pair).encode())
        write_atomically(config, config_text(pair, folder.as_posix()).encode())
    except OSError as error:
        problem = write_problem(error, what="The server's graph", kept="The models are untouched.")
        raise AppError(problem) from error
    return graph, config


def read_log(file: BinaryIO) -> LogReading:
    """Judge a log, of a very long one the end. Raises `AppError` ("log_unreadable")."""
    try:
        return read_ovms_log(_text(file).splitlines())
    except OSError as error:
        raise AppError(
            Problem(
                code="log_unreadable",
                headline="The log cannot be read.",
                advice="Check its path and rights.",
                detail=str(error),
            )
        ) from error


def _text(file: BinaryIO) -> str:
    head = file.read(_LOG_LIMIT_BYTES)
    tail = b""
    while piece := file.read(_LOG_LIMIT_BYTES):
        tail = (tail + piece)[-_LOG_LIMIT_BYTES:]
    encoding = next((name for bom, name in _BOMS if head.startswith(bom)), "utf-8")
    if not tail:
        return head.decode(encoding, "replace")
    return tail[len(tail) % 2 :].decode(encoding.removesuffix("-sig"), "replace")


def _is_foreign(graph: Path) -> bool:
    try:
        with graph.open("rb") as file:
            return file.read(len(MARK)) != MARK.encode()
    except FileNotFoundError:
        return False


def _taken(folder: Path) -> Problem:
    return Problem(
        code="output_taken",
        headline=f"“{folder.name}” holds a server's files already.",
        advice=f"{GRAPH_FILE} there was not written by this program, so it stays. Name another "
        "folder with --output.",
        detail=os.fspath(folder),
    )
