"""Two records side by side: what differs, and whether it can make a difference in speed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dflash_desktop.domain.reproducibility import PairRecord, RecordedCheck, RecordedModel

_WEIGHTS = (".bin", ".xml")
_NOT_READ = (".md", ".txt", ".gitattributes", "gguf_source.json", "export_source.json")
_TOOLS = ("optimum", "nncf", "Runtime_version", "OpenVINO")


class Explains(StrEnum):
    """Whether a difference can explain that one machine is faster."""

    LIKELY = "likely"
    POSSIBLE = "possible"
    NO = "no"


@dataclass(frozen=True, slots=True)
class RecordDifference:
    """One thing that is not the same; an empty text means that it is not there."""

    what: str
    left: str
    right: str
    explains: Explains
    why: str


def compare_records(left: PairRecord, right: PairRecord) -> tuple[RecordDifference, ...]:
    """All differences, those that are most likely to matter first."""
    found = [
        *_models(left, right),
        *_versions(left.versions, right.versions),
        *_machines(left, right),
        *_findings(left, right),
        *_checked(left, right),
        *_measured(left, right),
    ]
    order = list(Explains)
    return tuple(sorted(found, key=lambda one: order.index(one.explains)))


def _models(left: PairRecord, right: PairRecord) -> Iterator[RecordDifference]:
    for subject in ("target", "draft"):
        ours, theirs = left.model(subject), right.model(subject)
        if ours is None or theirs is None:
            if ours is not theirs:
                yield RecordDifference(
                    subject,
                    "" if ours is None else ours.name,
                    "" if theirs is None else theirs.name,
                    Explains.LIKELY,
                    "one side ran without it",
                )
            continue
        yield from _model(subject, ours, theirs)


def _model(subject: str, left: RecordedModel, right: RecordedModel) -> Iterator[RecordDifference]:
    for what, ours, theirs in (
        ("repository", left.repo_id, right.repo_id),
        ("commit", left.commit, right.commit),
        ("name", left.name, right.name),
    ):
        if ours != theirs:
            why = "a name alone changes nothing: the files below count"
            yield RecordDifference(f"{subject} {what}", ours, theirs, Explains.NO, why)
    for what, ours, theirs in (
        ("kind", left.kind, right.kind),
        ("precision", left.precision, right.precision),
    ):
        if ours != theirs:
            why = "another form of the model computes at another speed"
            yield RecordDifference(f"{subject} {what}", ours, theirs, Explains.LIKELY, why)
    if left.repaired != right.repaired:
        why = "a repair here rewrote what the runtime reads"
        ours, theirs = ", ".join(left.repaired), ", ".join(right.repaired)
        yield RecordDifference(f"{subject} repaired", ours, theirs, Explains.POSSIBLE, why)
    yield from _files(subject, left, right)
    yield from _entries(subject, left.exported_with, right.exported_with)


def _files(subject: str, left: RecordedModel, right: RecordedModel) -> Iterator[RecordDifference]:
    ours = {file.path: file for file in left.files}
    theirs = {file.path: file for file in right.files}
    for path in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(path), theirs.get(path)
        if one is not None and other is not None and one.sha256 == other.sha256:
            continue
        is_model = path.startswith("openvino_") and path.endswith(_WEIGHTS)
        is_graph = is_model and "tokenizer" not in path
        explains = Explains.LIKELY if is_graph else Explains.POSSIBLE
        why = "it is another model" if is_graph else "settings and tokenizers change the text"
        if path.lower().endswith(_NOT_READ):
            explains, why = Explains.NO, "nothing reads it when the model runs"
        yield RecordDifference(
            f"{subject} {path}",
            "" if one is None else f"{one.sha256[:12]}, {format_bytes(one.size_bytes)}",
            "" if other is None else f"{other.sha256[:12]}, {format_bytes(other.size_bytes)}",
            explains,
            why,
        )


def _entries(
    subject: str, left: Mapping[str, str], right: Mapping[str, str]
) -> Iterator[RecordDifference]:
    for key in sorted(left.keys() | right.keys()):
        ours, theirs = left.get(key, ""), right.get(key, "")
        if ours != theirs:
            is_tool = key.startswith(_TOOLS)
            explains = Explains.POSSIBLE if is_tool else Explains.NO
            why = "tools of other versions write other graphs" if is_tool else "a note of the tool"
            yield RecordDifference(f"{subject} export {key}", ours, theirs, explains, why)


def _versions(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[RecordDifference]:
    for name in sorted(left.keys() | right.keys()):
        ours, theirs = left.get(name, ""), right.get(name, "")
        if ours == theirs:
            continue
        if name.startswith("openvino"):
            why = "runtimes of other versions compute at other speeds"
            yield RecordDifference(name, ours, theirs, Explains.LIKELY, why)
        elif name == "dflash-desktop":
            why = "it sets the runtime's options"
            yield RecordDifference(name, ours, theirs, Explains.POSSIBLE, why)
        else:
            why = "the numbers are made in native code"
            yield RecordDifference(name, ours, theirs, Explains.NO, why)


def _machines(left: PairRecord, right: PairRecord) -> Iterator[RecordDifference]:
    one, other = left.machine, right.machine
    rows = (
        ("processor", one.cpu, other.cpu, Explains.LIKELY, "it computes, or feeds what computes"),
        ("chosen device", _chosen(left), _chosen(right), Explains.LIKELY, "it computes"),
        ("power source", one.power_source, other.power_source, Explains.LIKELY, _POWER),
        ("power mode", one.power_mode, other.power_mode, Explains.LIKELY, _POWER),
        ("memory", _size(one.memory_bytes), _size(other.memory_bytes), Explains.POSSIBLE, _MEMORY),
        ("system", one.os, other.os, Explains.POSSIBLE, "drivers differ from system to system"),
    )
    for what, ours, theirs, explains, why in rows:
        if ours != theirs:
            yield RecordDifference(what, ours, theirs, explains, why)
    drivers = {device.name: device.driver for device in one.devices}
    for device in other.devices:
        driver = drivers.get(device.name, device.driver)
        if driver != device.driver:
            why = "drivers of other versions compute at other speeds"
            what = f"driver of {device.name}"
            yield RecordDifference(what, driver, device.driver, Explains.LIKELY, why)


_POWER = "saving power slows a machine down"
_MEMORY = "what does not fit is swapped, and more modules are faster"


def _findings(left: PairRecord, right: PairRecord) -> Iterator[RecordDifference]:
    ours = {(one.code, one.severity) for one in left.findings if one.severity != "info"}
    theirs = {(one.code, one.severity) for one in right.findings if one.severity != "info"}
    for code, severity in sorted(ours ^ theirs):
        has = (code, severity) in ours
        why = "the contract is broken on one side only"
        words = f"{severity}: found"
        yield RecordDifference(
            f"contract {code}", words if has else "", "" if has else words, Explains.LIKELY, why
        )


def _checked(left: PairRecord, right: PairRecord) -> Iterator[RecordDifference]:
    """Only verdicts that contradict each other: that one side has none changes nothing."""
    ours, theirs = left.check, right.check
    if ours is None or theirs is None:
        if ours is not theirs:
            why = "nobody has checked the other side"
            yield RecordDifference("check", _verdict(ours), _verdict(theirs), Explains.NO, why)
        return
    if (ours.verdict, ours.causes) != (theirs.verdict, theirs.causes):
        why = "the draft does not work alike on both sides"
        yield RecordDifference("check", _verdict(ours), _verdict(theirs), Explains.LIKELY, why)


def _verdict(check: RecordedCheck | None) -> str:
    if check is None:
        return ""
    causes = f" ({', '.join(check.causes)})" if check.causes else ""
    return f"{check.verdict}{causes}, {check.checked_at:%Y-%m-%d}"


def _measured(left: PairRecord, right: PairRecord) -> Iterator[RecordDifference]:
    """Of the newest measurements, what they were made with: the speeds are told apart."""
    one, other = left.latest, right.latest
    if one is None or other is None:
        return
    rows = (
        ("measured on", one.device_name, other.device_name, "it computed"),
        ("measured driver", one.driver, other.driver, "another driver"),
        ("measured runtime", one.runtime, other.runtime, "another runtime"),
        (
            "measured KV cache",
            one.kv_cache_precision,
            other.kv_cache_precision,
            "a smaller cache is read faster, and can change the text",
        ),
        ("measured power", one.power_source, other.power_source, _POWER),
        (
            "assistant tokens",
            str(one.chosen_assistant_tokens),
            str(other.chosen_assistant_tokens),
            "each number has its own worth",
        ),
    )
    for what, ours, theirs, why in rows:
        if ours != theirs:
            yield RecordDifference(what, ours, theirs, Explains.LIKELY, why)


def _chosen(record: PairRecord) -> str:
    chosen = record.machine.chosen_device
    names = {device.id: device.name for device in record.machine.devices}
    return names.get(chosen, chosen)


def _size(count: int | None) -> str:
    return "" if count is None else format_bytes(count)
