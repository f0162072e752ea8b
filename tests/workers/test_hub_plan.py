from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.file_names import too_long_path
from dflash_desktop.domain.transfer import RepoRequest
from dflash_desktop.workers import hub_plan
from dflash_desktop.workers.fetch_messages import ReposPlanned
from dflash_desktop.workers.protocol import Failed
from tests.fakes.fake_hub import COMMIT, GOOD_TOKEN, HubFile, HubRepo, Refusal, small_repo
from tests.workers.hub_client import client, one_file

if TYPE_CHECKING:
    from pathlib import Path


def test_a_plan_tells_commit_sizes_and_hashes_of_every_file(tmp_path: Path) -> None:
    repo = small_repo()
    with client(tmp_path, repo) as asked:
        answer = asked.ask_plan()
    assert isinstance(answer, ReposPlanned)
    plan = answer.plan.repos[0]
    assert (plan.commit, plan.licence, plan.is_gated) == (COMMIT, "apache-2.0", False)
    assert [(file.path, file.size_bytes) for file in plan.files] == [
        (file.path, len(file.content)) for file in repo.files
    ]
    for planned, file in zip(plan.files, repo.files, strict=True):
        hashes = (file.sha256, None) if file.is_lfs else (None, file.blob_id)
        assert (planned.sha256, planned.git_blob_id) == hashes
    assert answer.plan.missing_bytes == answer.plan.total_bytes
    assert answer.plan.needed_disk_bytes >= answer.plan.total_bytes
    assert answer.plan.free_disk_bytes > 0


def test_only_files_of_the_wanted_patterns_are_planned(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked:
        wanted = RepoRequest("team/tiny-model", patterns=("openvino_*", "assets/*"))
        (plan,) = asked.plan(wanted)
        nothing = asked.ask_plan(RepoRequest("team/tiny-model", patterns=("*.gguf",)))
    assert [file.path for file in plan.files] == [
        "openvino_model.xml",
        "openvino_model.bin",
        "assets/tokenizer Ä 模.json",
    ]
    assert isinstance(nothing, Failed)
    assert nothing.code == "nothing_to_fetch"


def test_a_commit_can_be_asked_for_and_an_unknown_one_is_gone(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked:
        assert asked.plan(RepoRequest("team/tiny-model", COMMIT))[0].commit == COMMIT
        gone = asked.ask_plan(RepoRequest("team/tiny-model", "f" * 40))
    assert isinstance(gone, Failed)
    assert gone.code == "revision_gone"


@pytest.mark.parametrize(
    "name",
    [
        "../evil.bin",
        "a/../../evil.bin",
        "/etc/evil",
        "C:/evil.bin",
        r"a\b.bin",
        "CON",
        "nul.txt",
        "a/COM1.bin",
        "dot./x",
        "space /x",
        "ctrl\x07.bin",
        ".INCOMING/x",
        ".dflash/manifest.json",
    ],
)
def test_a_name_that_must_not_be_made_refuses_the_whole_model(name: str, tmp_path: Path) -> None:
    repo = HubRepo("team/evil", [HubFile("good.json", b"{}"), HubFile(name, b"x")])
    with client(tmp_path, repo) as asked:
        answer = asked.ask_plan()
    assert isinstance(answer, Failed)
    assert answer.code == "unsafe_name"
    assert answer.words["reason"]


def test_names_that_differ_only_in_case_refuse_the_whole_model(tmp_path: Path) -> None:
    repo = HubRepo("team/evil", [HubFile("Model.bin", b"x"), HubFile("model.BIN", b"y")])
    with client(tmp_path, repo) as asked:
        answer = asked.ask_plan()
    assert isinstance(answer, Failed)
    assert answer.code == "unsafe_name"


def test_a_path_that_windows_cannot_open_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_windows(
        folder: str, paths: list[str], *, spare_characters: int = 0, is_windows: bool
    ) -> str | None:
        return too_long_path(folder, paths, spare_characters=spare_characters, is_windows=True)

    monkeypatch.setattr(hub_plan, "too_long_path", on_windows)
    name = "folder/" + "m" * 200 + ".bin"
    with client(tmp_path, HubRepo("team/long", [HubFile(name, b"x")])) as asked:
        asked.incoming = tmp_path / "incoming" / ("x" * 60)
        answer = asked.ask_plan()
    assert isinstance(answer, Failed)
    assert (answer.code, answer.words["file"]) == ("path_too_long", name)
    assert answer.facts["characters"] > 259


@pytest.mark.parametrize(
    ("token", "accepted", "without_right", "code"),
    [
        ("", False, False, "gated_no_token"),
        (GOOD_TOKEN, False, False, "gated_not_accepted"),
        (GOOD_TOKEN, False, True, "token_without_right"),
        ("hf_revoked", False, False, "token_refused"),
        (GOOD_TOKEN, True, False, None),
    ],
)
def test_access_to_a_gated_model_is_asked_for_before_the_download(
    token: str, accepted: bool, without_right: bool, code: str | None, tmp_path: Path
) -> None:
    repo = small_repo()
    repo.gated = "manual"
    repo.accepted_tokens = [GOOD_TOKEN] if accepted else []
    repo.tokens_without_right = [GOOD_TOKEN] if without_right else []
    with client(tmp_path, repo, token=token) as asked:
        answer = asked.ask_plan()
    if code is None:
        assert isinstance(answer, ReposPlanned)
        assert answer.plan.repos[0].is_gated
    else:
        assert isinstance(answer, Failed)
        assert answer.code == code, answer
        assert answer.words["page"] == f"{asked.hub.url}/team/tiny-model"
        assert not asked.hub.bodies("openvino_model.bin")


@pytest.mark.parametrize(
    ("refusal", "code", "facts"),
    [
        (Refusal(429, retry_after=2), "rate_limited", {"retry_after_seconds": 2}),
        (Refusal(429), "rate_limited", {"retry_after_seconds": 0}),
        (Refusal(500), "server_error", {"status": 500}),
        (Refusal(503), "server_error", {"status": 503}),
        (Refusal(403), "access_denied", {"status": 403}),
        (Refusal(418), "hub_refused", {"status": 418}),
        (Refusal(407), "proxy", {"status": 407}),
        (Refusal(404, "RepoNotFound"), "not_found", {"status": 404}),
    ],
)
def test_each_refusal_of_a_listing_has_its_code(
    refusal: Refusal, code: str, facts: dict[str, int], tmp_path: Path
) -> None:
    repo = small_repo()
    repo.refusal = refusal
    with client(tmp_path, repo) as asked:
        answer = asked.ask_plan()
    assert isinstance(answer, Failed)
    assert answer.code == code, answer
    assert facts.items() <= answer.facts.items()


def test_a_missing_and_a_private_model_are_not_found(tmp_path: Path) -> None:
    private = small_repo()
    private.is_private = True
    with client(tmp_path, private) as asked:
        for repo_id in ("team/missing", "team/tiny-model"):
            answer = asked.ask_plan(RepoRequest(repo_id))
            assert isinstance(answer, Failed)
            assert answer.code == "not_found"
        wrong = asked.ask_plan(RepoRequest("not a name"))
    assert isinstance(wrong, Failed)
    assert wrong.code == "repo_name_invalid"


_LISTED = {"id": "team/model", "sha": COMMIT, "siblings": []}


@pytest.mark.parametrize(
    "listing",
    [
        "<!DOCTYPE html><html>Please sign in</html>",
        "[]",
        "{}",
        json.dumps(_LISTED | {"sha": "../../x"}),
        json.dumps(_LISTED | {"siblings": [{"rfilename": "a"}]}),
        json.dumps(_LISTED | {"siblings": [{"rfilename": "a", "size": -1, "blobId": "0" * 40}]}),
        json.dumps(_LISTED | {"siblings": [{"rfilename": "a", "size": 1, "blobId": "../x"}]}),
        json.dumps(
            _LISTED
            | {
                "siblings": [
                    {
                        "rfilename": "a",
                        "blobId": "0" * 40,
                        "lfs": {"size": 1, "sha256": "../../../../tmp/x", "pointerSize": 1},
                    }
                ]
            }
        ),
    ],
)
def test_a_listing_that_is_none_is_refused(listing: str, tmp_path: Path) -> None:
    repo = one_file()
    repo.listing = listing
    with client(tmp_path, repo) as asked:
        answer = asked.ask_plan()
    assert isinstance(answer, Failed)
    assert answer.code == "not_a_hub", answer


def test_a_plan_counts_what_an_earlier_attempt_and_the_caches_hold(tmp_path: Path) -> None:
    repo = small_repo()
    weights = repo.file("openvino_model.bin")
    blobs = tmp_path / "cache" / "models--team--tiny-model" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / weights.sha256).write_bytes(weights.content)
    with client(tmp_path, repo) as asked:
        fresh = asked.ask_plan()
        asked.cache_dirs = (tmp_path / "cache",)
        cached = asked.ask_plan()
        asked.cache_dirs = ()
        repo.files[2].drop_at = 2_000_000
        asked.fetch_badly()
        begun = asked.ask_plan()
    assert isinstance(fresh, ReposPlanned)
    assert isinstance(cached, ReposPlanned)
    assert isinstance(begun, ReposPlanned)
    assert cached.plan.missing_bytes == fresh.plan.total_bytes - len(weights.content)
    assert cached.plan.needed_disk_bytes < fresh.plan.needed_disk_bytes - 2_900_000
    assert begun.plan.repos[0].files[2].present_bytes == 2_000_000
