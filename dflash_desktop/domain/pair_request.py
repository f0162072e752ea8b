"""A pair of the catalogue as a wish to download it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.transfer import RepoRequest, TransferRequest

if TYPE_CHECKING:
    from dflash_desktop.domain.catalogue import CataloguePair

OPENVINO_FILES: Final = (
    "*openvino_*.xml",
    "*openvino_*.bin",
    "*.json",
    "*.txt",
    "*.jinja",
    "*.model",
    "*LICENSE*",
    "*NOTICE*",
    "*README.md",
)
"""What a model in OpenVINO's form consists of. Some repositories hold the original weights, too,
and people have filled their disks with 68 GB that no one needed (case 82)."""


def request_for_pair(pair: CataloguePair) -> TransferRequest | None:
    """Target and draft as one transfer, under the pair's id; None if no hub has both."""
    if not pair.is_prebuilt or None in _repositories(pair):
        return None
    return request_for_known_repos(pair)


def request_for_known_repos(pair: CataloguePair) -> TransferRequest:
    """As `request_for_pair`, without that part of which it is not known where it comes from."""
    names = _repositories(pair)
    repos = tuple(RepoRequest(name, patterns=OPENVINO_FILES) for name in names if name)
    return TransferRequest(id=pair.id, title=pair.title, repos=repos)


def _repositories(pair: CataloguePair) -> list[str | None]:
    models = (pair.target,) if pair.draft is None else (pair.target, pair.draft)
    return [model.repository for model in models]
