from __future__ import annotations

from dflash_desktop.domain.transfer import PlannedFile, RepoPlan, RepoRequest, request_id
from dflash_desktop.domain.transfer_progress import TransferProgress

PLANS = (
    RepoPlan("a/1", "a" * 40, (PlannedFile("x.bin", 100), PlannedFile("y.json", 10))),
    RepoPlan("b/2", "b" * 40, (PlannedFile("x.bin", 50),)),
)


def test_files_of_the_same_name_in_two_repositories_are_two() -> None:
    progress = TransferProgress(PLANS)
    progress.note(0, "x.bin", 60, is_verified=False)
    progress.note(1, "x.bin", 50, is_verified=True)
    assert (progress.done_bytes, progress.total_bytes) == (110, 160)
    assert [(f.repo_id, f.done_bytes, f.is_verified) for f in progress.files] == [
        ("a/1", 60, False),
        ("a/1", 0, False),
        ("b/2", 50, True),
    ]
    assert not progress.is_all_here


def test_a_file_that_begins_again_takes_its_bytes_back() -> None:
    progress = TransferProgress(PLANS)
    progress.note(0, "x.bin", 60, is_verified=False)
    progress.note(0, "x.bin", 5, is_verified=False)
    assert progress.done_bytes == 5
    progress.note_all()
    assert progress.is_all_here
    assert all(file.is_verified for file in progress.files)


def test_what_was_not_planned_counts_nothing() -> None:
    progress = TransferProgress(PLANS)
    progress.note(7, "x.bin", 60, is_verified=False)
    progress.note(0, "other", 60, is_verified=False)
    progress.note(0, "y.json", 10**9, is_verified=False)
    progress.note(0, "x.bin", -3, is_verified=False)
    assert progress.done_bytes == 10


def test_the_same_wish_has_the_same_id_and_other_files_have_another() -> None:
    one = (RepoRequest("a/1"), RepoRequest("b/2"))
    assert request_id(one) == request_id((RepoRequest("a/1"), RepoRequest("b/2")))
    others = [
        (RepoRequest("a/1"),),
        (RepoRequest("b/2"), RepoRequest("a/1")),
        (RepoRequest("a/1", revision="v2"), RepoRequest("b/2")),
        (RepoRequest("a/1", patterns=("*.xml",)), RepoRequest("b/2")),
    ]
    assert len({request_id(one), *map(request_id, others)}) == 5
