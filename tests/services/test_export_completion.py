"""What belongs to this machine is taken out of an exported model before anyone may have it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dflash_desktop.services.export_completion import complete_exported
from tests.fakes.export_plans import draft_plan
from tests.fakes.ir_models import write_draft

if TYPE_CHECKING:
    from pathlib import Path


def test_a_draft_loses_code_paths_and_the_tokenizer_that_was_made_of_nothing(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "made"
    write_draft(folder)
    config = json.loads((folder / "config.json").read_bytes())
    here = {
        "auto_map": {"AutoModel": "/home/me/tools--model_patcher.Draft"},
        "_name_or_path": r"C:\Users\me\source",
        "text_config": {"_name_or_path": "/home/me/source", "hidden_size": 8},
        "licence": "and/or",
    }
    (folder / "config.json").write_text(json.dumps(config | here), encoding="utf-8")
    (folder / "openvino_config.json").write_text(
        '{"tokenizer": "//server/me/source", "bits": 8}', encoding="utf-8"
    )
    for name in ("tokenizer.json", "special_tokens_map.json", "chat_template.jinja"):
        (folder / name).write_text("{}", encoding="utf-8")
    plan = draft_plan(tmp_path / "source")

    complete_exported(folder, plan, plan.request.items[0], notes=("It was mended.",))

    kept = {"text_config": {"hidden_size": 8}, "licence": "and/or"}
    assert json.loads((folder / "config.json").read_bytes()) == config | kept
    assert json.loads((folder / "openvino_config.json").read_bytes())["bits"] == 8
    assert not [*folder.glob("*token*"), *folder.glob("chat_template*")]
    for file in (*folder.glob("*.json"), folder / "README.md"):
        text = file.read_text("utf-8")
        assert "/me" not in text, file.name
        assert str(tmp_path) not in text, file.name
    assert "It was mended." in (folder / "README.md").read_text("utf-8")
