"""The memory of an export as curves and in words, quick enough to be drawn all the time."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel

from dflash_desktop.domain.export_run import ExportMemory
from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.ui.export.memory_graph import (
    SHOWN_SECONDS,
    MemoryGraph,
    MemoryPlot,
    thinned,
)
from tests.ui.export.export_values import memory

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def test_the_newest_sample_is_told_in_words(qtbot: QtBot, theme: Theme) -> None:
    graph = MemoryGraph(theme=theme)
    qtbot.addWidget(graph)
    sample = ExportMemory(3.0, 1_500_000_000, 6_000_000_000, 9_000_000_000, 2_000_000_000)
    graph.show_samples((sample,))
    plot = graph.findChild(MemoryPlot)
    assert plot is not None
    words = plot.accessibleDescription()
    for amount in ("1.50 GB", "9.00 GB", "6.00 GB", "2.00 GB"):
        assert amount in words
    legend = [label.text() for label in graph.findChildren(QLabel)]
    assert legend == [
        "the export 1.50 GB",
        "its limit 9.00 GB",
        "available 6.00 GB",
        "kept free 2.00 GB",
    ]


def test_a_run_that_is_over_has_no_now(qtbot: QtBot, theme: Theme) -> None:
    graph = MemoryGraph(theme=theme)
    qtbot.addWidget(graph)
    graph.show_samples(memory())
    running = graph.grab().toImage()
    graph.show_samples(memory(), is_over=True)
    assert next(label.text() for label in graph.findChildren(QLabel)) == "the export"
    assert graph.grab().toImage() != running


def test_only_the_last_minutes_are_shown_and_each_moment_can_be_asked_for(
    qtbot: QtBot, theme: Theme
) -> None:
    plot = MemoryPlot(theme=theme)
    qtbot.addWidget(plot)
    plot.resize(600, 132)
    samples = memory(400)
    plot.show_samples(samples)
    newest, oldest = plot.sample_at(10_000), plot.sample_at(-5)
    assert newest == samples[-1]
    assert oldest is not None
    assert SHOWN_SECONDS - 2 < samples[-1].at_seconds - oldest.at_seconds <= SHOWN_SECONDS


def test_a_peak_of_one_moment_is_still_drawn() -> None:
    samples = list(memory(180))
    samples[333] = replace(samples[333], tree_bytes=30_000_000_000)
    drawn = thinned(samples)
    assert samples[333] in drawn
    assert drawn[-1] == samples[-1]
    assert len(drawn) < 300


def test_the_curves_are_drawn_in_the_theme(qtbot: QtBot, theme: Theme) -> None:
    plot = MemoryPlot(theme=theme)
    qtbot.addWidget(plot)
    plot.resize(600, 132)
    plot.show_samples(())
    empty = plot.grab().toImage()
    plot.show_samples(memory())
    light = plot.grab().toImage()
    assert light != empty
    theme.choose(ThemeChoice.DARK)
    assert plot.grab().toImage() != light


def test_three_minutes_of_samples_are_drawn_within_a_frame(qtbot: QtBot, theme: Theme) -> None:
    plot = MemoryPlot(theme=theme)
    qtbot.addWidget(plot)
    plot.resize(900, 132)
    plot.show_samples(memory(180))
    best = min(_seconds_to_draw(plot) for _ in range(5))
    assert best < 0.016


def _seconds_to_draw(plot: MemoryPlot) -> float:
    began = time.thread_time()
    plot.grab()
    return time.thread_time() - began
