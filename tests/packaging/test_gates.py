"""The import contracts catch a violation; they would be easy to write so that they never do."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


LINT_IMPORTS = "from importlinter.cli import lint_imports_command as main; main()"

FORBIDDEN_IMPORTS = {
    "app and cli > ui > services > workers > domain": (
        "domain/units.py",
        "dflash_desktop.services",
    ),
    "Qt stays in ui and app": ("services/settings_store.py", "PySide6.QtCore"),
    "the domain needs only the standard library": ("domain/units.py", "msgspec"),
    "the window's process loads no native engine": ("services/settings_store.py", "numpy"),
}


def test_a_forbidden_import_breaks_its_contract(tmp_path: Path) -> None:
    """One violation for each contract, in a copy of the package."""
    shutil.copytree(REPOSITORY / "dflash_desktop", tmp_path / "dflash_desktop")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    for module, forbidden in FORBIDDEN_IMPORTS.values():
        with (tmp_path / "dflash_desktop" / module).open("a", encoding="utf-8") as file:
            file.write(f"\nimport {forbidden}\n")

    finished = subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    output = finished.stdout + finished.stderr
    assert finished.returncode == 1, output
    lines = finished.stdout.splitlines()
    broken = {line.removesuffix(" BROKEN") for line in lines if line.endswith(" BROKEN")}
    assert broken == set(FORBIDDEN_IMPORTS), output


def test_every_contract_has_its_violation() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]

    assert {contract["name"] for contract in contracts} == set(FORBIDDEN_IMPORTS)
