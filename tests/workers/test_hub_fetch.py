from __future__ import annotations

import errno
import hashlib
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import huggingface_hub  # noqa: TID253 - the real one, in this process
import pytest

from dflash_desktop.workers import hub_fetch, part_file
from dflash_desktop.workers.fetch_messages import ReposFetched
from dflash_desktop.workers.hub_xet import xet_fetcher
from dflash_desktop.workers.incoming_folder import BOOKKEEPING, IncomingFolder
from dflash_desktop.workers.protocol import Failed
from tests.fakes.fake_hub import ALWAYS, GOOD_TOKEN, HubFile, HubRepo, Refusal, small_repo
from tests.workers.hub_client import client, one_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.transfer import PlannedFile, RepoPlan

WEIGHTS = "openvino_model.bin"


def test_every_file_arrives_and_is_known_by_its_sha256(tmp_path: Path) -> None:
    repos = (small_repo(), small_repo("team/draft", weights_bytes=9_000_000))
    with client(tmp_path, *repos) as asked:
        answer = asked.fetch_well()
        asked.assert_whole()
    for files, repo in zip(answer.files, repos, strict=True):
        assert [(f.path, f.size_bytes, f.sha256) for f in files] == [
            (f.path, len(f.content), f.sha256) for f in repo.files
        ]


def test_progress_rises_and_ends_with_every_file_verified(tmp_path: Path) -> None:
    repo = small_repo(weights_bytes=1_000_000)
    repo.files[2].bytes_per_second = 2_000_000
    with client(tmp_path, repo) as asked:
        asked.fetch_well()
    states = [state for event in asked.progress for state in event.files]
    weights = [state.done_bytes for state in states if state.path == WEIGHTS]
    assert weights == sorted(weights)
    assert len(set(weights)) > 2
    last = {state.path: state for state in states}
    assert all(state.is_verified for state in last.values())
    assert sum(state.done_bytes for state in last.values()) == sum(
        len(file.content) for file in repo.files
    )


def test_a_dropped_connection_goes_on_where_it_ended(tmp_path: Path) -> None:
    repo = one_file(drop_at=123_456, times=1)
    with client(tmp_path, repo) as asked:
        asked.fetch_well()
        asked.assert_whole()
    first, second = asked.hub.bodies(WEIGHTS)
    assert (first.sent_bytes, second.range_start) == (123_456, 123_456)
    assert second.sent_bytes == 400_000 - 123_456


def test_a_server_that_always_drops_at_the_same_byte_is_given_up_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    repo = one_file(drop_at=200_000, times=ALWAYS)
    with client(tmp_path, repo) as asked:
        failed = asked.fetch_badly()
        assert failed.code == "connection_lost"
        assert failed.facts == {"done_bytes": 200_000, "total_bytes": 400_000}
        repo.files[0].drop_at = None
        asked.fetch_well()
        asked.assert_whole()
    assert asked.hub.sent_bytes(WEIGHTS) == 400_000


def test_silence_ends_the_attempt_and_the_next_one_goes_on(tmp_path: Path) -> None:
    repo = one_file(stall_at=300_000, times=1)
    with client(tmp_path, repo) as asked:
        asked.stall_seconds = 0.5
        failed = asked.fetch_badly()
        assert failed.code == "stalled"
        asked.fetch_well()
        asked.assert_whole()
    assert asked.hub.bodies(WEIGHTS)[1].range_start == 300_000


def test_what_hangs_outside_of_the_client_is_noticed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_fetch, "_HANGING_GRACE_SECONDS", 0.2)
    repo = one_file(stall_at=300_000)
    with client(tmp_path, repo) as asked:
        asked.stall_seconds = 0.3
        monkeypatch.setattr(
            "dflash_desktop.workers.hub_file.FileTransfer.run",
            lambda transfer: transfer._control._stopped.wait(10),
        )
        failed = asked.fetch_badly()
    assert failed.code == "stalled"


def test_a_server_that_ignores_ranges_is_noticed_and_the_file_is_right(tmp_path: Path) -> None:
    repo = one_file(drop_at=200_000, times=1, ignores_range=True)
    with client(tmp_path, repo) as asked:
        asked.fetch_well()
        asked.assert_whole()
    assert [seen.status for seen in asked.hub.bodies(WEIGHTS)] == [200, 200]


@pytest.mark.parametrize(
    ("faults", "code"),
    [
        ({"is_web_page": True}, "html_instead_of_file"),
        ({"sent_content": b"\1" * 400_000}, "wrong_bytes"),
        ({"sent_content": b"<!DOCTYPE html>" + b" " * 399_985}, "html_instead_of_file"),
        ({"sent_content": b"\1" * 500_000}, "wrong_bytes"),
        ({"truncated_to": 399_999}, "truncated"),
        ({"announced_bytes": 500_000}, "truncated"),
        ({"announced_bytes": 300_000}, "wrong_bytes"),
        ({"refusal": Refusal(401, "GatedRepo")}, "gated_no_token"),
        ({"refusal": Refusal(404, "EntryNotFound")}, "file_not_found"),
        ({"refusal": Refusal(404, "RevisionNotFound")}, "revision_gone"),
        ({"refusal": Refusal(429, retry_after=7)}, "rate_limited"),
        ({"refusal": Refusal(500)}, "server_error"),
        ({"refusal": Refusal(503, at_storage=True)}, "server_error"),
        ({"refusal": Refusal(403, at_storage=True)}, "access_denied"),
    ],
)
def test_each_fault_of_a_file_has_its_code(
    faults: dict[str, object], code: str, tmp_path: Path
) -> None:
    with client(tmp_path, one_file(**faults)) as asked:
        failed = asked.fetch_badly()
        left = [path for path in asked.folder().rglob("*") if path.name == WEIGHTS]
    assert failed.code == code, failed
    assert failed.words["file"] == WEIGHTS
    assert not left, "what is not right must not have the file's name"
    if code == "rate_limited":
        assert failed.facts["retry_after_seconds"] == 7


def test_a_small_file_is_verified_by_its_git_hash(tmp_path: Path) -> None:
    repo = HubRepo("team/model", [HubFile("config.json", b'{"a": 1}', sent_content=b'{"a": 2}')])
    with client(tmp_path, repo) as asked:
        assert asked.fetch_badly().code == "wrong_bytes"


def test_a_sign_in_page_in_place_of_a_small_file_is_told_apart(tmp_path: Path) -> None:
    repo = HubRepo("team/model", [HubFile("config.json", b'{"a": 1}', is_web_page=True)])
    with client(tmp_path, repo) as asked:
        assert asked.fetch_badly().code == "html_instead_of_file"


def test_a_change_of_the_model_between_plan_and_fetch_is_noticed(tmp_path: Path) -> None:
    repo = one_file()
    with client(tmp_path, repo) as asked:
        plans = asked.plan()
        repo.commit = "d" * 40
        assert asked.fetch_badly(plans).code == "revision_gone"
        repo.branches.append(plans[0].commit)  # a mirror that answers with what it has
        assert asked.fetch_badly(plans).code == "commit_changed"


def test_only_the_files_of_a_repair_are_fetched(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked:
        answer = asked.fetch(only_paths=("config.json",))
        assert isinstance(answer, ReposFetched)
        assert [file.path for file in answer.files[0]] == ["config.json"]
        assert [path.name for path in asked.folder().rglob("*")] == ["config.json"]


def test_a_file_that_disappears_right_after_it_came_is_missed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = IncomingFolder.record

    def taken_away(folder: IncomingFolder, file: PlannedFile, sha256: str) -> None:
        record(folder, file, sha256)
        if file.path == WEIGHTS:
            folder.final_path(file).unlink()

    monkeypatch.setattr(IncomingFolder, "record", taken_away)
    with client(tmp_path, small_repo()) as asked:
        failed = asked.fetch_badly()
    assert (failed.code, failed.words["file"]) == ("file_vanished", WEIGHTS)


def test_a_full_disk_is_told_before_and_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(tmp_path, one_file()) as asked:
        plans = asked.plan()

        def full(part: part_file.PartFile) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(part_file.PartFile, "_write", full)
            while_written = asked.fetch_badly(plans)
        with monkeypatch.context() as patch:
            patch.setattr(hub_fetch, "free_disk_bytes", lambda folder: 1000)
            before = asked.fetch_badly(plans)
        asked.fetch_well(plans)
    for failed in (before, while_written):
        assert failed.code == "disk_full"
        assert failed.facts["needed_bytes"] > 400_000
    assert before.facts["free_bytes"] == 1000


def test_a_folder_that_is_none_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "incoming").write_text("a file")
    with client(tmp_path, one_file()) as asked:
        assert asked.fetch_badly().code == "folder_not_writable"


@pytest.mark.parametrize("name", ["../evil", "/evil", "CON", r"a\..\evil"])
def test_a_changed_plan_with_an_evil_name_is_refused(name: str, tmp_path: Path) -> None:
    with client(tmp_path, one_file()) as asked:
        (plan,) = asked.plan()
        evil = replace(plan, files=(replace(plan.files[0], path=name),))
        assert asked.fetch_badly((evil,)).code == "unsafe_name"
        for repo_id in ("..", "a/../b", "../x", "team/model/x", "con"):
            assert asked.fetch_badly((replace(plan, repo_id=repo_id),)).code == "repo_name_invalid"
    assert not (tmp_path / "incoming").exists()


def test_cancelling_ends_a_slow_file_within_a_second_and_it_grows_no_more(tmp_path: Path) -> None:
    repo = one_file(bytes_per_second=100_000)
    with client(tmp_path, repo) as asked:
        plans = asked.plan()
        began = time.monotonic()
        answer = asked.fetch(plans, is_cancelled=lambda: time.monotonic() - began > 0.5)
        took = time.monotonic() - began
        (part,) = (asked.folder() / BOOKKEEPING).glob("*.part")
        here = part.stat().st_size
        assert isinstance(answer, Failed)
        assert answer.code == "cancelled"
        assert took < 1.5
        assert 0 < here < 200_000
        time.sleep(0.3)
        assert part.stat().st_size == here
        repo.files[0].bytes_per_second = None
        asked.fetch_well(plans)
        asked.assert_whole()
    assert asked.hub.bodies(WEIGHTS)[1].range_start == here


def test_cancelling_ends_a_silent_connection_too(tmp_path: Path) -> None:
    with client(tmp_path, one_file(stall_at=200_000)) as asked:
        asked.stall_seconds = 60
        began = time.monotonic()
        answer = asked.fetch(is_cancelled=asked.hub.stalled.is_set)
        assert isinstance(answer, Failed)
        assert answer.code == "cancelled"
        assert time.monotonic() - began < 2
        # Nobody waits on for bytes, although the hub has neither sent nor closed.
        assert not [each for each in threading.enumerate() if each.name.startswith("fetching")]


def test_the_bandwidth_limit_holds_for_all_files_together(tmp_path: Path) -> None:
    files = [HubFile(f"{n}.bin", random_bytes=150_000, seed=n) for n in range(4)]
    with client(tmp_path, HubRepo("team/model", files)) as asked:
        plans = asked.plan()
        began = time.monotonic()
        assert isinstance(asked.fetch(plans, max_bytes_per_second=600_000), ReposFetched)
        assert 0.8 < time.monotonic() - began < 2.5


def test_the_token_goes_to_the_hub_and_nowhere_else(tmp_path: Path) -> None:
    repo = small_repo()
    repo.is_private = True
    with client(tmp_path, repo, token=GOOD_TOKEN) as asked:
        asked.fetch_well()
        asked.assert_whole()
        asked.hub.seen.clear()
        asked.fetch_well()
    hub = {seen.authorization for seen in asked.hub.seen if seen.where == "hub"}
    storage = {seen.authorization for seen in asked.hub.seen if seen.where == "storage"}
    assert hub == {f"Bearer {GOOD_TOKEN}"}
    assert storage == {""} or not storage


def test_no_secret_is_in_the_text_of_a_fault(tmp_path: Path) -> None:
    repo = one_file(refusal=Refusal(503, at_storage=True, error_message=f"for {GOOD_TOKEN}"))
    with client(tmp_path, repo, token=GOOD_TOKEN) as asked:
        failed = asked.fetch_badly()
    assert "503" in failed.raw
    assert GOOD_TOKEN not in failed.raw
    assert "signature" not in failed.raw, "a signed address is a secret for a while"


def test_two_files_of_the_same_bytes_do_not_disturb_each_other(tmp_path: Path) -> None:
    files = [HubFile(f"{name}.bin", random_bytes=300_000, seed=1) for name in "abcd"]
    with client(tmp_path, HubRepo("team/model", files)) as asked:
        asked.fetch_well()
        asked.assert_whole()


def test_an_empty_file_and_long_unicode_names_arrive(tmp_path: Path) -> None:
    files = [
        HubFile("empty"),
        HubFile("ordner ä/" + "模" * 60 + ".txt", b"x"),
        HubFile("a%20b#", b"y"),
    ]
    with client(tmp_path, HubRepo("team/model", files)) as asked:
        asked.fetch_well()
        asked.assert_whole()


def test_small_files_may_come_without_a_redirect(tmp_path: Path) -> None:
    with client(tmp_path, small_repo()) as asked:
        asked.hub.redirects_small_files = False
        asked.fetch_well()
        asked.assert_whole()


def test_a_large_file_is_hashed_beside_its_arrival(tmp_path: Path) -> None:
    repo = HubRepo(
        "team/model", [HubFile("w.bin", random_bytes=12_000_000, drop_at=9_000_000, times=1)]
    )
    with client(tmp_path, repo) as asked:
        answer = asked.fetch_well()
    assert answer.files[0][0].sha256 == hashlib.sha256(repo.files[0].content).hexdigest()


def test_xet_is_used_when_the_hub_offers_it_and_its_bytes_are_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = one_file(xet_hash="e" * 64)
    brought = [b"wrong" * 80_000, repo.files[0].content]

    def xet(plan: RepoPlan, file: PlannedFile, folder: Path, count: Callable[[int], None]) -> Path:
        folder.mkdir(exist_ok=True)
        (folder / "file").write_bytes(brought.pop(0))
        count(file.size_bytes)
        return folder / "file"

    monkeypatch.setattr(hub_fetch, "is_xet_installed", lambda: True)
    monkeypatch.setattr(hub_fetch, "xet_fetcher", lambda access, endpoint: xet)
    with client(tmp_path, repo) as asked:
        wrong = asked.fetch(use_xet=True)
        assert isinstance(wrong, Failed)
        assert wrong.code == "wrong_bytes"
        assert isinstance(asked.fetch(use_xet=True), ReposFetched)
        asked.assert_whole()
        assert not asked.hub.bodies(WEIGHTS)
        (asked.folder() / WEIGHTS).unlink()
        asked.fetch_well()
    assert len(asked.hub.bodies(WEIGHTS)) == 1


def test_a_fault_of_xet_leads_to_the_plain_way_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library and hf_xet are real; this hub gives out no access to such a storage.
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", False)
    repo = one_file(xet_hash="e" * 64)
    with client(tmp_path, repo) as asked:
        assert isinstance(asked.fetch(use_xet=True), ReposFetched)
        asked.assert_whole()
    assert any("xet-read-token" in seen.target for seen in asked.hub.seen)
    assert len(asked.hub.bodies(WEIGHTS)) == 1


def test_what_the_library_downloads_is_counted_without_a_progress_bar(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    repo = one_file()
    counted: list[int] = []
    with client(tmp_path, repo) as asked:
        (plan,) = asked.plan()
        fetch = xet_fetcher(asked.access, asked.hub.url)
        file = fetch(plan, plan.files[0], tmp_path / "xet", counted.append)
        huggingface_hub.close_session()
    assert file.read_bytes() == repo.files[0].content
    assert sum(counted) == 400_000
    assert not capfd.readouterr().err
