"""The steps of a build in their order: freeze, test, look at the sizes, pack, sum up."""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING

from dflash_build import archive, checks, freeze, layout

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def build(
    kinds: Sequence[str],
    *,
    build_dir: Path,
    out_dir: Path,
    with_starter: bool = False,
    base_url: str = "",
) -> int:
    """Build each of `kinds` into `out_dir`; 1 when the frozen program fails its own test.

    With `base_url`, below which people will find an installer, winget's manifests are written.
    """
    variant = freeze.Variant(with_starter=with_starter)
    folder = freeze.freeze(build_dir, variant)
    problems = [*checks.layout_problems(folder), *checks.self_test_problems(folder)]
    print(checks.size_report(folder))
    if problems:
        print(*problems, sep="\n", file=sys.stderr)
        return 1
    out_dir.mkdir(parents=True, exist_ok=True)
    made = [_make(kind, folder, out_dir, variant) for kind in kinds if kind != "folder"]
    for product in made:
        print(f"{product.name}: {product.stat().st_size / 1e6:.1f} MB")
    if base_url and "installer" in kinds:
        from dflash_build.installer import write_winget

        write_winget(next(one for one in made if one.suffix == ".exe"), base_url)
    if made:
        write_checksums(out_dir)
    return 0


def _make(kind: str, folder: Path, out_dir: Path, variant: freeze.Variant) -> Path:
    name = f"{layout.PACKAGE_NAME}-{layout.project().version}{variant.suffix}"
    match kind:
        case "archive":
            return archive.write(folder, out_dir, name)
        case "deb":
            from dflash_build import deb

            return deb.write(folder, out_dir, with_starter=variant.with_starter)
        case "appimage":
            from dflash_build import appimage

            return appimage.write(folder, out_dir, name)
        case "installer":
            from dflash_build import installer

            return installer.write(folder, out_dir, name)
        case _:
            raise ValueError(f"nothing builds {kind!r}")


def write_checksums(out_dir: Path) -> Path:
    """SHA256SUMS of everything in `out_dir`, in the form that `sha256sum --check` reads."""
    target = out_dir / "SHA256SUMS"
    lines = []
    for product in sorted(out_dir.iterdir()):
        if product.is_file() and product != target:
            with product.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            lines.append(f"{digest}  {product.name}\n")
    target.write_text("".join(lines), encoding="utf-8", newline="\n")
    return target
