"""The hub's listings of a repository, in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fakes.fake_hub import HubRepo


def listing(repo: HubRepo, *, with_blobs: bool) -> dict[str, object]:
    """What `/api/models/…` answers."""
    siblings: list[dict[str, object]] = []
    for file in repo.files:
        entry: dict[str, object] = {"rfilename": file.path}
        if with_blobs:
            entry |= {"size": file.listed_bytes, "blobId": file.blob_id}
            if file.is_lfs:
                lfs = {"sha256": file.sha256, "size": file.listed_bytes, "pointerSize": 134}
                entry["lfs"] = lfs
        siblings.append(entry)
    return {
        "_id": "0",
        "id": repo.repo_id,
        "modelId": repo.repo_id,
        "sha": repo.commit,
        "private": repo.is_private,
        "gated": repo.gated or False,
        "disabled": False,
        "tags": [f"license:{repo.licence}"] if repo.licence else [],
        "cardData": {"license": repo.licence} if repo.licence else {},
        "siblings": siblings,
    }


def tree(repo: HubRepo) -> list[dict[str, object]]:
    """What `/api/models/…/tree/…` answers."""
    entries: list[dict[str, object]] = []
    for file in repo.files:
        entry: dict[str, object] = {
            "type": "file",
            "path": file.path,
            "oid": file.blob_id,
            "size": file.listed_bytes,
        }
        if file.is_lfs:
            entry["lfs"] = {"oid": file.sha256, "size": file.listed_bytes, "pointerSize": 134}
        if file.xet_hash:
            entry["xetHash"] = file.xet_hash
        entries.append(entry)
    return entries
