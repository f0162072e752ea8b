from __future__ import annotations

import pytest

from dflash_desktop.domain.retry_policy import (
    LONGEST_ASKED_WAIT_SECONDS,
    LONGEST_WAIT_SECONDS,
    FaultKind,
    fault_kind,
    wait_seconds,
)


def test_waits_double_up_to_a_limit_and_are_spread() -> None:
    longest = [wait_seconds(n, jitter=1.0) for n in range(1, 12)]
    assert longest[:4] == [2.0, 4.0, 8.0, 16.0]
    assert longest[-1] == LONGEST_WAIT_SECONDS
    assert wait_seconds(3, jitter=0.0) == 4.0
    assert wait_seconds(3, jitter=0.5) == 6.0


def test_a_hub_is_given_the_time_that_it_asks_for_but_not_a_day() -> None:
    assert wait_seconds(1, jitter=0.0, asked_seconds=30) == 30
    assert wait_seconds(6, jitter=1.0, asked_seconds=1) == 64
    assert wait_seconds(1, jitter=0.0, asked_seconds=86_400) == LONGEST_ASKED_WAIT_SECONDS


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("stalled", FaultKind.TRANSIENT),
        ("offline", FaultKind.TRANSIENT),
        ("rate_limited", FaultKind.TRANSIENT),
        ("worker_error", FaultKind.TRANSIENT),
        ("disk_full", FaultKind.DISK_FULL),
        ("revision_gone", FaultKind.COMMIT_GONE),
        ("gated_no_token", FaultKind.PERMANENT),
        ("certificate", FaultKind.PERMANENT),
        ("wrong_bytes", FaultKind.PERMANENT),
        ("what nobody knows", FaultKind.PERMANENT),
    ],
)
def test_what_follows_from_a_failure(code: str, kind: FaultKind) -> None:
    assert fault_kind(code) is kind
