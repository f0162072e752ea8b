from __future__ import annotations

import re
from pathlib import Path

import pytest

from dflash_desktop import workers
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.services.fetch_process import FetchFailedError
from dflash_desktop.services.hub_problems import _SENTENCES, hub_problem

WORDS = {
    "repo": "team/model",
    "file": "openvino_model.bin",
    "host": "hub.example",
    "folder": "/models",
    "issuer": "Company Proxy",
    "reason": "it leads out of its folder",
}
FACTS = {
    "done_bytes": 1_000_000,
    "total_bytes": 5_000_000,
    "needed_bytes": 14_000_000_000,
    "free_bytes": 9_000_000_000,
    "retry_after_seconds": 90,
}


def codes_of_the_workers() -> set[str]:
    """Every code that the fetch process's own sources can put into a failure with a hub."""
    folder = Path(workers.__file__).parent
    files = [*folder.glob("hub_*.py"), folder / "incoming_folder.py"]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    direct = re.findall(r'(?:HubFaultError|_fault)\(\s*"(\w+)"', text)
    returned = re.findall(r'(?:return|else|code =) "([a-z]\w+)"', text)
    chosen = re.findall(r'"([a-z]\w+)" if ', text)
    return {*direct, *returned, *chosen}


def test_every_code_of_the_fetch_process_has_its_sentence() -> None:
    codes = codes_of_the_workers()
    assert len(codes) > 25
    assert not codes - _SENTENCES.keys()


def test_no_sentence_is_for_a_code_that_nothing_sends() -> None:
    assert not _SENTENCES.keys() - codes_of_the_workers() - {"worker_error"}


@pytest.mark.parametrize("code", sorted(_SENTENCES))
@pytest.mark.parametrize("is_told_more", [True, False])
def test_each_sentence_says_what_and_what_next(code: str, is_told_more: bool) -> None:
    error = FetchFailedError(code, "raw text", FACTS, WORDS) if is_told_more else None
    problem = hub_problem(error or FetchFailedError(code, "raw text"))
    assert problem.code == code
    assert problem.detail == "raw text"
    for text in (problem.headline, problem.advice):
        assert text[0].isupper() or text.startswith(tuple(WORDS.values()))
        assert text[-1] == "."
        assert not re.search(r"[{}]|\bNone\b|  |\.\.", text), text
    assert len(problem.headline) < 100


def test_the_numbers_and_names_of_a_failure_are_told() -> None:
    def told(code: str) -> str:
        problem = hub_problem(FetchFailedError(code, "", FACTS, WORDS))
        return f"{problem.headline} {problem.advice}"

    assert "needs 14.0 GB, and 9.00 GB are free" in told("disk_full")
    assert "1.00 MB of 5.00 MB" in told("truncated")
    assert "in 1 min 30 s" in told("rate_limited")
    assert "hub.example is not trusted; it is signed by “Company Proxy”" in told("certificate")
    assert "team/model is only for people who accepted" in told("gated_no_token")


def test_the_way_out_fits_the_fault() -> None:
    def remedies(code: str) -> tuple[Remedy, ...]:
        return hub_problem(FetchFailedError(code, "")).remedies

    assert Remedy.ENTER_TOKEN in remedies("gated_no_token")
    assert remedies("gated_not_accepted")[0] is Remedy.OPEN_MODEL_PAGE
    assert Remedy.NETWORK_SETTINGS in remedies("certificate")
    assert Remedy.NETWORK_SETTINGS in remedies("offline")  # a proxy or a mirror may be the way
    assert Remedy.RETRY not in remedies("unsafe_name")
    assert Remedy.MODEL_FOLDER in remedies("path_too_long")


def test_braces_and_an_unknown_code_do_no_harm() -> None:
    evil = FetchFailedError("file_not_found", "", {}, {"file": "{repo.__class__}", "repo": "a/b"})
    assert "{repo.__class__}" in hub_problem(evil).headline
    assert hub_problem(FetchFailedError("unheard_of", "raw")).headline == "The download failed."


def test_nobody_is_told_to_enter_a_password_where_none_is_taken() -> None:
    advice = hub_problem(FetchFailedError("proxy", "407", FACTS, WORDS)).advice
    assert "password in the settings" not in advice
    assert "HTTPS_PROXY" in advice


def test_a_version_that_never_was_is_not_called_replaced() -> None:
    problem = hub_problem(FetchFailedError("revision_gone", "404", FACTS, WORDS))
    assert "no longer" not in problem.headline
    assert "not named rightly" in problem.advice
