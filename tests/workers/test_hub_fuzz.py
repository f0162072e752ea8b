"""Whatever a hub answers, a person gets words, and nothing is made outside of its folder."""

from __future__ import annotations

import json
import shutil
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from dflash_desktop.workers.fetch_messages import ReposFetched, ReposPlanned
from dflash_desktop.workers.hub_faults import _retry_after
from dflash_desktop.workers.protocol import Failed
from tests.fakes.fake_hub import COMMIT, HubFile, HubRepo
from tests.workers.hub_client import client, one_file

if TYPE_CHECKING:
    from pathlib import Path

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
HASHES = st.sampled_from(["0" * 40, "0" * 64, "", "../x", "0" * 39])
SIBLING = st.fixed_dictionaries(
    {"rfilename": st.text(st.characters(), max_size=12) | ANYTHING},
    optional={
        "size": st.integers(-1, 10) | ANYTHING,
        "blobId": HASHES | ANYTHING,
        "lfs": st.fixed_dictionaries(
            {"size": st.integers(-1, 10), "sha256": HASHES | ANYTHING, "pointerSize": st.just(1)}
        )
        | ANYTHING,
    },
)
LISTING = st.fixed_dictionaries(
    {"id": st.just("team/model"), "sha": st.just(COMMIT) | ANYTHING},
    optional={
        "siblings": st.lists(SIBLING, max_size=4) | ANYTHING,
        "gated": ANYTHING,
        "private": ANYTHING,
        "cardData": st.fixed_dictionaries({"license": ANYTHING, "license_name": ANYTHING})
        | ANYTHING,
        "tags": ANYTHING,
        "createdAt": ANYTHING,
        "safetensors": ANYTHING,
    },
)


def test_no_listing_whatever_it_says_is_a_fault_of_the_program(tmp_path: Path) -> None:
    repo = one_file()
    with client(tmp_path, repo) as asked:

        @settings(max_examples=150, deadline=None)
        @given(listing=LISTING | ANYTHING)
        def check(listing: object) -> None:
            repo.listing = json.dumps(listing)
            answer = asked.ask_plan()
            assert isinstance(answer, Failed | ReposPlanned)
            if isinstance(answer, Failed):
                assert answer.code in ("not_a_hub", "unsafe_name", "nothing_to_fetch"), answer

        check()


def test_a_listing_that_is_nested_without_end_is_no_listing(tmp_path: Path) -> None:
    repo = one_file()
    repo.listing = "[" * 100_000
    with client(tmp_path, repo) as asked:
        answer = asked.ask_plan()
    assert isinstance(answer, Failed)
    assert answer.code == "not_a_hub"


PARTS = st.sampled_from(["..", ".", "", "a", "B", "con", "x:", " ", "\\", "a\\..\\..", "ä", "~"])


def test_a_file_of_any_name_lies_in_its_folder_or_nowhere(tmp_path: Path) -> None:
    repo = HubRepo("team/model", [])
    with client(tmp_path / "deep" / "down", repo) as asked:

        @settings(max_examples=60, deadline=None)
        @given(parts=st.lists(PARTS, min_size=1, max_size=4))
        def check(parts: list[str]) -> None:
            name = "/".join(parts)
            repo.files = [HubFile(name, b"x")]
            planned = asked.ask_plan()
            if isinstance(planned, ReposPlanned):
                assert isinstance(asked.fetch(planned.plan.repos), ReposFetched)
            files = [path for path in tmp_path.rglob("*") if path.is_file()]
            if isinstance(planned, ReposPlanned):
                assert files == [asked.folder() / PurePosixPath(name)]
                shutil.rmtree(asked.incoming)
            else:
                assert not files

        check()


@given(value=st.text(max_size=40) | st.integers().map(str))
def test_any_retry_after_is_a_number_of_seconds(value: str) -> None:
    assert 0 <= _retry_after({"Retry-After": value}) <= 86_400
    assert 0 <= _retry_after({"RateLimit": f'"api";r=0;t={value}'}) <= 86_400 * 2
