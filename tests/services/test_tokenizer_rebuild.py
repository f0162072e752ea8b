"""A target without its tokenizer models gets them back, made of tokenizer.json by real tools."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from dflash_desktop.domain.pair_contract import check_contract
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.repair_plan import TOKENIZER_MODELS
from dflash_desktop.services.model_inspection import inspect_model, installed_runtime
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.pair_repair import PairRepair
from dflash_desktop.services.repair import ModelRepair, can_undo
from dflash_desktop.services.repair_record import RECORD_FILE
from dflash_desktop.services.tokenizer_rebuild import TokenizerRebuild
from tests.export_environment_fixture import cached_environments
from tests.fakes.ir_models import write_target
from tests.fakes.library_world import COMMIT, app_paths, arrived_model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes.ir_models import ModelFiles

WRITE_TOKENIZER = """
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(
    vocab_size=280 + int(sys.argv[2]),
    special_tokens=["<|end|>", *(f"<|{number}|>" for number in range(int(sys.argv[2])))],
    initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    show_progress=False,
)
tokenizer.train_from_iterator(["the quick brown fox jumps over the lazy dog"] * 9, trainer)
tokenizer.save(sys.argv[1])
"""
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def write_tokenizer(python: Path, folder: Path, *, more_words: int = 0, **config: object) -> None:
    """A real tokenizer.json with its config."""
    file = str(folder / "tokenizer.json")
    command = [str(python), "-I", "-c", WRITE_TOKENIZER, file, str(more_words)]
    subprocess.run(command, check=True)
    fields = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|end|>",
        "chat_template": TEMPLATE,
        **config,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(fields), encoding="utf-8")


@pytest.fixture
def target(tmp_path: Path) -> ModelFiles:
    files = write_target(tmp_path / "target")
    for name in TOKENIZER_MODELS:
        (files.folder / name).unlink()
    return files


@pytest.fixture
def repair(tmp_path: Path) -> PairRepair:
    return PairRepair(
        repair=ModelRepair(added_dir=tmp_path / "added"),
        tokenizers=TokenizerRebuild(environments=cached_environments(), log_dir=tmp_path),
    )


def tokenizer_faults(folder: Path) -> set[str]:
    findings = check_contract(inspect_model(folder), None, runtime=installed_runtime())
    return {one.code for one in findings if one.code.startswith("tokenizer")}


def tokens_of(folder: Path, text: str) -> tuple[list[int], str, str]:
    """What the app's own runtime makes of them."""
    import openvino_genai

    tokenizer: Any = openvino_genai.Tokenizer(str(folder))
    ids = tokenizer.encode(text).input_ids
    return ids.data[0].tolist(), tokenizer.decode(ids)[0], tokenizer.chat_template


@pytest.mark.export
@pytest.mark.openvino
async def test_a_missing_tokenizer_is_made_anew_works_in_the_runtime_and_can_be_taken_back(
    target: ModelFiles, repair: PairRepair, export_python: Path
) -> None:
    # A class of its own, as some repositories have: their code is not run.
    own = {"AutoTokenizer": [None, "own.Own"]}
    write_tokenizer(export_python, target.folder, tokenizer_class="OwnTokenizer", auto_map=own)
    mark = target.folder / "was-run"
    target.write("own.py", f"open({str(mark)!r}, 'w').close()\nclass Own: pass\n")
    before = {path.name for path in target.folder.iterdir()}
    assert tokenizer_faults(target.folder) == {"tokenizer_missing"}
    assert [one.file for one in repair.look(target.folder, None).plan.repairs] == [
        *TOKENIZER_MODELS
    ]

    outcome = await repair.repair(target.folder, None)

    assert [one.file for one in outcome.changed] == list(TOKENIZER_MODELS)
    assert tokenizer_faults(target.folder) == set()
    assert not mark.exists()
    ids, text, template = tokens_of(target.folder, "the lazy fox, größer 🙂")
    assert text == "the lazy fox, größer 🙂"
    assert len(ids) < 25
    assert template == TEMPLATE

    assert can_undo(target.folder)
    assert set(await repair.undo(target.folder)) == set(TOKENIZER_MODELS)
    assert {path.name for path in target.folder.iterdir()} == before
    assert not (target.folder / RECORD_FILE).exists()


@pytest.mark.export
@pytest.mark.parametrize("content", ["[" * 100_000, '{"model": {"type": "BPE"}}'])
async def test_a_tokenizer_that_cannot_be_read_is_refused_and_nothing_is_written(
    target: ModelFiles, repair: PairRepair, export_python: Path, content: str
) -> None:
    (target.folder / "tokenizer.json").write_text(content, encoding="utf-8")
    before = {path.name for path in target.folder.iterdir()}

    with pytest.raises(AppError, match="tokenizer_not_convertible"):
        await repair.repair(target.folder, None)

    assert {path.name for path in target.folder.iterdir()} == before


@pytest.mark.export
async def test_a_tokenizer_of_another_model_does_the_target_no_good_and_is_put_back(
    target: ModelFiles, repair: PairRepair, export_python: Path
) -> None:
    write_tokenizer(export_python, target.folder, more_words=5000)
    before = {path.name for path in target.folder.iterdir()}

    with pytest.raises(AppError, match="repair_not_possible") as refused:
        await repair.repair(target.folder, None)

    assert refused.value.problem.detail == "tokenizer_vocabulary"
    assert {path.name for path in target.folder.iterdir()} == before


async def test_without_export_tools_it_is_said_what_to_install(
    target: ModelFiles, tmp_path: Path
) -> None:
    (target.folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    repair = PairRepair(repair=ModelRepair(added_dir=tmp_path / "added"))

    (refused,) = (await repair.repair(target.folder, None)).not_repaired

    assert "export-env install" in refused.advice


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Tokenizer models that fit the target, as if they had been made anew."""
    return write_target(tmp_path / "made").folder


def written(target: ModelFiles, made: Path, tmp_path: Path) -> ModelRepair:
    target.write("tokenizer.json", "{}")
    repair = ModelRepair(added_dir=tmp_path / "added")
    assert repair.repair(target.folder, None, tokenizer_dir=made).changed
    return repair


def test_a_file_that_was_not_there_is_only_taken_away_as_it_was_written(
    target: ModelFiles, made: Path, tmp_path: Path
) -> None:
    repair = written(target, made, tmp_path)
    (target.folder / "openvino_detokenizer.xml").write_text("a person's", encoding="utf-8")

    with pytest.raises(AppError, match="repair_changed_since"):
        repair.undo(target.folder)

    assert (target.folder / "openvino_detokenizer.xml").read_text("utf-8") == "a person's"


def test_a_repair_that_was_killed_keeps_what_it_cannot_tell_from_a_persons_work(
    target: ModelFiles, made: Path, tmp_path: Path
) -> None:
    repair = written(target, made, tmp_path)
    record = json.loads((target.folder / RECORD_FILE).read_bytes())
    for entry in record["files"]:
        entry["sha256_after"] = ""
    (target.folder / RECORD_FILE).write_text(json.dumps(record), encoding="utf-8")

    assert set(repair.undo(target.folder)) == set(TOKENIZER_MODELS)

    for name in TOKENIZER_MODELS:
        assert not (target.folder / name).exists()
        assert (target.folder / f"{name}.original").exists()


async def test_a_model_of_the_library_can_be_removed_with_the_tokenizer_that_it_was_given(
    target: ModelFiles, made: Path, tmp_path: Path
) -> None:
    paths = app_paths(tmp_path / "home")
    target.write("tokenizer.json", "{}")
    library = ModelLibrary(paths=paths)
    files = arrived_model(target.folder).files
    model = await library.install(
        target.folder, repo_id="owner/target", commit=COMMIT, endpoint="", files=files
    )
    repair = ModelRepair(added_dir=paths.added_models_dir)
    assert repair.repair(model.path, None, tokenizer_dir=made).changed

    await library.remove(model.id)

    assert not model.path.exists()
