"""Makes the reproducibility record of a pair: files, versions, machine, contract, measurements."""

from __future__ import annotations

import asyncio
import json
import platform
from typing import TYPE_CHECKING, Final

from dflash_desktop import __version__
from dflash_desktop.domain.devices import choose_device
from dflash_desktop.domain.file_names import RECORD_FOLDER
from dflash_desktop.domain.library import ModelCondition
from dflash_desktop.domain.pair_contract import check_contract, verdict_of
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.reproducibility import (
    RECORD_VERSION,
    PairRecord,
    RecordedDevice,
    RecordedFile,
    RecordedFinding,
    RecordedMachine,
    RecordedMeasurement,
    RecordedModel,
    RecordedRun,
)
from dflash_desktop.services.file_hashing import hash_files
from dflash_desktop.services.gguf_completion import SOURCE_NAME as GGUF_SOURCE_NAME
from dflash_desktop.services.model_inspection import inspect_model, installed_runtime
from dflash_desktop.services.model_manifest import utc_now
from dflash_desktop.services.recorded_marks import last_check
from dflash_desktop.services.repair_record import repaired_files
from dflash_desktop.workers.model_folder import fingerprint
from dflash_desktop.workers.package_version import package_version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.library import InstalledModel, WorkProgress
    from dflash_desktop.domain.model_facts import ModelFacts
    from dflash_desktop.domain.pair_contract import Finding
    from dflash_desktop.services.check_history import CheckHistory
    from dflash_desktop.services.hardware_probe import HardwareProbe
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.pair_library import PairLibrary

_PACKAGES: Final = ("openvino", "openvino-genai", "openvino-tokenizers")
_EXPORT_ENTRIES: Final = frozenset(
    {"Runtime_version", "OpenVINO Runtime", "optimum", "nncf", "conversion_parameters"}
)
_TEXT_LIMIT: Final = 200
_FILE_LIMIT: Final = 20_000
EXPORT_SOURCE_NAME: Final = "export_source.json"
"""Says in an exported model's folder what it was made from, and how."""
_SOURCE_NAMES: Final = (GGUF_SOURCE_NAME, EXPORT_SOURCE_NAME)
_SOURCE_LIMIT_BYTES: Final = 1 << 20


class RecordMaker:
    """Looks only; the one slow part is hashing what no manifest tells."""

    def __init__(
        self,
        *,
        library: ModelLibrary,
        pairs: PairLibrary,
        checks: CheckHistory,
        measurements: MeasurementStore,
        probe: HardwareProbe,
    ) -> None:
        self._library = library
        self._pairs = pairs
        self._checks = checks
        self._measurements = measurements
        self._probe = probe

    async def make(
        self,
        target_dir: Path,
        draft_dir: Path | None,
        *,
        on_progress: Callable[[WorkProgress], None] = lambda _: None,
    ) -> PairRecord:
        """The record of these folders, here and now. Raises `AppError`."""
        folders = {"target": target_dir, **({"draft": draft_dir} if draft_dir else {})}
        facts = {s: await asyncio.to_thread(inspect_model, f) for s, f in folders.items()}
        findings = check_contract(facts["target"], facts.get("draft"), runtime=installed_runtime())
        models = [
            await self._model(subject, folder, facts[subject], on_progress)
            for subject, folder in folders.items()
        ]
        hardware, devices = await self._probe.look()
        ids = await asyncio.to_thread(self._pairs.ids_of, target_dir, draft_dir)
        check = await asyncio.to_thread(last_check, self._checks, ids)
        reports = await asyncio.to_thread(self._reports, target_dir, draft_dir)
        return PairRecord(
            record_version=RECORD_VERSION,
            made_at=utc_now(),
            versions=_versions(),
            machine=_machine(hardware, devices),
            models=tuple(models),
            verdict=str(verdict_of(findings)),
            findings=tuple(map(_finding, findings)),
            check=check,
            measurements=tuple(map(_measurement, reports)),
            commands=tuple(_commands(models)),
        )

    async def _model(
        self,
        subject: str,
        folder: Path,
        facts: ModelFacts,
        on_progress: Callable[[WorkProgress], None],
    ) -> RecordedModel:
        known = self._known(folder)
        if known is not None:
            files = tuple(
                RecordedFile(file.path, file.size_bytes, file.sha256)
                for file in sorted(known.manifest.files, key=lambda file: file.path)
            )
        else:
            files = await _hashed(folder, on_progress)
        return RecordedModel(
            subject=subject,
            name=known.id if known else facts.name,
            kind=str(facts.kind()),
            repo_id=known.manifest.repo_id if known else "",
            commit=known.manifest.commit if known else "",
            precision=known.manifest.precision if known else "",
            exported_with=exported_with(facts),
            made_from=await asyncio.to_thread(_made_from, folder),
            repaired=await asyncio.to_thread(repaired_files, folder),
            hashes_from="manifest" if known else "computed",
            files=files,
        )

    def _known(self, folder: Path) -> InstalledModel | None:
        """The library's model in this folder, if its manifest says what every file is."""
        for model in self._library.models():
            is_whole = model.condition is ModelCondition.VERIFIED
            if is_whole and model.path == folder and all(f.sha256 for f in model.manifest.files):
                return model
        return None

    def _reports(self, target_dir: Path, draft_dir: Path | None) -> tuple[BenchReport, ...]:
        try:
            return self._measurements.of_pair(fingerprint(target_dir, draft_dir))
        except OSError:  # no graph by the usual name: nothing was measured
            return ()


async def _hashed(
    folder: Path, on_progress: Callable[[WorkProgress], None]
) -> tuple[RecordedFile, ...]:
    try:
        sizes = await asyncio.to_thread(_sizes, folder)
    except OSError as error:
        raise AppError(_unreadable(folder, error)) from error
    paths = {name: folder / name for name in sizes}
    hashes = await hash_files(paths, total_bytes=sum(sizes.values()), on_progress=on_progress)
    files = []
    for name in sorted(sizes):
        sha256 = hashes[name]
        if isinstance(sha256, OSError):
            raise AppError(_unreadable(folder, sha256)) from sha256
        files.append(RecordedFile(name, sizes[name], sha256))
    return tuple(files)


def _sizes(folder: Path) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0].casefold() == RECORD_FOLDER or not path.is_file():
            continue
        if len(sizes) == _FILE_LIMIT:
            raise OSError(f"more than {_FILE_LIMIT} files")
        sizes[name] = path.stat().st_size
    return sizes


def _unreadable(folder: Path, error: OSError) -> Problem:
    return Problem(
        code="folder_unreadable",
        headline=f"“{folder.name}” cannot be read to its end.",
        advice="Check that its disk is connected and that you may open all of its files.",
        detail=str(error),
    )


def exported_with(facts: ModelFacts) -> dict[str, str]:
    """The tools and settings that a model was exported with, as its graph itself says."""
    entries = {} if facts.graph is None else facts.graph.rt_info
    return {
        "/".join(path): value[:_TEXT_LIMIT]
        for path, value in entries.items()
        if path[0] in _EXPORT_ENTRIES
    }


def _made_from(folder: Path) -> dict[str, str]:
    """What an import or an export noted of its source; whoever wrote it."""
    for name in _SOURCE_NAMES:
        try:
            with (folder / name).open("rb") as stream:
                loaded = json.loads(stream.read(_SOURCE_LIMIT_BYTES))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(loaded, dict):
            return {str(key)[:_TEXT_LIMIT]: str(loaded[key])[:_TEXT_LIMIT] for key in loaded}
    return {}


def _versions() -> Mapping[str, str]:
    found = {"dflash-desktop": __version__, "python": platform.python_version()}
    return {**found, **{package: package_version(package) for package in _PACKAGES}}


def _machine(hardware: HardwareReport, report: DeviceReport) -> RecordedMachine:
    try:
        chosen = choose_device(report).id
    except AppError:
        chosen = ""
    return RecordedMachine(
        os=hardware.os,
        cpu=hardware.cpu,
        memory_bytes=hardware.memory.total_bytes,
        power_source=str(hardware.power.source),
        power_mode=hardware.power.mode or "",
        devices=tuple(
            RecordedDevice(one.id, one.full_name, one.driver, one.memory_bytes)
            for one in report.devices
        ),
        chosen_device=chosen,
    )


def _finding(finding: Finding) -> RecordedFinding:
    return RecordedFinding(
        code=finding.code,
        severity=str(finding.weight),
        subject=str(finding.subject),
        expected=finding.expected,
        found=finding.found,
        where=finding.where,
    )


def _measurement(report: BenchReport) -> RecordedMeasurement:
    return RecordedMeasurement(
        measured_at=report.measured_at,
        device_name=report.key.device_name,
        driver=report.key.driver,
        runtime=report.key.runtime,
        kv_cache_precision=str(report.kv_cache_precision),
        power_source=report.power_source,
        is_fast=report.is_fast,
        chosen_assistant_tokens=report.chosen.assistant_tokens,
        chosen_speedup=report.chosen.speedup,
        baseline_tokens_per_second=report.baseline_tokens_per_second,
        runs=tuple(
            RecordedRun(
                prompt_kind=str(result.prompt.kind),
                assistant_tokens=run.assistant_tokens,
                baseline_tokens_per_second=run.baseline_tokens_per_second,
                tokens_per_second=run.tokens_per_second,
                tokens_per_step=run.tokens_per_step,
                is_identical=run.identical,
            )
            for result in report.prompts
            for run in result.runs
        ),
    )


def _commands(models: list[RecordedModel]) -> list[str]:
    """What to type elsewhere; the models' names stand for where they are there."""
    lines = [
        f"dflash-desktop pull {model.repo_id} --revision {model.commit}"
        for model in models
        if model.repo_id and model.commit
    ]
    words = " ".join(model.subject.upper() for model in models)
    options = " ".join(f"--{model.subject} {model.subject.upper()}" for model in models)
    return [*lines, f"dflash-desktop verify {words}", f"dflash-desktop bench {options}"]
