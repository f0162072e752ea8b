"""Looks whether an export environment is what its lock says, and whether it starts.

Runs with the Python of that environment: `python -I check_environment.py LOCK`. Prints one JSON
object: `fault` in words ("" if all is well), and the `packages` that are concerned.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module, metadata
from pathlib import Path

MODULES = ("torch", "openvino", "openvino_tokenizers")
"""Those with native libraries that ask something of the system; each takes a second or two."""


def locked(lock: Path) -> dict[str, str]:
    """Names and versions, those for this Python only."""
    pins = {}
    for line in lock.read_text(encoding="utf-8").splitlines():
        match = re.match(r"([a-z0-9-]+)==([^\s;]+)(?: ; python_version <= '3\.(\d+)')?", line)
        if match and (match[3] is None or sys.version_info[1] <= int(match[3])):
            pins[match[1]] = match[2]
    return pins


def damaged(pins: dict[str, str]) -> dict[str, str]:
    """What is wrong with each package, by versions, names and sizes of files."""
    faults = {}
    for name, version in pins.items():
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            faults[name] = f"{name} is missing"
            continue
        if package.version != version:
            faults[name] = f"{name} is {package.version}, not {version}"
            continue
        for file in package.files or ():
            try:
                size = Path(str(file.locate())).stat().st_size
            except OSError:
                faults[name] = f"{file} of {name} is missing"
                break
            if file.size is not None and size != file.size:
                faults[name] = f"{file} of {name} has changed"
                break
    return faults


def main() -> None:
    """Look at the files, and only if they are right start what is native."""
    pins = locked(Path(sys.argv[1]))
    faults = damaged(pins)
    if not faults:
        # A list without pins is that of development builds, which have all of them.
        for name in (one for one in MODULES if not pins or one.replace("_", "-") in pins):
            try:
                import_module(name)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is asked for
                faults[name] = f"{name} does not start: {error!r}"
                break
    fault = "; ".join(list(faults.values())[:5])
    json.dump({"fault": fault, "packages": sorted(faults)}, sys.stdout)


if __name__ == "__main__":
    main()
