"""What a pair of the catalogue says where one gets more models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from dflash_desktop.domain.export_pairs import request_to_export
from dflash_desktop.domain.recommend import Verdict
from dflash_desktop.domain.transfer import RepoRequest, TransferRequest, TransferState, request_id
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.wizard.choice_words import ChoiceContent, choice_content, download_size

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.recommend import Recommendation
    from dflash_desktop.domain.transfer import Transfer, TransferPlan

_EXPORT_TIP: Final = "Nobody has converted it yet. First you see what that takes."
_FREE_LINE: Final = "{free} are free on the disk"


class OfferState(Enum):
    """What can be done about a pair."""

    AVAILABLE = auto()
    COMING = auto()  # its transfer is open
    HERE = auto()
    TO_EXPORT = auto()  # nobody has converted it yet
    NOT_TO_BE_HAD = auto()


@dataclass(frozen=True, slots=True)
class Offer:
    """One pair; `action` is what its button says, `tip` why it does nothing, if so."""

    content: ChoiceContent
    state: OfferState
    action: str
    tip: str = ""
    is_best: bool = False  # of those that run here and are not here yet

    @property
    def pair_id(self) -> str:
        """Of the catalogue."""
        return self.content.pair_id


def offers(
    ranked: Sequence[Recommendation],
    *,
    usable_bytes: int,
    installed_ids: Collection[str],
    transfers: Sequence[Transfer],
) -> tuple[Offer, ...]:
    """The pairs in rank order; `installed_ids` are repositories in lower case."""
    coming = {t.id for t in transfers if t.state is not TransferState.DONE}
    made = [_offer(one, usable_bytes, installed_ids, coming) for one in ranked]
    for position, (offer, one) in enumerate(zip(made, ranked, strict=True)):
        runs_here = one.runnable and one.verdict is Verdict.FITS
        if offer.state is OfferState.AVAILABLE and runs_here:
            made[position] = replace(offer, is_best=True)
            break
    return tuple(made)


def repositories(pair: CataloguePair) -> tuple[str, ...] | None:
    """Where target and draft come from; None if that is not known of one of them."""
    models = (pair.target,) if pair.draft is None else (pair.target, pair.draft)
    names = [model.repository for model in models]
    return None if None in names else tuple(name for name in names if name)


def request_by_name(names: Sequence[str]) -> TransferRequest:
    """What is wanted when a person names repositories."""
    repos = tuple(RepoRequest(name) for name in names)
    return TransferRequest(request_id(repos), " with ".join(_short(n) for n in names), repos)


def repository_name(text: str) -> str:
    """The name in what a person pasted, who often has the address of the model's page."""
    text = text.strip()
    if not text.startswith(("https://", "http://")):
        return text
    parts = urlsplit(text).path.strip("/").split("/")
    return "/".join(parts[:2])


def name_error(name: str) -> str:
    """What is wrong with a repository's name, or nothing."""
    owner, slash, rest = name.partition("/")
    if not slash or not owner or not rest or "/" in rest or any(c.isspace() for c in name):
        return "Write the name as owner/name, as it stands on the model's page."
    return ""


def plan_lines(plan: TransferPlan) -> tuple[str, ...]:
    """What a download by name would bring."""
    lines = [
        f"{repo.repo_id} at {repo.commit[:7]}: {_files(len(repo.files))}, "
        f"{format_bytes(repo.size_bytes)}, {_licence(repo.licence)}"
        + (", asks for consent" if repo.is_gated else "")
        for repo in plan.repos
    ]
    if plan.missing_bytes < plan.total_bytes:
        here = format_bytes(plan.total_bytes - plan.missing_bytes)
        lines.append(f"{here} are on this disk already")
    lines.append(_FREE_LINE.format(free=format_bytes(plan.free_disk_bytes)))
    return tuple(lines)


def room_error(plan: TransferPlan) -> str:
    """How much room is missing, or nothing."""
    lacking = plan.needed_disk_bytes - plan.free_disk_bytes
    if lacking <= 0:
        return ""
    return (
        f"It needs {format_bytes(plan.needed_disk_bytes)}, which is {format_bytes(lacking)} more "
        "than is free. Make room, or move the library to another disk."
    )


def _offer(
    one: Recommendation,
    usable_bytes: int,
    installed_ids: Collection[str],
    coming: Collection[str],
) -> Offer:
    content = choice_content(one, usable_bytes=usable_bytes)
    names = repositories(one.pair)
    if names and all(name.casefold() in installed_ids for name in names):
        return Offer(content, OfferState.HERE, "In your library")
    if one.pair.id in coming:
        return Offer(content, OfferState.COMING, "Show transfer")
    if names is None or not one.pair.is_prebuilt:
        if request_to_export(one.pair) is not None:
            return Offer(content, OfferState.TO_EXPORT, "Export…", _EXPORT_TIP)
        tip = "It must be exported first, which no released exporter can do."
        if names is None:
            tip = "Where to get it is not known."
        return Offer(content, OfferState.NOT_TO_BE_HAD, "Download", tip)
    words = f"Download {download_size(one.pair)}".rstrip()
    return Offer(content, OfferState.AVAILABLE, words)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _licence(licence: str) -> str:
    return f"licence {licence}" if licence else "licence: see its page"


def _short(name: str) -> str:
    return name.rpartition("/")[2]
