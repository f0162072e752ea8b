from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.transfer import PlannedFile
from dflash_desktop.workers import incoming_folder
from dflash_desktop.workers.incoming_folder import BOOKKEEPING, IncomingFolder
from tests.fakes.fake_hub import HubFile, HubRepo, Refusal, small_repo
from tests.workers.hub_client import client, one_file

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS = "openvino_model.bin"


def put_in_cache(folder: Path, repo: HubRepo, file: HubFile, content: bytes | None = None) -> Path:
    """A blob as the hub's own tools leave it."""
    blob = folder / f"models--{repo.repo_id.replace('/', '--')}" / "blobs" / file.etag
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(file.content if content is None else content)
    return blob


def test_a_part_of_other_bytes_is_thrown_away_and_the_file_fetched_anew(tmp_path: Path) -> None:
    repo = one_file()
    with client(tmp_path, repo) as asked:
        (plan,) = asked.plan()
        folder = IncomingFolder(asked.incoming, plan.repo_id)
        folder.make()
        folder.part_path(plan.files[0]).write_bytes(b"\0" * 100_000)
        asked.fetch_well((plan,))
        asked.assert_whole()
    assert [seen.range_start for seen in asked.hub.bodies(WEIGHTS)] == [100_000, None]


@pytest.mark.parametrize("part_bytes", [400_000, 400_001])
def test_a_part_that_is_whole_or_too_long_is_judged_by_its_hash(
    part_bytes: int, tmp_path: Path
) -> None:
    repo = one_file()
    with client(tmp_path, repo) as asked:
        (plan,) = asked.plan()
        folder = IncomingFolder(asked.incoming, plan.repo_id)
        folder.make()
        content = (repo.files[0].content + b"x")[:part_bytes]
        folder.part_path(plan.files[0]).write_bytes(content)
        asked.fetch_well((plan,))
        asked.assert_whole()
    assert asked.hub.sent_bytes(WEIGHTS) == (0 if part_bytes == 400_000 else 400_000)


def test_a_new_commit_keeps_the_files_that_did_not_change(tmp_path: Path) -> None:
    repo = small_repo()
    with client(tmp_path, repo) as asked:
        repo.files[3].refusal = Refusal(500)
        while not (asked.folder() / WEIGHTS).exists():
            asked.fetch_badly()
        asked.hub.seen.clear()
        repo.commit = "d" * 40
        repo.files[3] = HubFile("new.json", b"{}")
        repo.files[0] = HubFile("config.json", b'{"model_type": "other"}')
        asked.fetch_well()
    assert not asked.hub.bodies(WEIGHTS)
    assert (asked.folder() / "config.json").read_bytes() == b'{"model_type": "other"}'


def test_a_whole_file_of_an_earlier_attempt_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = small_repo()
    monkeypatch.setattr(IncomingFolder, "finish", lambda folder: None)
    with client(tmp_path, repo) as asked:
        asked.fetch_well()
        monkeypatch.setattr("dflash_desktop.workers.hub_file.feed_file", None)
        asked.fetch_well()
        monkeypatch.undo()
        # But one that was touched is, and a wrong one is fetched again.
        (asked.folder() / WEIGHTS).write_bytes(b"\0" * 3_000_000)
        asked.fetch_well()
        asked.assert_whole()
    assert len(asked.hub.bodies(WEIGHTS)) == 2


def test_a_cached_blob_is_linked_and_not_fetched(tmp_path: Path) -> None:
    repo = small_repo()
    blob = put_in_cache(tmp_path / "cache", repo, repo.file(WEIGHTS))
    with client(tmp_path, repo) as asked:
        asked.cache_dirs = (tmp_path / "none", tmp_path / "cache")
        asked.fetch_well()
        asked.assert_whole()
    assert not asked.hub.bodies(WEIGHTS)
    assert (asked.folder() / WEIGHTS).samefile(blob)


def test_a_cached_blob_is_copied_where_links_do_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = small_repo()
    blob = put_in_cache(tmp_path / "cache", repo, repo.file(WEIGHTS))

    def no_links(*arguments: object) -> None:
        raise OSError(errno.EXDEV, "another disk")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "symlink", no_links)  # case 76: no symbolic links either
    with client(tmp_path, repo) as asked:
        asked.cache_dirs = (tmp_path / "cache",)
        asked.fetch_well()
        asked.assert_whole()
    assert not asked.hub.bodies(WEIGHTS)
    assert not (asked.folder() / WEIGHTS).samefile(blob)


def test_a_damaged_cached_blob_is_not_believed_and_not_touched(tmp_path: Path) -> None:
    repo = small_repo()
    wrong = b"\0" * 3_000_000
    blob = put_in_cache(tmp_path / "cache", repo, repo.file(WEIGHTS), wrong)
    with client(tmp_path, repo) as asked:
        asked.cache_dirs = (tmp_path / "cache",)
        asked.fetch_well()
        asked.assert_whole()
    assert blob.read_bytes() == wrong


def test_parts_of_files_that_are_not_wanted_any_more_are_removed(tmp_path: Path) -> None:
    repo = one_file(drop_at=200_000)
    with client(tmp_path, repo) as asked:
        asked.fetch_badly()
        repo.files[0] = HubFile(WEIGHTS, random_bytes=300_000, seed=8)
        plans = asked.plan()
        repo.files[0].drop_at = 100_000
        asked.fetch_badly(plans)
        (part,) = (asked.folder() / BOOKKEEPING).glob("*.part")
    assert part.stat().st_size == 100_000


def test_a_hash_that_is_none_never_becomes_a_path(tmp_path: Path) -> None:
    for etag in ("../x", "", "G" * 64, "0" * 39):
        with pytest.raises(ValueError, match="no hash"):
            incoming_folder.etag_of(PlannedFile("a", 1, sha256=etag or None))


def test_a_cut_line_of_the_record_only_costs_reading(tmp_path: Path) -> None:
    repo = small_repo()
    with client(tmp_path, repo) as asked:
        repo.files[3].refusal = Refusal(500)
        while not (asked.folder() / WEIGHTS).exists():
            asked.fetch_badly()
        record = asked.folder() / BOOKKEEPING / "verified.jsonl"
        record.write_bytes(record.read_bytes()[:-20] + b"\n{")
        repo.files[3].refusal = None
        asked.hub.seen.clear()
        asked.fetch_well()
        asked.assert_whole()
    assert not asked.hub.bodies(WEIGHTS)
