"""`models` as programs and people meet it: every form, every exit code, ids everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dflash_desktop import cli
from dflash_desktop.cli.models_results import ModelsResult, ReportsResult
from dflash_desktop.paths import app_paths
from dflash_desktop.services.added_models import add_folder
from dflash_desktop.services.model_store import install_folder
from tests.cli.test_json_forms import assert_documented, run
from tests.fakes.fake_hub import COMMIT, FakeHub, serve, small_repo
from tests.fakes.ir_models import write_draft, write_target
from tests.fakes.library_world import arrive

if TYPE_CHECKING:
    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.paths import AppPaths

NAME = "owner/name"


@pytest.fixture
def paths() -> AppPaths:
    """Where the commands of this test look, too."""
    return app_paths()


@pytest.fixture
def model(paths: AppPaths) -> InstalledModel:
    arrived = arrive(paths.incoming_dir / "x")
    return install_folder(arrived.folder, arrived.manifest(), models_dir=paths.models_dir)


def first(printed: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = printed[name][0]
    return found


def error_code(printed: dict[str, Any]) -> str:
    assert_documented("error", printed)
    return str(printed["error"]["code"])


def test_list(model: InstalledModel) -> None:
    code, printed = run("models", "list")
    assert code == 0
    assert_documented("models list", printed)
    listed = first(printed, "models")
    assert listed["id"] == NAME
    assert listed["path"] == str(model.path)
    assert listed["size_bytes"] == model.manifest.size_bytes
    assert listed["commit"] == model.manifest.commit
    assert (listed["kind"], listed["state"]) == ("target", "verified")
    assert listed["verified_at"] == "2026-11-29T12:00:00+00:00"
    assert listed["last_used_at"] is None


def test_an_empty_library_is_an_empty_list() -> None:
    code, printed = run("models", "list")
    assert code == 0
    assert printed["models"] == []
    assert "nothing to verify" in ReportsResult(()).as_text()


def test_verify_repair_and_their_exit_codes(paths: AppPaths) -> None:
    repo = small_repo(NAME)
    with serve(FakeHub([repo])) as hub:
        arrived = arrive(paths.incoming_dir / "x", {f.path: f.content for f in repo.files})
        manifest = arrived.manifest(repo_id=NAME, commit=COMMIT)
        model = install_folder(arrived.folder, manifest, models_dir=paths.models_dir)
        code, printed = run("models", "verify", "--all")
        assert code == 0
        assert_documented("models verify", printed)
        assert first(printed, "reports")["checked_bytes"] == manifest.size_bytes

        weights = model.path / "openvino_model.bin"
        weights.write_bytes(b"\0" + weights.read_bytes()[1:])
        code, printed = run("models", "verify", NAME)
        assert code == 1
        assert_documented("models verify", printed)
        assert first(printed, "reports")["differences"] == [
            {"path": "openvino_model.bin", "kind": "bytes"}
        ]
        _, printed = run("models", "list")
        assert first(printed, "models")["state"] == "damaged"

        code, printed = run("models", "repair", NAME, env={"HF_ENDPOINT": hub.url})
        assert code == 0
        assert_documented("models repair", printed)
        assert printed["repaired"] == ["openvino_model.bin"]
        assert first(printed, "reports")["is_whole"] is True
        assert run("models", "verify", NAME)[0] == 0


def test_remove_says_what_it_would_do_then_does_it(model: InstalledModel) -> None:
    code, printed = run("models", "remove", NAME, "--dry-run")
    assert code == 0
    assert_documented("models remove", printed)
    assert printed["is_removed"] is False
    assert model.path.exists()
    code, done = run("models", "remove", NAME.upper())
    assert code == 0
    assert {**done, "is_removed": False} == printed
    assert not model.path.exists()


def test_what_is_not_wholly_ours_is_refused(model: InstalledModel) -> None:
    (model.path / "mine.txt").write_text("mine")
    code, printed = run("models", "remove", NAME)
    assert code == 1
    assert error_code(printed) == "removal_refused"
    assert model.path.exists()
    code, printed = run("models", "remove", "no/such")
    assert (code, error_code(printed)) == (1, "model_unknown")


def test_add_makes_a_folder_known_and_hashes_it(tmp_path: Path) -> None:
    folder = write_target(tmp_path / "Mein Modell é").folder
    code, printed = run("models", "add", str(folder), "--title", "Mine")
    assert code == 0
    assert_documented("models add", printed)
    added = printed["model"]
    assert isinstance(added, dict)
    assert (added["id"], added["title"], added["is_ours"]) == ("Mein Modell é", "Mine", False)
    assert added["state"] == "verified"
    assert run("models", "verify", "Mein Modell é")[0] == 0
    code, printed = run("models", "add", str(tmp_path))
    assert (code, error_code(printed)) == (1, "no_model")


def test_move_and_then_everything_is_found_there(model: InstalledModel, tmp_path: Path) -> None:
    code, printed = run("models", "move", str(tmp_path / "disk"))
    assert code == 0
    assert_documented("models move", printed)
    _, listed = run("models", "list")
    assert listed["library_path"] == printed["library_path"] == str(tmp_path / "disk")
    assert Path(first(listed, "models")["path"]).is_relative_to(tmp_path / "disk")
    code, printed = run("models", "move", str(tmp_path / "disk"))
    assert (code, error_code(printed)) == (1, "place_is_ours")


def test_leftovers_are_listed_and_removed_but_never_what_may_be_a_persons(
    paths: AppPaths,
) -> None:
    old = arrive(paths.models_dir / ".removing-abc123", {"a.bin": b"123"}).folder
    mine = write_target(paths.models_dir / "by hand").folder
    code, printed = run("models", "leftovers")
    assert code == 0
    assert_documented("models leftovers", printed)
    code, printed = run("models", "leftovers", "--remove")
    removed = {Path(one["path"]).name: one["is_removed"] for one in all_of(printed, "leftovers")}
    assert removed == {"by hand": False, old.name: True}
    assert mine.exists()
    assert not old.exists()
    code, _ = run("models", "leftovers", "--remove", str(mine))
    assert code == 0
    assert not mine.exists()
    code, printed = run("models", "leftovers", "--remove", str(paths.config_dir))
    assert (code, error_code(printed)) == (1, "no_leftover")


def test_what_may_be_a_persons_is_offered_by_its_path_alone(
    paths: AppPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    thesis = paths.models_dir / "papers" / "thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("mine", encoding="utf-8")
    assert cli.main(["models", "leftovers", "--remove"]) == 0
    told = capsys.readouterr().out
    assert "leftovers --remove PATH" in told
    assert "To remove them" not in told
    assert thesis.exists()


def all_of(printed: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = printed[name]
    return found


def test_the_compile_cache_is_measured_and_cleared(paths: AppPaths) -> None:
    arrive(paths.compile_cache_dir, {"a.blob": b"12345"})
    code, printed = run("models", "cache")
    assert code == 0
    assert_documented("models cache", printed)
    assert (printed["file_count"], printed["size_bytes"]) == (1, 5)
    code, printed = run("models", "cache", "--clear")
    assert (printed["size_bytes"], printed["freed_bytes"]) == (0, 5)


@pytest.mark.parametrize(
    "arguments", [(), ("verify",), ("verify", "a", "--all"), ("remove",), ("nonsense",)]
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    code, printed = run("models", *arguments)
    assert (code, error_code(printed)) == (2, "usage")


def test_other_commands_take_the_librarys_ids(paths: AppPaths, tmp_path: Path) -> None:
    target = write_target(tmp_path / "Qwen3-4B-instruct-int4-ov").folder
    draft = write_draft(tmp_path / "Qwen3-4B-DFlash-int8-ov").folder
    for folder in (target, draft):
        add_folder(folder, title="", added_dir=paths.added_models_dir, taken_ids=())
    pair = "Qwen3-4B-instruct-int4+Qwen3-4B-DFlash-int8"
    for arguments in ((pair,), (target.name, draft.name)):
        code, printed = run("verify", *arguments)
        assert_documented("verify", printed)
        assert (code, printed["verdict"]) == (0, "good")
    code, printed = run("chat", "--target", "no/such", "--prompt", "Hello")
    assert (code, error_code(printed)) == (1, "model_not_found")


def test_the_words_for_people_name_what_matters(model: InstalledModel, paths: AppPaths) -> None:
    text = ModelsResult((model,), paths.library_dir).as_text()
    assert NAME in text
    assert "712 bytes" in text
    assert "verified" in text
    assert str(paths.library_dir) in text
    assert "pull" in ModelsResult((), paths.library_dir).as_text()
    beside = paths.library_dir.parent / "starter"
    for models in ((), (model,)):  # it is no part of the library, but a person has it
        with_starter = ModelsResult(models, paths.library_dir, starter_dir=beside).as_text()
        assert f"The starter model is installed, in {beside}" in with_starter
        assert "There are no models" not in with_starter
