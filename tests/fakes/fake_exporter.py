"""Export tools that make a small model without torch: their interpreter is a script of ours.

What it does is in the environment variable `FAKE_EXPORTER`, word by word for each model in turn
("good" when there is none): good, rubbish, stranger, fail, disk, or a way of
tests/fakes/export_children.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_environment import EnvironmentProgress

HOW_VARIABLE = "FAKE_EXPORTER"
_ROOT = Path(__file__).resolve().parent.parent.parent


class FakeEnvironments:
    """What `ExportWork` asks of export environments."""

    def __init__(self, folder: Path) -> None:
        self._python = folder / "bin" / "python"
        self.installed: list[str] = []
        self._python.parent.mkdir(parents=True, exist_ok=True)
        script = f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__)}" "$@"\n'
        self._python.write_text(script, encoding="utf-8")
        self._python.chmod(0o755)

    def python(self, environment_id: str) -> Path:
        """The script."""
        return self._python

    async def install(
        self, environment_id: str, report: Callable[[EnvironmentProgress], None]
    ) -> None:
        """It is there."""
        self.installed.append(environment_id)


def _export(arguments: list[str]) -> None:
    """Called as the export program is: … run optimum-cli export openvino --model … OUTPUT."""
    output = Path(arguments[-1])
    output.mkdir(parents=True)
    (output / "config.json").write_text("{}", encoding="utf-8")
    how = os.environ.get(HOW_VARIABLE, "good").split()
    is_draft = "--disable-convert-tokenizer" in arguments
    way = how[min(int(is_draft), len(how) - 1)]
    _say({"share": 0.25, "detail": "Tracing the model"})
    sys.stdout.write(f"temporary files: {os.environ['TMPDIR']}\nLoading weights: 100%|▉▉▉| 3/3\n")
    sys.stdout.flush()
    if way == "fail":
        _say({"failed": {"code": "draft_not_supported", "raw": "ValueError: none of them"}})
        sys.exit(1)
    if way == "disk":
        sys.stderr.write("RuntimeError: basic_ios::clear: iostream error\n")
        sys.exit(1)
    if way not in ("good", "rubbish", "stranger", "slow"):
        sys.argv = ["export_children.py", way]
        children = _ROOT / "tests" / "fakes" / "export_children.py"
        runpy.run_path(str(children), run_name="__main__")
    if way == "slow":
        time.sleep(0.4)
    sys.path.insert(0, str(_ROOT))
    from tests.fakes.ir_models import write_draft, write_target

    shutil.rmtree(output)
    made = (write_draft if is_draft else write_target)(output)
    if way == "rubbish":
        made.remove("openvino_model.bin")
    if way == "stranger":  # a draft of a deeper target
        made.configure(dflash_config={"mask_token_id": 3, "target_layer_ids": [1, 2, 48]})
        made.edit("1,2,3", "1,2,48")
    _say({"share": 1.0, "detail": "Exported"})


def _say(report: dict[str, object]) -> None:
    sys.stdout.write(f"\x1e{json.dumps(report)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _export(sys.argv[1:])
