"""A copy of a draft's checkpoint without the code that its repository brings."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.workers.checkpoint_code import without_code
from dflash_desktop.workers.export_report import StepFailedError, say

if TYPE_CHECKING:
    from pathlib import Path

_WEIGHTS: Final = ".safetensors"
_INDEX: Final = "model.safetensors.index.json"
_DRAFT_KEYS: Final = ("mask_token_id", "target_layer_ids")


def copy_draft(source: Path, output: Path) -> None:
    """Make the checkpoint that the exporter's own draft class reads; no code is opened, none run.

    The weights are linked where the disk allows it. Raises `StepFailedError` ("no_safetensors")
    for a draft in pickle files: reading such a file can run whatever it holds.
    """
    say(0.0, "Leaving out the repository's code")
    output.mkdir(parents=True, exist_ok=True)
    weights = sorted(source.glob(f"*{_WEIGHTS}"))
    if not weights:
        raise StepFailedError("no_safetensors", f"{source.name} has no {_WEIGHTS} file")
    config = exporters_config(without_code(source / "config.json"))
    (output / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    index = source / _INDEX
    for number, path in enumerate([*([index] if index.is_file() else []), *weights]):
        say(number / (len(weights) + 1), path.name)
        _link_or_copy(path, output / path.name)
    say(1.0, "The checkpoint is clean")


def exporters_config(config: dict[str, Any]) -> dict[str, Any]:
    """The same draft under the name by which the exporter knows it.

    Some repositories name their own class, and write what a draft says at the top level.
    """
    draft = dict(config.get("dflash_config") or {})
    draft |= {key: config[key] for key in _DRAFT_KEYS if key in config and key not in draft}
    return {
        **config,
        "architectures": ["DFlashDraftModel"],
        "dflash_config": draft,
        "tie_word_embeddings": False,
    }


def _link_or_copy(path: Path, place: Path) -> None:
    place.unlink(missing_ok=True)
    with suppress(OSError):
        os.link(path.resolve(), place)
        return
    shutil.copyfile(path, place)
