"""Export tools that a person installed beside the program are used, if they are the right ones."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.export_environment import EnvironmentState, export_environment
from dflash_desktop.services import own_export_tools
from dflash_desktop.services.own_export_tools import own_python
from tests.fakes.export_tools import environments, write_locks

if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = {
    "transformers": "5.5.9",
    "optimum-intel": "2.2.1",
    "nncf": "3.4.0",
    "torch": "2.13.0",
    "torchvision": "0.28.0",
    "openvino-tokenizers": "2026.4.1.0",
    "diffusers": "0.39.0",
    "gguf": "0.19.0",
}


def pretend(monkeypatch: pytest.MonkeyPatch, versions: Mapping[str, str]) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(
        own_export_tools, "find_spec", lambda name: object() if name in versions else None
    )


def found(environment_id: str = "transformers-5.5") -> Path | None:
    return own_python(export_environment(environment_id))


def test_tools_beside_the_program_are_used_for_their_release_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, TOOLS)
    assert found() == Path(sys.executable)
    assert found("transformers-5.2") is None
    assert found("development") is None


@pytest.mark.parametrize("missing", sorted(TOOLS.keys() - {"torchvision"}))
def test_tools_that_are_incomplete_are_not_used(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    pretend(monkeypatch, {name: one for name, one in TOOLS.items() if name != missing})
    assert found() is None


def test_a_pytorch_without_cuda_beside_a_torchvision_with_it_breaks_every_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, TOOLS | {"torch": "2.13.0+cpu"})
    assert found() is None
    pretend(monkeypatch, TOOLS | {"torch": "2.13.0+cpu", "torchvision": "0.28.0+cpu"})
    assert found() == Path(sys.executable)


def test_a_frozen_program_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, TOOLS)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert found() is None


async def test_they_are_ready_without_an_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_locks(tmp_path / "locks")
    pretend(monkeypatch, TOOLS)
    tools = environments(tmp_path)
    await tools.install("transformers-5.5")
    assert tools.python("transformers-5.5") == Path(sys.executable)
    status = tools.status()[0]
    assert (status.state, status.size_bytes) == (EnvironmentState.READY, 0)
    assert "own Python" in status.detail
