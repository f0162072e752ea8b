"""What is said of a contract and of acceptance is no more than what was seen."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.check_numbers import Signature, signature_of
from dflash_desktop.domain.check_words import ACCEPTANCE_SENTENCES, contract_sentence
from dflash_desktop.domain.pair_contract import Finding, Subject, Weight


def finding(code: str, weight: Weight) -> Finding:
    return Finding(code, weight, Subject.PAIR, expected="", found="", where="", remedy="")


UNVERIFIED = finding("pair_unverified", Weight.INFO)


def test_a_pair_that_no_card_vouches_for_is_called_unverified() -> None:
    assert contract_sentence((UNVERIFIED,)).startswith("Nothing speaks against it. Unverified:")
    assert contract_sentence(()) == "Nothing speaks against it."


def test_what_is_worse_is_said_alone() -> None:
    worse = (finding("draft_stateless", Weight.WARN), UNVERIFIED)
    assert contract_sentence(worse) == "It may work. Check it before you rely on it."


@pytest.mark.parametrize(
    ("rates", "signature"),
    [
        ((), Signature.NOTHING),
        ((0.01, 0.0), Signature.NOTHING),
        ((0.12, 0.0), Signature.FIRST_ONLY),
        ((0.1, 0.05), Signature.LOW),
        ((0.71, 0.59, 0.5), Signature.ORDINARY),
    ],
)
def test_acceptance_is_called_by_its_kind(rates: tuple[float, ...], signature: Signature) -> None:
    assert signature_of(rates) is signature
    assert ACCEPTANCE_SENTENCES[signature]
