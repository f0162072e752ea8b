"""Kills a program that exports, again and again, and tells what that cost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.services.export_guard import MARK_VARIABLE
from dflash_desktop.services.export_journal import known_export_ids
from dflash_desktop.services.model_store import own_models
from tests.fakes.export_world import ExportWorld
from tests.fakes.fake_exporter import HOW_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

_GONE_SECONDS = 5.0
_LONGEST_SECONDS = 120


@dataclass(frozen=True)
class KilledExport:
    """What came of it; `half` are models that were in the library without being whole."""

    kills: int
    seconds: float
    models: tuple[str, ...]
    half: tuple[str, ...]
    strays: int
    slowest_end_seconds: float  # from a kill until no process of the export was left
    left_over: tuple[str, ...]
    kept_stages: int  # kills after which a finished stage did not have to be repeated


def kill_exports(folder: Path, *, kills: int, longest_seconds: float, seed: int) -> KilledExport:
    """Export a pair; the program dies `kills` times, each time within `longest_seconds`."""
    moments = random.Random(seed)
    folder.mkdir(exist_ok=True)
    paths = ExportWorld(folder).paths
    began = time.monotonic()
    half: list[str] = []
    done_kills = kept = strays = 0
    slowest = 0.0
    ids: frozenset[str] = frozenset()  # others may export on this machine, too
    while done_kills < kills:
        process = _start(folder)
        try:
            process.communicate(timeout=moments.uniform(0.2, longest_seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            done_kills += 1
        else:
            _undo(folder)  # it came to its end: the next one shall have something to kill
        killed_at = time.monotonic()
        ids |= known_export_ids(paths.exports_dir)
        while (alive := _marked(ids)) and time.monotonic() - killed_at < _GONE_SECONDS:
            time.sleep(0.02)
        slowest = max(slowest, time.monotonic() - killed_at)
        strays += alive
        half += [model.id for model in own_models(paths.models_dir) if not _is_whole(model.path)]
        kept += any(
            (paths.incoming_dir / p / "target").is_dir() for p in _work(paths.incoming_dir)
        )
    process = _start(folder)
    _, error = process.communicate(timeout=_LONGEST_SECONDS)
    if process.returncode != 0:
        raise AssertionError(f"the last run ended with {process.returncode}: {error}")
    return KilledExport(
        kills=done_kills,
        seconds=time.monotonic() - began,
        models=tuple(model.id for model in own_models(paths.models_dir)),
        half=tuple(half),
        strays=strays,
        slowest_end_seconds=slowest,
        left_over=(*_work(paths.incoming_dir), *(f.name for f in paths.exports_dir.iterdir())),
        kept_stages=kept,
    )


def _start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        (sys.executable, "-m", "tests.fakes.export_program", str(folder)),
        env=os.environ | {HOW_VARIABLE: "slow"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _undo(folder: Path) -> None:
    models_dir = ExportWorld(folder).paths.models_dir
    for model in own_models(models_dir):
        for path in sorted(model.path.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        model.path.rmdir()


def _work(incoming_dir: Path) -> list[str]:
    return [p.name for p in incoming_dir.iterdir()] if incoming_dir.is_dir() else []


def _is_whole(folder: Path) -> bool:
    names = {path.name for path in folder.iterdir()}
    return {"openvino_model.xml", "openvino_model.bin", "config.json", "README.md"} <= names


def _marked(ids: frozenset[str]) -> int:
    count = 0
    for process in psutil.process_iter():
        try:
            is_one = process.environ().get(MARK_VARIABLE) in ids
            count += is_one and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            continue
    return count
