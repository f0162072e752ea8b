"""Which generation of Intel graphics a device is, from its PCI id or else from its name."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class GpuFamily(StrEnum):
    """Generations whose drivers and speeds differ; the value is stable and for programs."""

    ALCHEMIST = "alchemist"
    BATTLEMAGE = "battlemage"
    METEOR_LAKE = "meteor_lake"
    ARROW_LAKE = "arrow_lake"
    LUNAR_LAKE = "lunar_lake"
    PANTHER_LAKE = "panther_lake"
    OTHER_INTEL = "other_intel"
    NOT_INTEL = "not_intel"

    @property
    def label(self) -> str:
        """The name that people know."""
        return _LABELS[self]

    @property
    def is_integrated(self) -> bool | None:
        """Whether every device of the family shares the system's memory; None if they differ."""
        if self in (GpuFamily.ALCHEMIST, GpuFamily.BATTLEMAGE):
            return False
        if self in (GpuFamily.OTHER_INTEL, GpuFamily.NOT_INTEL):
            return None
        return True


_LABELS: Final = {
    GpuFamily.ALCHEMIST: "Alchemist",
    GpuFamily.BATTLEMAGE: "Battlemage",
    GpuFamily.METEOR_LAKE: "Meteor Lake",
    GpuFamily.ARROW_LAKE: "Arrow Lake",
    GpuFamily.LUNAR_LAKE: "Lunar Lake",
    GpuFamily.PANTHER_LAKE: "Panther Lake",
    GpuFamily.OTHER_INTEL: "other Intel graphics",
    GpuFamily.NOT_INTEL: "not Intel",
}

_INTEL_VENDOR: Final = "8086"

# Device ids as in https://github.com/intel/compute-runtime,
# shared/source/dll/devices/devices_base.inl, and the Linux kernel's include/drm/intel/pciids.h.
_FAMILY_OF_DEVICE_ID: Final = (
    (re.compile(r"4f8[0-8]|569[0-7]|56[abc][0-9a-f]"), GpuFamily.ALCHEMIST),
    (re.compile(r"e20[0-9a-f]|e21[0-9a-f]|e22[0-9a-f]"), GpuFamily.BATTLEMAGE),
    (re.compile(r"7d40|7d45|7d55|7d60|7dd5"), GpuFamily.METEOR_LAKE),
    (re.compile(r"7d41|7d51|7d67|7dd1|b640"), GpuFamily.ARROW_LAKE),
    (re.compile(r"6420|64a0|64b0"), GpuFamily.LUNAR_LAKE),
    (re.compile(r"b08[0-9a-f]|b090|b0a0|b0b0"), GpuFamily.PANTHER_LAKE),
)

# Tried in this order: "B390" is Panther Lake although other B names are Battlemage cards.
_FAMILY_OF_NAME: Final = (
    (re.compile(r"\bpanther lake\b|\bb3[79]0\b"), GpuFamily.PANTHER_LAKE),
    (re.compile(r"\blunar lake\b|\b1[34]0v\b"), GpuFamily.LUNAR_LAKE),
    (re.compile(r"\barrow lake\b|\b1[34]0t\b"), GpuFamily.ARROW_LAKE),
    (re.compile(r"\bmeteor lake\b"), GpuFamily.METEOR_LAKE),
    (re.compile(r"\bbattlemage\b|\bb[2567]\d0\b|\bpro b\d0\b"), GpuFamily.BATTLEMAGE),
    (re.compile(r"\balchemist\b|\ba[357]\d0m?\b|\bpro a\d0m?\b"), GpuFamily.ALCHEMIST),
    # The first built-in Arc graphics carried no number: "Intel(R) Arc(TM) Graphics".
    (re.compile(r"\barc(?:\(tm\))? graphics\b"), GpuFamily.METEOR_LAKE),
)
_ID_IN_NAME: Final = re.compile(r"\[0x([0-9a-f]{4})\]")


def family_of(*, name: str, pci_id: str = "") -> GpuFamily:
    """The family by `pci_id` ("8086:64a0") where that is known, else by what `name` says."""
    vendor, _, device_id = pci_id.lower().partition(":")
    if vendor and vendor != _INTEL_VENDOR:
        return GpuFamily.NOT_INTEL
    plain_name = name.lower()
    if not vendor and "intel" not in plain_name:
        return GpuFamily.NOT_INTEL
    in_name = _ID_IN_NAME.search(plain_name)  # how the driver names what it has no name for
    for known_id in (device_id, in_name[1] if in_name else ""):
        for pattern, family in _FAMILY_OF_DEVICE_ID:
            if pattern.fullmatch(known_id):
                return family
    for pattern, family in _FAMILY_OF_NAME:
        if pattern.search(plain_name):
            return family
    return GpuFamily.OTHER_INTEL
