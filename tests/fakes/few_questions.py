"""A measurement that asks little, for tests of what its answers mean and not of speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain import bench_plan
from dflash_desktop.services import benchmark
from dflash_desktop.services.bench_prompts import load_bench_prompts

if TYPE_CHECKING:
    import pytest


def ask_little(monkeypatch: pytest.MonkeyPatch, *, assistant_tokens: int) -> None:
    """Two questions in one round, with this one number of assistant tokens."""
    prompts = load_bench_prompts()
    few = msgspec.structs.replace(prompts, fast=prompts.fast[1:3])
    monkeypatch.setattr(benchmark, "load_bench_prompts", lambda: few)
    monkeypatch.setattr(bench_plan, "ROUNDS", 1)
    monkeypatch.setattr(bench_plan, "SHORT_LADDER", (assistant_tokens,))
    monkeypatch.setattr(bench_plan, "FAST_BUDGET_SECONDS", 4.0)
    monkeypatch.setattr(bench_plan, "FAST_MIN_TOKENS", 40)
