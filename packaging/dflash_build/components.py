"""What a frozen program consists of: the packages it needs, by following what they ask for."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dflash_build import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ALSO_INSIDE: Final = ("pip", "uv")
"""Not imported by the program: the one fetches the starter model, the other is in `tools`."""

_LEFT_OUT: Final = frozenset({"openvino-telemetry"})
"""Asked for by OpenVINO and excluded here (see trim.py)."""


@dataclass(frozen=True, slots=True)
class Component:
    """One piece of software by somebody else; `licence` is as it says itself, or ""."""

    name: str
    version: str
    licence: str
    summary: str


def python_packages() -> tuple[metadata.Distribution, ...]:
    """All that are inside, by name. Raises `PackageNotFoundError` if one is not installed."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [*_needed(layout.project().requirements), *_ALSO_INSIDE]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found or name in _LEFT_OUT:
            continue
        found[name] = metadata.distribution(name)
        waiting.extend(_needed(found[name].requires or ()))
    return tuple(found[name] for name in sorted(found))


def components() -> tuple[Component, ...]:
    """Python, and each package inside it."""
    python = Component(
        "Python", platform.python_version(), "PSF-2.0", "The language that it is written in"
    )
    return (python, *(_component(package) for package in python_packages()))


def _needed(lines: Iterable[str]) -> Iterator[str]:
    """Names of what is needed on this system, without extras that nobody asked for."""
    for line in lines:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name


def _component(package: metadata.Distribution) -> Component:
    said = package.metadata
    return Component(
        name=package.name,
        version=package.version,
        licence=_field(said, "License-Expression") or _classified(package) or _one_line(said),
        summary=_field(said, "Summary"),
    )


def _classified(package: metadata.Distribution) -> str:
    """Papers from before licence expressions sort the package under one or more titles."""
    titles = package.metadata.get_all("Classifier") or ()
    licences = [one.rsplit(" :: ", 1)[-1] for one in titles if one.startswith("License ::")]
    return " OR ".join(one for one in licences if one != "OSI Approved")


def _one_line(said: metadata.PackageMetadata) -> str:
    """The old field holds a name, or the whole text."""
    return _field(said, "License").split("\n", 1)[0][:100]


def _field(said: metadata.PackageMetadata, name: str) -> str:
    return str(said[name]).strip() if name in said else ""
