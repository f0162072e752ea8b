"""`verify` as programs and people meet it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflash_desktop.cli.model_arguments import own_command
from dflash_desktop.cli.verify import VerifyResult
from dflash_desktop.cli.verify import verified as verified_folders
from tests.cli.test_json_forms import REPOSITORY, assert_documented, run
from tests.fakes.damaged_pairs import BLOCKING, WARNING, strip_locators

if TYPE_CHECKING:
    from tests.fakes.ir_models import ModelFiles


def verified(target: ModelFiles, draft: ModelFiles) -> VerifyResult:
    return verified_folders(target.folder, draft.folder)


def test_a_blocked_pair_in_the_documented_form(target: ModelFiles, draft: ModelFiles) -> None:
    draft.edit("1,2,3", "1,2,48")
    code, printed = run("verify", str(target.folder), str(draft.folder))

    assert code == 2
    assert_documented("verify", printed)
    assert printed["verdict"] == "blocked"
    findings = printed["findings"]
    assert isinstance(findings, list)
    assert findings[0]["code"] == "draft_metadata_differs"  # the cause, which a repair mends
    assert findings[1]["code"] == "target_layer_outside"
    assert (findings[1]["severity"], findings[1]["subject"]) == ("block", "pair")


def test_the_exit_code_tells_the_verdict(target: ModelFiles, draft: ModelFiles) -> None:
    assert verified(target, draft).exit_code == 0
    draft.edit('"beam_idx"', '"index"')
    assert verified(target, draft).exit_code == 1
    draft.remove("openvino_model.bin")
    assert verified(target, draft).exit_code == 2


def test_the_words_name_the_fault_and_what_to_do(target: ModelFiles, draft: ModelFiles) -> None:
    draft.edit("1,2,3", "1,2")
    draft.configure(dflash_config={"mask_token_id": 3, "target_layer_ids": [1, 2]})
    text = verified(target, draft).as_text()

    assert text.startswith("This cannot work.\n\nFails: pair, openvino_model.xml")
    assert "found     hidden_states of the width 384" in text
    assert "expected  2 layers × 128 = 256" in text
    assert "to do     The draft was not trained with this list of layers." in text


def test_the_next_command_is_told_with_its_folders(target: ModelFiles, draft: ModelFiles) -> None:
    both = own_command("check", str(target.folder), str(draft.folder))
    note = verified(target, draft)
    assert note.findings[-1].remedy == "Check whether it pays."  # of a pair that is good
    assert note.as_text().endswith(f"Check: {both}")
    assert "Check:" not in verified_folders(target.folder, None).as_text()
    draft.edit('"beam_idx"', '"index"')
    both = own_command("check", str(target.folder), str(draft.folder))
    assert verified(target, draft).as_text().endswith(f"Check: {both}")
    strip_locators(target)
    both = own_command("repair", str(target.folder), str(draft.folder))
    assert verified(target, draft).as_text().endswith(f"Repair: {both}")


def test_what_it_needs_of_the_memory_is_told(target: ModelFiles, draft: ModelFiles) -> None:
    result = verified(target, draft)
    alone = verified_folders(target.folder, None)

    memory, without_draft = result.as_json()["memory"], alone.as_json()["memory"]
    assert isinstance(memory, dict)
    assert isinstance(without_draft, dict)
    assert memory["context_tokens"] == 8192
    assert memory["cpu_bytes"] > without_draft["cpu_bytes"] > 0
    assert "of memory on the processor" in result.as_text()
    target.write("openvino_model.xml", "no model")
    assert verified(target, draft).as_json()["memory"] is None


def test_neither_a_folder_nor_a_pair_is_an_error() -> None:
    code, printed = run("verify", "nowhere")

    assert code == 2
    assert_documented("error", printed)


def test_every_code_is_documented() -> None:
    text = (REPOSITORY / "docs" / "json.md").read_text(encoding="utf-8")
    section = text.partition("\n## verify\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"\w+", section))

    assert {code for code, _ in (*BLOCKING.values(), *WARNING.values())} <= documented
