"""By what a chosen device is known again: its PCI id and name, never its place in a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

_ADDED_BY_OPENVINO: Final = re.compile(r" \([di]GPU\)$")
_IDENTITY: Final = re.compile(
    r"(?P<name>.*?)(?: \[(?P<pci>[0-9a-f]{4}:[0-9a-f]{4})\])?(?: #(?P<number>[1-9][0-9]?))?"
)
_OPENVINO_NAME: Final = re.compile(r"(?:CPU|[GN]PU)(?:\.[0-9]+)?")


class Identified(Protocol):
    """What an identity is made of."""

    @property
    def id(self) -> str:
        """OpenVINO's name."""

    @property
    def full_name(self) -> str:
        """The maker's name."""

    @property
    def pci_id(self) -> str:
        """Maker and device, "8086:64a0"; may be empty."""


def plain_name(full_name: str) -> str:
    """The maker's name without what OpenVINO adds to it."""
    return _ADDED_BY_OPENVINO.sub("", full_name)


def identity_text(*, name: str, pci_id: str = "", number: int = 1) -> str:
    """ "Intel(R) Arc(TM) B580 Graphics [8086:e20b]", and " #2" for the second of equal cards."""
    text = f"{plain_name(name)} [{pci_id}]" if pci_id else plain_name(name)
    return text if number == 1 else f"{text} #{number}"


def is_openvino_name(wanted: str) -> bool:
    """Whether it is a place in OpenVINO's list, "GPU.1", which may mean another card tomorrow."""
    return _OPENVINO_NAME.fullmatch(wanted.strip().upper()) is not None


def identity_of(device: Identified, devices: Sequence[Identified]) -> str:
    """What a choice of `device`, one of `devices`, is stored as; the CPU is always "CPU"."""
    if device.id == "CPU":
        return device.id
    equal = [one for one in devices if _base(one) == _base(device)]
    number = 1 + [one.id for one in equal].index(device.id)
    return identity_text(name=device.full_name or device.id, pci_id=device.pci_id, number=number)


def devices_meant(wanted: str, devices: Sequence[Identified]) -> tuple[str, ...]:
    """OpenVINO's names of the devices that `wanted` may mean: none, the one, or several.

    It is an identity (whose name may have changed with the driver, when it has a PCI id), a PCI
    id, a name of OpenVINO in any case ("gpu", "GPU.0": one lone GPU is called "GPU", case 53), or
    a part of the maker's name.
    """
    text = wanted.strip()
    if is_openvino_name(text):
        return _at_place(text.upper(), devices)
    parts = _IDENTITY.fullmatch(text)
    name, pci, number = ("", "", "1") if parts is None else parts.group("name", "pci", "number")
    if re.fullmatch(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{4}", name):
        name, pci = "", name.lower()
    if pci:
        same = [one.id for one in devices if one.pci_id == pci]
        if same or any(one.pci_id for one in devices if one.id.startswith("GPU")):
            return _numbered(same, number)
    exact = [one.id for one in devices if name and plain_name(one.full_name) == name]
    if exact:
        return _numbered(exact, number)
    part = name.casefold()
    return tuple(one.id for one in devices if part and part in one.full_name.casefold())


def _base(device: Identified) -> tuple[str, str]:
    return (device.pci_id, "" if device.pci_id else plain_name(device.full_name))


def _at_place(name: str, devices: Sequence[Identified]) -> tuple[str, ...]:
    aliases = {name, f"{name}.0"} if "." not in name else {name, name.removesuffix(".0")}
    return tuple(one.id for one in devices if one.id in aliases)[:1]


def _numbered(ids: list[str], number: str | None) -> tuple[str, ...]:
    place = int(number or "1") - 1
    return tuple(ids[place : place + 1])
