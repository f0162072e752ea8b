"""What the program brings along for the starter pair is whole, clean and documented."""

from __future__ import annotations

import hashlib
import json
import re

import msgspec
import pytest

from dflash_desktop.domain.starter import StarterPin
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.workers.model_folder import check_draft

FOLDER = resources_dir() / "starter"
PROVENANCE = (FOLDER / "PROVENANCE.md").read_text(encoding="utf-8")


def test_the_pin_is_read_strictly() -> None:
    text = (FOLDER / "starter.json").read_bytes()
    pin = msgspec.json.decode(text, type=StarterPin)
    assert re.fullmatch(r"[0-9a-f]{64}", pin.sha256)
    assert pin.wheel.member.endswith(f"/{pin.file_name}")
    assert pin.min_free_bytes > 3 * pin.size_bytes
    with pytest.raises(msgspec.ValidationError, match=r"\$\.size_bytes"):
        msgspec.json.decode(text.replace(b"98362432", b'"98362432"'), type=StarterPin)


def test_the_draft_fits_the_pinned_target() -> None:
    resources = starter_resources()
    draft = check_draft(resources.draft_dir)
    config = json.loads((resources.draft_dir / "config.json").read_text(encoding="utf-8"))
    assert max(draft.target_layer_ids) < resources.pin.layer_count == config["num_target_layers"]
    assert config["hidden_size"] == resources.pin.hidden_size
    assert config["vocab_size"] == resources.pin.vocab_size
    assert draft.mask_token_id is not None
    assert draft.mask_token_id < resources.pin.vocab_size


def test_the_draft_carries_no_code_and_no_trace_of_the_machine_that_made_it() -> None:
    files = sorted((FOLDER / "draft").iterdir())
    assert [file.name for file in files] == [
        "config.json",
        "openvino_config.json",
        "openvino_model.bin",
        "openvino_model.xml",
    ]
    for file in files:
        if file.suffix != ".bin":
            text = file.read_text(encoding="utf-8")
            assert "auto_map" not in text
            assert not re.search(r"[\"'=](?:/(?:home|root|tmp|work|mnt)/|[A-Z]:\\)", text)


def test_the_provenance_names_what_is_pinned_and_what_is_shipped() -> None:
    pin = starter_resources().pin
    weights = (FOLDER / "draft" / "openvino_model.bin").read_bytes()
    shipped = hashlib.sha256(weights).hexdigest()
    for fact in (pin.sha256, f"{pin.size_bytes:,}", pin.file_name, pin.wheel.version, shipped):
        assert fact in PROVENANCE
    assert pin.licence == "Apache-2.0"
    licence = (resources_dir() / "licences" / "SmolLM2.txt").read_text(encoding="utf-8")
    assert "Apache License" in licence
