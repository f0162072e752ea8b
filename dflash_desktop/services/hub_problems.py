"""What the fetch process found wrong with a hub or a download, in words that lead on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.units import format_bytes, format_seconds
from dflash_desktop.services.network_off import NETWORK_OFF, network_off

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.services.fetch_process import FetchFailedError


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What a person is told; `{name}` stands for a fact or word of the failure."""

    headline: str
    advice: str
    remedies: tuple[Remedy, ...] = (Remedy.RETRY,)


_KEPT: Final = "Everything that arrived is kept."
_PAGE: Final = (Remedy.OPEN_MODEL_PAGE, Remedy.ENTER_TOKEN, Remedy.RETRY)

_SENTENCES: Final[Mapping[str, _Sentence]] = {
    "offline": _Sentence(
        "There is no connection to the internet.",
        f"Check the network, and the proxy or the mirror if you use one. {_KEPT}",
        (Remedy.RETRY, Remedy.NETWORK_SETTINGS),
    ),
    "offline_mode": _Sentence(
        "Downloads are switched off on this machine: HF_HUB_OFFLINE is set.",
        "Remove this variable from the environment, start the program again and resume.",
        (),
    ),
    "hub_unreachable": _Sentence(
        "The hub cannot be reached at {host}.",
        f"Check the network, and the hub's address in the settings if you use a mirror. {_KEPT}",
        (Remedy.RETRY, Remedy.NETWORK_SETTINGS),
    ),
    "timeout": _Sentence(
        "The hub did not answer in time.",
        f"The network or {{host}} is very slow just now. Try again later. {_KEPT}",
    ),
    "stalled": _Sentence(
        "Nothing arrives any more.",
        "The connection is open, but silent. Check the network, a proxy or a virus scanner, "
        f"then try again. {_KEPT}",
    ),
    "connection_lost": _Sentence(
        "The connection broke off.",
        "It ended several times without anything new. Check the network, a proxy or a virus "
        f"scanner, then try again. {_KEPT}",
    ),
    "certificate": _Sentence(
        "The certificate of {host} is not trusted{signed_by}.",
        "A company's proxy or a virus scanner may have put its own in place of it. If that is so, "
        "choose its certificate authority's file in the settings, or have it installed for the "
        "system. Otherwise do not use this network.",
        (Remedy.NETWORK_SETTINGS, Remedy.RETRY),
    ),
    "ca_file_unreadable": _Sentence(
        "The file with your own certificate authority cannot be read.",
        "Choose one in PEM form in the settings in place of {file}.",
        (Remedy.NETWORK_SETTINGS,),
    ),
    "proxy": _Sentence(
        "The proxy does not let the download through.",
        "Check its address in the settings. A user name and a password belong into the system's "
        "own setting of the proxy, or into HTTPS_PROXY: this program keeps none.",
        (Remedy.NETWORK_SETTINGS, Remedy.RETRY),
    ),
    "proxy_invalid": _Sentence(
        "The proxy's address in the settings cannot be used.",
        "Write it as http://name:port.",
        (Remedy.NETWORK_SETTINGS,),
    ),
    "endpoint_invalid": _Sentence(
        "The hub's address cannot be used.",
        "Write it as https://name in the settings, or leave it empty for the usual hub.",
        (Remedy.NETWORK_SETTINGS,),
    ),
    "not_a_hub": _Sentence(
        "What answers at {host} is not a model hub.",
        "Often it is a network's sign-in page: open a web page in the browser and sign in. If you "
        "use a mirror, check its address in the settings.",
        (Remedy.RETRY, Remedy.NETWORK_SETTINGS),
    ),
    "gated_no_token": _Sentence(
        "{repo} is only for people who accepted its licence.",
        "Sign in at {page}, accept the licence there, then enter an access token here.",
        _PAGE,
    ),
    "gated_not_accepted": _Sentence(
        "Your account has not been admitted to {repo} yet.",
        "Accept the licence at {page} with the account that your token belongs to. Some authors "
        "admit people by hand, which can take days.",
        (Remedy.OPEN_MODEL_PAGE, Remedy.RETRY, Remedy.ENTER_TOKEN),
    ),
    "token_without_right": _Sentence(
        "Your token may not read {repo}.",
        "It is a fine-grained token without this right. Allow it “read access to public gated "
        "repositories” on the hub's token page, or enter a token of the kind “read”.",
        (Remedy.ENTER_TOKEN, Remedy.RETRY),
    ),
    "token_refused": _Sentence(
        "The hub does not know your access token.",
        "It was revoked, has expired, or was not copied whole. Enter a new one.",
        (Remedy.ENTER_TOKEN,),
    ),
    "access_denied": _Sentence(
        "The hub does not give this model out to everybody.",
        "If you have an account there that may read it, enter its access token.",
        _PAGE,
    ),
    "not_found": _Sentence(
        "The hub has no model {repo}, or it is private.",
        "Check the name. If it is a private model of yours, enter an access token.",
        (Remedy.ENTER_TOKEN, Remedy.RETRY),
    ),
    "repo_name_invalid": _Sentence(
        "{repo} is not the name of a model on a hub.",
        "Write it as owner/name.",
        (),
    ),
    "revision_gone": _Sentence(
        "The hub does not have this version of {repo}.",
        "Its author has replaced it, or the version was not named rightly. Start the download "
        "again to get the present one.",
    ),
    "commit_changed": _Sentence(
        "{repo} was changed while it was being downloaded.",
        "Start the download again to get the present version. Files that did not change are kept.",
    ),
    "file_not_found": _Sentence(
        "The hub has no file {file} in {repo} any more.",
        "Start the download again, so that it is planned anew.",
    ),
    "nothing_to_fetch": _Sentence(
        "{repo} has no files of the kind that is wanted.",
        "It is another model than this program expects. Choose another one.",
        (Remedy.CHOOSE_MODEL,),
    ),
    "rate_limited": _Sentence(
        "The hub asks for a pause: too many requests came from here.",
        "It lets you go on {when}. With an access token the limit is higher.",
        (Remedy.RETRY, Remedy.ENTER_TOKEN),
    ),
    "server_error": _Sentence(
        "The hub has a fault just now.",
        f"That is not on your side. Try again in some minutes. {_KEPT}",
    ),
    "hub_refused": _Sentence(
        "The hub refused to give out {repo}.",
        "The details say how it answered. If you use a mirror, it may lack this model.",
        (Remedy.RETRY, Remedy.NETWORK_SETTINGS),
    ),
    "html_instead_of_file": _Sentence(
        "A web page came in place of {file}.",
        "Most often it is a network's sign-in page, or a block by a company's proxy: open a web "
        f"page in the browser and see. {_KEPT}",
    ),
    "truncated": _Sentence(
        "{file} came only in part: {done} of {total}.",
        "A proxy or the server cut it. Try again; if it always ends there, use another network.",
    ),
    "wrong_bytes": _Sentence(
        "{file} arrived with wrong bytes.",
        "Its check sum differs from the hub's, so it was thrown away. Try again; if it happens "
        "again, a proxy changes the file, or the disk or the memory has a fault.",
    ),
    "file_vanished": _Sentence(
        "{file} disappeared after it was downloaded.",
        "Most often a virus scanner takes it away. Allow this program's model folder there "
        "({folder}), then try again.",
    ),
    "unsafe_name": _Sentence(
        "{repo} has a file with a name that must not be made here.",
        "It is {file}: {reason}. Do not use this model; tell its author.",
        (),
    ),
    "disk_full": _Sentence(
        "The disk is full.",
        f"It still needs {{needed}}, and {{free}} are free. Make room, then resume. {_KEPT}",
    ),
    "path_too_long": _Sentence(
        "The path of a file would be too long for this system.",
        "Choose a shorter folder for models in the settings, such as C:\\Models. It is about "
        "{file}.",
        (Remedy.MODEL_FOLDER,),
    ),
    "folder_not_writable": _Sentence(
        "Nothing can be written into the folder for models.",
        "Choose another folder in the settings, or allow this program to write there.",
        (Remedy.MODEL_FOLDER, Remedy.RETRY),
    ),
    "disk_error": _Sentence(
        "The disk reported a fault while the download was written.",
        "Check the disk, or choose another folder for models in the settings. The details tell "
        "what the system said.",
        (Remedy.RETRY, Remedy.MODEL_FOLDER),
    ),
    "worker_error": _Sentence(
        "The download failed.",
        f"Try again. {_KEPT}",
        (Remedy.RETRY, Remedy.OPEN_LOG),
    ),
}

_UNKNOWN_WORDS: Final[Mapping[str, str]] = {
    "repo": "This model",
    "file": "A file",
    "host": "its address",
    "folder": "the folder for models",
    "page": "the model's page",
    "reason": "it is not safe",
}


def hub_problem(error: FetchFailedError) -> Problem:
    """The sentence for a failure of the fetch process; its raw text goes into the details."""
    if error.code == NETWORK_OFF:
        return network_off(str(error))
    sentence = _SENTENCES.get(error.code, _SENTENCES["worker_error"])
    words = {**_UNKNOWN_WORDS, **error.words, **_said(error)}
    return Problem(
        code=error.code,
        headline=sentence.headline.format_map(words),
        advice=sentence.advice.format_map(words),
        detail=str(error),
        remedies=sentence.remedies,
    )


def _said(error: FetchFailedError) -> dict[str, str]:
    """The failure's numbers as people read them."""
    sizes = {
        "done": "done_bytes",
        "total": "total_bytes",
        "needed": "needed_bytes",
        "free": "free_bytes",
    }
    said = {
        word: format_bytes(error.facts[fact]) if fact in error.facts else "an unknown part"
        for word, fact in sizes.items()
    }
    seconds = error.facts.get("retry_after_seconds", 0)
    said["when"] = f"in {format_seconds(seconds)}" if seconds else "in some minutes"
    issuer = error.words.get("issuer", "")
    said["signed_by"] = f"; it is signed by “{issuer}”" if issuer else ""
    return said
