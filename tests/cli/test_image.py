"""The command that makes pictures, with a tiny real model: files, lines, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.services.png_file import png_texts
from tests.cli.test_json_forms import documented_fields, printed_fields
from tests.fakes.image_models import STABLE_DIFFUSION, unpack_image_model

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.openvino


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_image_model(STABLE_DIFFUSION, tmp_path_factory.mktemp("models") / "tiny sd")


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """One command in a process of its own: its exit code and what it printed."""
    finished = subprocess.run(
        [sys.executable, "-m", "dflash_desktop", "image", *map(str, arguments)],
        env=dict(os.environ),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return finished.returncode, finished.stdout, finished.stderr


def lines(text: str) -> list[dict[str, object]]:
    """The objects that were printed, one a line."""
    return [json.loads(line) for line in text.splitlines()]


def events(objects: Sequence[dict[str, object]]) -> list[object]:
    """What was told, in order."""
    return [one["event"] for one in objects]


def test_pictures_become_files_and_every_line_is_documented(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "Bilder"
    code, printed, _ = run(
        "Ein Kätzchen", "--model", model, "--steps", "3", "--seed", "5", "--count", "2",
        "--negative", "fog", "--out", out, "--json",
    )  # fmt: skip
    assert code == 0
    told = lines(printed)
    assert events(told)[-1] == "done"
    made = [one for one in told if one["event"] == "made"]
    assert [one["seed"] for one in made] == [5, 6]
    assert [Path(str(one["path"])) for one in made] == [
        out / "picture-5.png",
        out / "picture-6.png",
    ]
    assert "Negative prompt: fog" in png_texts(out / "picture-5.png")["parameters"]
    assert str(tmp_path) not in "".join(png_texts(out / "picture-5.png").values())
    fields = {field for one in told for field in printed_fields(one)}
    failed = {"code", "headline", "advice"}
    assert fields == documented_fields("image") - failed


def test_a_named_file_a_source_and_the_same_seed(model: Path, tmp_path: Path) -> None:
    first, again, other = (tmp_path / f"{name}.png" for name in ("a", "b", "c"))
    settings = ("--model", model, "--steps", "3", "--seed", "9", "--size", "96x64")
    for path in (first, again):
        code, printed, _ = run("a cat", *settings, "--out", path)
        assert code == 0
        assert f"{path.name}  seed 9" in printed
    code, _, _ = run("a cat", *settings, "--from", first, "--strength", "0.7", "--out", other)
    assert code == 0
    pixels = [path.read_bytes().partition(b"IDAT")[2] for path in (first, again, other)]
    assert pixels[0] == pixels[1]
    assert pixels[2] != pixels[0]


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("--steps", "0"), "picture_steps", 1),
        (("--size", "65x64"), "picture_size", 1),
        (("--count", "0"), "picture_count", 1),
        (("--from", "missing.png"), "picture_missing", 1),
        (("--size", "large"), "usage", 2),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(
    model: Path, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    returned, printed, _ = run("a cat", "--model", model, *arguments, "--json")
    error = json.loads(printed)["error"]
    assert (returned, error["code"]) == (exit_code, code)
    assert error["advice"]


def test_a_model_that_fails_ends_the_lines_with_why(model: Path, tmp_path: Path) -> None:
    damaged = unpack_image_model(STABLE_DIFFUSION, tmp_path / "damaged")
    (damaged / "unet" / "openvino_model.bin").write_bytes(b"damaged")
    code, printed, _ = run("a cat", "--model", damaged, "--json")
    told = lines(printed)
    assert code == 1
    assert events(told)[-1] == "failed"
    assert told[-1]["code"] == "model_broken"
    assert set(told[-1]) <= documented_fields("image")


def test_without_a_model_it_says_what_to_get() -> None:
    code, _, spoken = run("a cat")
    assert code == 1
    assert "No model that makes pictures is here." in spoken
    assert "dflash-desktop pull" in spoken
