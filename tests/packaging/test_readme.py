"""What people read before they have the program: true, complete, and light enough to load."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "dflash_desktop"
MOST_PICTURE_BYTES = 150_000
FINDINGS = ("gpu_findings", "linux_findings", "probe_findings")


def test_troubleshooting_has_every_finding_of_doctor_and_no_made_up_one() -> None:
    text = (REPOSITORY / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `([a-z_]+)` \|", text, re.MULTILINE))
    code = re.compile(r'(?:code=|ProbeOutcome\.\w+: )"([a-z_]+)"')
    findings = {
        found
        for name in FINDINGS
        for found in code.findall((PACKAGE / "domain" / f"{name}.py").read_text(encoding="utf-8"))
    }
    assert len(findings) > 15
    assert findings <= told
    everywhere = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert {name for name in told if f'"{name}"' not in everywhere} == set()


def test_every_file_that_the_readme_names_is_there_and_pictures_are_small() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r'\]\(([^)#:]+)\)|src="([^"]+)"', text))
    paths = [REPOSITORY / (link or picture) for link, picture in named]
    assert [str(path) for path in paths if not path.exists()] == []
    pictures = [path for path in paths if path.suffix == ".png"]
    assert len(pictures) >= 2
    assert {path.name: path.stat().st_size for path in pictures if too_large(path)} == {}


def too_large(picture: Path) -> bool:
    return picture.stat().st_size > MOST_PICTURE_BYTES
