from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from dflash_desktop.domain.draft_policy import SpeedVerdict
from dflash_desktop.domain.generation import DraftState, DraftUse, GenerationStats
from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.memory_use import EngineParts, MemoryUse
from dflash_desktop.ui.chat.speed_history import SpeedHistory
from dflash_desktop.ui.chat.speed_meter import SpeedMeter
from dflash_desktop.ui.widgets.switch import Switch
from tests.ui.chat.conftest import pump_until

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

STATS = GenerationStats(42, 312, 87, 1, 0.21, 6.47, 3)
VERDICT = SpeedVerdict(2.4, 20.1, datetime(2026, 11, 29, tzinfo=UTC), "compared with 20.1 tok/s")

MEMORY = MemoryUse(
    pool=PoolKind.SHARED,
    device_name="Intel(R) Arc(TM) 140V GPU (16GB)",
    pool_bytes=16_000_000_000,
    engine_bytes=7_000_000_000,
    other_bytes=3_000_000_000,
    reserve_bytes=1_000_000_000,
    parts=EngineParts(5_000_000_000, 1_000_000_000, 600_000_000, 400_000_000),
    is_estimated=True,
)


@pytest.fixture
def meter(qtbot: QtBot, theme: Theme) -> SpeedMeter:
    made = SpeedMeter(theme=theme)
    qtbot.addWidget(made)
    made.show()
    return made


def shown(meter: SpeedMeter) -> list[str]:
    return [label.text() for label in meter.findChildren(QLabel) if label.isVisibleTo(meter)]


def measure_button(meter: SpeedMeter) -> QPushButton:
    return next(b for b in meter.findChildren(QPushButton) if b.text() == "Measure")


def test_nothing_is_claimed_before_anything_was_measured(qtbot: QtBot, meter: SpeedMeter) -> None:
    assert "–" in shown(meter)
    assert not any(text[-1:] == "x" for text in shown(meter))
    with qtbot.waitSignal(meter.measure_requested):
        measure_button(meter).click()


def test_a_finished_answer_shows_its_average_and_what_it_compares_with(
    meter: SpeedMeter,
) -> None:
    meter.begin_answer()
    meter.take(STATS)
    meter.show_verdict(VERDICT)
    meter.end_answer()
    assert "48.1" in shown(meter)
    assert "2.40x" in shown(meter)
    assert "vs 20.1 tok/s without the draft, measured here on 29 Nov" in shown(meter)
    assert "3.59" in shown(meter)
    assert "87%" in shown(meter)
    assert measure_button(meter).isHidden()


def test_an_answer_without_the_draft_has_no_ratio_and_no_steps(meter: SpeedMeter) -> None:
    meter.begin_answer()
    meter.take(replace(STATS, steps=312, assistant_tokens=0))
    meter.show_verdict(replace(VERDICT, speedup=None))
    meter.end_answer()
    assert not any(text.endswith("x") for text in shown(meter))
    assert shown(meter).count("–") >= 2


def test_the_number_moves_while_the_answer_streams(meter: SpeedMeter) -> None:
    meter.show_verdict(replace(VERDICT, speedup=None))
    meter.begin_answer()
    meter.take(replace(STATS, tokens=40, steps=10, decode_seconds=1.0))
    meter.take(replace(STATS, tokens=80, steps=20, decode_seconds=2.0))
    pump_until(lambda: "40.0" in shown(meter))
    assert "1.99x" in shown(meter)
    meter.take(replace(STATS, tokens=180, steps=40, decode_seconds=3.0))
    pump_until(lambda: "70.0" in shown(meter))
    meter.end_answer()


@pytest.mark.parametrize(
    "stats",
    [
        GenerationStats(0, 0, 0, 0, 0.0, 0.0, 0),
        GenerationStats(9, 1, 1, 1, 0.2, 0.0, 3),
        GenerationStats(9, 4, 1, 4, 0.2, 0.0, 3),
        GenerationStats(9, 2, 2, 1, 0.2, 0.0, 3),
    ],
)
def test_no_number_is_ever_nan(meter: SpeedMeter, stats: GenerationStats) -> None:
    meter.show_verdict(VERDICT)
    meter.begin_answer()
    meter.take(stats)
    meter.take(stats)
    meter._on_tick()
    meter.end_answer()
    assert not any("nan" in text.lower() or "inf" in text.lower() for text in shown(meter))


@pytest.mark.parametrize(
    ("draft", "words", "is_on"),
    [
        (DraftUse(DraftState.ON, "It was fastest.", 3), "On · 3 tokens ahead", True),
        (DraftUse(DraftState.RESTING, "The temperature is 0.7."), "Resting", True),
        (DraftUse(DraftState.OFF, "It cost more than it gave."), "Off", False),
    ],
)
def test_the_draft_says_what_it_does_and_why(
    meter: SpeedMeter, draft: DraftUse, words: str, is_on: bool
) -> None:
    meter.show_draft(draft, is_attached=True)
    assert words in shown(meter)
    assert draft.reason in shown(meter)
    (switch,) = meter.findChildren(Switch)
    assert switch.isChecked() is is_on


def test_the_switch_asks_and_a_missing_draft_says_why_it_cannot(
    qtbot: QtBot, meter: SpeedMeter
) -> None:
    meter.show_draft(DraftUse(DraftState.ON, "", 3), is_attached=True)
    (switch,) = meter.findChildren(Switch)
    with qtbot.waitSignal(meter.draft_toggled) as toggled:
        switch.click()
    assert toggled.args == [False]
    meter.show_draft(DraftUse(DraftState.OFF, "No draft was loaded."), is_attached=False)
    assert not switch.isEnabled()
    assert switch.toolTip() == "No draft was loaded."


def test_a_model_without_a_draft_has_nothing_to_compare_or_to_tint(meter: SpeedMeter) -> None:
    off = DraftUse(DraftState.OFF, "No draft was loaded.")
    meter.show_draft(off, is_attached=False)
    assert not any("compared" in text.lower() for text in shown(meter))
    assert measure_button(meter).isHidden()
    (tint,) = (b for b in meter.findChildren(QPushButton) if b.text() == "Show draft tokens")
    assert tint.isHidden()
    meter.begin_answer()
    meter.take(replace(STATS, steps=312, assistant_tokens=0))
    meter.end_answer()
    assert measure_button(meter).isHidden()
    meter.show_draft_tokens(True)  # of earlier answers: it can be taken off again
    assert not tint.isHidden()
    meter.show_draft(DraftUse(DraftState.ON, "", 3), is_attached=True)
    assert not measure_button(meter).isHidden()


def test_a_nearly_full_context_is_said_in_words(meter: SpeedMeter) -> None:
    meter.show_context(7000, 8192)
    assert "7,000 of 8,192 tokens" in shown(meter)
    assert not any("oldest messages" in text for text in shown(meter))
    meter.show_context(7460, 8192)
    assert any(text.startswith("91% full") for text in shown(meter))
    meter.show_context(None, None)
    assert not any("oldest messages" in text for text in shown(meter))


def test_the_memory_is_told_in_parts_once_it_is_known(meter: SpeedMeter) -> None:
    assert "MEMORY" not in shown(meter)
    meter.show_memory(MEMORY)
    words = shown(meter)
    assert "about 10.0 GB of 16.0 GB shared with the system · Arc 140V" in words
    assert "target 5.00 GB" in words
    assert not any("Hardly anything" in text for text in words)
    meter.show_memory(replace(MEMORY, other_bytes=8_900_000_000, is_estimated=False))
    assert any("Hardly anything is free" in text for text in shown(meter))
    meter.show_memory(None)
    assert "MEMORY" not in shown(meter)


def test_the_rate_is_that_of_the_last_two_seconds() -> None:
    history = SpeedHistory()
    assert history.rate_now is None
    for second in range(1, 10):
        tokens = 10 * second if second < 6 else 50 + 40 * (second - 5)
        history.take(replace(STATS, tokens=tokens, steps=second, decode_seconds=float(second)))
    assert history.rate_now == pytest.approx(40)
    history.keep_point()
    assert list(history.points) == [pytest.approx(40)]
    history.restart()
    assert not history.points
