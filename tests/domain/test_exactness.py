"""The exact setting takes what was proven here, and says so when nothing was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop.domain.benchmark import BenchReport, FirstDifference
from dflash_desktop.domain.exactness import exact_choice, is_identical
from dflash_desktop.domain.generation import KvCachePrecision
from tests.domain.measurements import KEY, bench_run, report, result

TIE = FirstDifference(9, "a", "b", gap_nats=0.0, noise_nats=0.001)
F32, F16, U8 = KvCachePrecision.F32, KvCachePrecision.F16, KvCachePrecision.U8


def measured(precision: KvCachePrecision, *, identical: bool) -> BenchReport:
    run = bench_run(3, 60.0, difference=None if identical else TIE)
    return report(result(run), key=replace(KEY, kv_cache_precision=precision))


@pytest.mark.parametrize(
    ("proofs", "chosen", "is_proven"),
    [
        ({}, F32, False),
        ({F32: True}, F32, True),
        ({F32: True, U8: True}, F32, True),
        ({F16: True, U8: True}, F16, True),
        ({F32: False, F16: True}, F16, True),
        ({F16: False, U8: False}, F32, False),
        ({F32: False}, F32, False),
    ],
)
def test_the_finest_that_was_proven_is_taken(
    proofs: dict[KvCachePrecision, bool], chosen: KvCachePrecision, is_proven: bool
) -> None:
    choice = exact_choice(measured(p, identical=same) for p, same in proofs.items())
    assert (choice.precision, choice.is_proven) == (chosen, is_proven)
    assert choice.reason


def test_a_numeric_tie_is_no_proof_of_identity() -> None:
    assert is_identical(measured(F32, identical=True))
    assert not is_identical(measured(F32, identical=False))
    assert not is_identical(report(result()))
