"""Paths in JSON: a text both ways, for msgspec, which knows none."""

from __future__ import annotations

from pathlib import Path


def encode_path(value: object) -> object:
    """An `enc_hook`. Raises `NotImplementedError` for all that is no path."""
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in JSON")


def decode_path(wanted: type, value: object) -> object:
    """A `dec_hook`. Raises `NotImplementedError` for all that is no path."""
    if issubclass(wanted, Path) and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(f"{wanted.__name__} has no form in JSON")
