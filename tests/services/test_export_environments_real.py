"""The real export environment, as the package index gives it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
import importlib.metadata, importlib.util, json, torch
print(json.dumps({
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
    "transformers": importlib.metadata.version("transformers"),
    "telemetry": importlib.util.find_spec("openvino_telemetry") is not None,
    "torchvision": importlib.util.find_spec("torchvision") is not None,
}))
"""


@pytest.mark.export
def test_the_export_tools_have_pytorch_without_cuda_and_send_nothing(export_python: Path) -> None:
    end = subprocess.run(
        [export_python, "-I", "-c", CODE], check=True, capture_output=True, text=True
    )
    facts = json.loads(end.stdout)
    assert facts["torch"].startswith("2.13.0")
    assert facts["cuda"] is None
    assert facts["transformers"] == "5.5.4"
    assert not facts["telemetry"]
    assert not facts["torchvision"]
