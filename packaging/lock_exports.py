"""Writes the locks of the export environments, resources/export/PLATFORM/ID.txt.

Run by hand with uv on the path, in .venv, when a version there shall change:

    .venv/bin/python packaging/lock_exports.py [--find-links FOLDER] [--measure SITE_PACKAGES]

Each lock is what uv resolves for every Python that the program runs with, down to the hashes of
the wheels for that platform. Builds of PyTorch without CUDA are on PyTorch's own index only, which
`--torch-backend` knows and not every network reaches; a folder with one such wheel is then enough,
and the hashes of its sisters are those below.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parents[1]
EXPORT_DIR = REPOSITORY / "resources" / "export"

PYTHONS: Final = ("3.11", "3.12", "3.13")
PLATFORMS: Final = {
    "linux-x86_64": "x86_64-unknown-linux-gnu",
    "windows-x86_64": "x86_64-pc-windows-msvc",
}
TRANSFORMERS: Final = {
    "transformers-5.5": "5.5.4",
    "transformers-5.2": "5.2.0",
    "transformers-4.57": "4.57.6",
}

CPU_TORCH_VERSION: Final = "2.13.0+cpu"
CPU_TORCH: Final = {
    "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl": (
        "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
    ),
    "torch-2.13.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl": (
        "4ca4a9394b0c771238a4f73590fdbbc4debad85ed0fa63d026ae1b085da7d6e2"
    ),
    "torch-2.13.0+cpu-cp313-cp313-manylinux_2_28_x86_64.whl": (
        "3fbf9c9d1f3c10c2d59d04aca426dee9ccc6ceb32d255c61e93acc3b4f75fae6"
    ),
}
"""The first was hashed here; the others are what lock files of several projects agree on."""
CPU_TORCH_BYTES: Final = 191_815_667

MEASURED_PLATFORM: Final = "linux-x86_64"
UNPACKED_PER_BYTE: Final = 3.5
"""Of a wheel that was not measured; what it was over all that were."""


@dataclass(slots=True)
class Package:
    """One pin with what is known of its wheels."""

    version: str
    hashes: set[str] = field(default_factory=set)
    wheel_bytes: int = 0  # of the largest
    is_pure: bool = True  # the same for every platform
    pythons: set[str] = field(default_factory=set)


def main() -> None:
    """Write all locks, the newest transformers first, since the others keep its versions."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--find-links", type=Path, help="a folder with a CPU wheel of PyTorch")
    parser.add_argument(
        "--measure",
        type=Path,
        action="append",
        default=[],
        metavar="SITE_PACKAGES",
        help="of an installed environment: how large its packages are is then measured",
    )
    args = parser.parse_args()
    sizes = measured_sizes(args.measure)
    for platform, triple in PLATFORMS.items():
        kept: dict[str, str] = {}
        for environment, transformers in TRANSFORMERS.items():
            packages: dict[str, Package] = {}
            for python in PYTHONS:
                found = resolve(
                    transformers, python, triple, kept=kept, find_links=args.find_links
                )
                add(packages, found, python)
                for name, package in packages.items():
                    kept.setdefault(name, package.version)
            text = lock_text(environment, platform, packages, sizes)
            file = EXPORT_DIR / platform / f"{environment}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
            print(f"{file.relative_to(REPOSITORY)}: {len(packages)} packages")


def resolve(
    transformers: str, python: str, triple: str, *, kept: dict[str, str], find_links: Path | None
) -> list[dict[str, Any]]:
    """What uv resolves for one Python on one platform, as the packages of a pylock.toml.

    `kept` are versions of other environments: where they can be the same, they share the disk.
    """
    strict = {"huggingface-hub", "transformers"}  # which differ from one release to the other
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wanted = (EXPORT_DIR / "requirements.in").read_text(encoding="utf-8")
        (work / "wanted.in").write_text(f"{wanted}\ntransformers=={transformers}\n", "utf-8")
        same = "".join(
            f"{name}=={version}\n" for name, version in kept.items() if name not in strict
        )
        (work / "constraints.txt").write_text(same, "utf-8")
        output = work / "pylock.toml"
        torch = ["--torch-backend", "cpu"]
        if find_links:
            write_stand_ins(find_links, work)
            torch = ["--find-links", str(work)]
        subprocess.run(
            [
                *("uv", "pip", "compile", str(work / "wanted.in"), "--quiet", "--no-sources"),
                *("--override", str(EXPORT_DIR / "left-out.txt")),
                *("--constraint", str(work / "constraints.txt")),
                *("--python-version", python, "--python-platform", triple),
                *("--only-binary", ":all:", "--format", "pylock.toml"),
                *("--output-file", str(output), *torch),
            ],
            check=True,
        )
        packages = tomllib.loads(output.read_text(encoding="utf-8"))["packages"]
        return list(packages)


def write_stand_ins(find_links: Path, folder: Path) -> None:
    """Wheels of PyTorch for every Python, with nothing in them but what a resolver reads."""
    (wheel,) = find_links.glob("torch-*cpu-*manylinux*.whl")
    with zipfile.ZipFile(wheel) as archive:
        parts = {
            name: archive.read(name)
            for name in archive.namelist()
            if name.endswith((".dist-info/METADATA", ".dist-info/WHEEL"))
        }
    record = "".join(f"{name},,\n" for name in parts)
    parts[f"{next(iter(parts)).partition('/')[0]}/RECORD"] = record.encode()
    for name in CPU_TORCH:
        with zipfile.ZipFile(folder / name, "w") as archive:
            for member, content in parts.items():
                archive.writestr(member, content)


def add(packages: dict[str, Package], found: list[dict[str, Any]], python: str) -> None:
    """Take what was found for one Python to what is known of the others."""
    for entry in found:
        name, version = entry["name"], entry["version"]
        package = packages.setdefault(name, Package(version))
        if package.version != version:
            sys.exit(f"{name}: {package.version} and {version}, for different Pythons")
        package.pythons.add(python)
        if version == CPU_TORCH_VERSION:
            package.hashes |= set(CPU_TORCH.values())
            package.wheel_bytes = CPU_TORCH_BYTES
            continue
        for wheel in entry["wheels"]:
            package.hashes.add(wheel["hashes"]["sha256"])
            package.is_pure &= wheel["url"].endswith("-none-any.whl")
            package.wheel_bytes = max(package.wheel_bytes, wheel["size"])


def lock_text(
    environment: str,
    platform: str,
    packages: Mapping[str, Package],
    sizes: Mapping[tuple[str, str], int],
) -> str:
    """A requirements file that pip and uv read; what the program needs besides is in comments."""
    lines = [
        f"# {environment} for {platform}, made by packaging/lock_exports.py.",
        "# Before each package: the bytes of its wheel, and of what is in it.",
    ]
    for name, package in sorted(packages.items()):
        estimate = int(package.wheel_bytes * UNPACKED_PER_BYTE)
        is_measured = package.is_pure or platform == MEASURED_PLATFORM
        unpacked = (is_measured and sizes.get((name, package.version))) or estimate
        lines.append(f"# {package.wheel_bytes} {unpacked}")
        marker = ""
        if len(package.pythons) < len(PYTHONS):
            # Only back-ports are for some Pythons and not for others: they are for the older.
            if set(PYTHONS[: len(package.pythons)]) != package.pythons:
                sys.exit(f"{name} is for {package.pythons} only")
            marker = f" ; python_version <= '{max(package.pythons)}'"
        lines.append(f"{name}=={package.version}{marker} \\")
        hashes = [f"    --hash=sha256:{digest}" for digest in sorted(package.hashes)]
        lines += [f"{line} \\" for line in hashes[:-1]] + hashes[-1:]
    return "\n".join(lines) + "\n"


def measured_sizes(folders: Sequence[Path]) -> dict[tuple[str, str], int]:
    """Bytes of each package with its version, from the records of installed ones."""
    sizes: dict[tuple[str, str], int] = {}
    for package in metadata.distributions(path=[str(folder) for folder in folders]):
        name = re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()
        sizes[name, package.version] = sum(file.size or 0 for file in package.files or ())
    return sizes


if __name__ == "__main__":
    main()
