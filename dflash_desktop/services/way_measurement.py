"""Measures every way to draft for one target in one go, so that the fastest is known."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.draft_rivals import WaysCompared, compare_ways
from dflash_desktop.services.benchmark import Benchmark, BenchProgress

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.generation import KvCachePrecision
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.pair_loading import PairLoading


class WayMeasurement:
    """Loads one way after the other, measures it and stores what it found."""

    def __init__(
        self, *, engine: Engine, loading: PairLoading, measurements: MeasurementStore
    ) -> None:
        self._loading = loading
        self._benchmark = Benchmark(engine=engine)
        self._measurements = measurements

    async def run(
        self,
        ways: Sequence[PairFolders],
        *,
        fast: bool,
        device: str = "",
        kv_cache_precision: KvCachePrecision | None = None,
        exact: bool | None = None,
        assistant_tokens: Sequence[int] | None = None,
        on_load: Callable[[PairFolders], None] = lambda _: None,
    ) -> AsyncGenerator[BenchProgress | BenchReport | WaysCompared]:
        """Progress, each way's report once it is stored, and last how they compare if several do.

        `on_load` is told of each before it is loaded. All run with the KV cache that the first
        one got, so that they can be compared. Close the iterator to cancel: what was measured
        until then is kept, and the way that was measured last stays loaded.

        Raises `AppError` as loading, measuring and storing do.
        """
        reports: list[BenchReport] = []
        for index, way in enumerate(ways):
            yield _of_all(BenchProgress("Loading the pair", 0, 1), way, index, len(ways))
            on_load(way)
            pair = await self._loading.load(
                way, device=device, kv_cache_precision=kv_cache_precision, exact=exact
            )
            kv_cache_precision = pair.kv_cache_precision
            if any(report.key.fingerprint == pair.fingerprint for report in reports):
                continue  # a copy of a draft that was measured already
            run = self._benchmark.run(pair, way, fast=fast, assistant_tokens=assistant_tokens)
            async with aclosing(run) as steps:
                async for step in steps:
                    if isinstance(step, BenchProgress):
                        yield _of_all(step, way, index, len(ways))
                        continue
                    self._measurements.put(step)
                    reports.append(step)
                    yield step
        compared = compare_ways(reports)
        if compared is not None:
            yield compared


def _of_all(step: BenchProgress, way: PairFolders, index: int, count: int) -> BenchProgress:
    """The progress of one way as a part of all of them: each counts the same."""
    total = max(1, step.total)
    return replace(
        step,
        sentence=f"{way.title}: {step.sentence}",
        done=index * total + step.done,
        total=count * total,
    )
