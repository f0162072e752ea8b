"""Which version of a package is installed here, asked without importing it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def package_version(package: str) -> str:
    """The version, or "" where the package is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
