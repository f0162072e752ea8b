from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dflash_desktop.ui.colours import (
    DARK,
    LIGHT,
    MIN_READING_CONTRAST,
    MIN_TEXT_CONTRAST,
    ColourRole,
    Colours,
    contrast,
    mix,
    with_accent,
    with_high_contrast,
)

SETS = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
BACKGROUNDS = (ColourRole.SURFACE, ColourRole.SURFACE_RAISED)
WORDS = (
    ColourRole.TEXT_MUTED,
    ColourRole.ACCENT,
    ColourRole.GOOD,
    ColourRole.WARN,
    ColourRole.BAD,
)


def test_contrast_agrees_with_the_published_examples() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@SETS
def test_reading_text_is_readable_on_every_background(colours: Colours) -> None:
    for background in (*BACKGROUNDS, ColourRole.DRAFT_TINT):
        assert contrast(colours.text, colours.of(background)) >= MIN_READING_CONTRAST


@SETS
@pytest.mark.parametrize("role", WORDS)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_words_in_every_role_are_readable(
    colours: Colours, role: ColourRole, background: ColourRole
) -> None:
    assert contrast(colours.of(role), colours.of(background)) >= MIN_TEXT_CONTRAST


@SETS
def test_words_stay_readable_on_controls_under_the_pointer(colours: Colours) -> None:
    for background in (colours.hover, colours.pressed):
        assert contrast(colours.text, background) >= MIN_READING_CONTRAST
    for background in (colours.accent, colours.accent_hover):
        assert contrast(colours.accent_text, background) >= MIN_TEXT_CONTRAST


@SETS
def test_the_draft_tint_differs_from_the_page(colours: Colours) -> None:
    assert contrast(colours.draft_tint, colours.surface) >= 1.2


def test_only_the_dark_set_is_dark() -> None:
    assert DARK.is_dark
    assert not LIGHT.is_dark


@given(channels=st.tuples(*[st.integers(0, 255)] * 3), colours=st.sampled_from([LIGHT, DARK]))
@example(channels=(0, 0, 0), colours=DARK)
@example(channels=(255, 255, 255), colours=LIGHT)
def test_any_accent_of_the_system_is_made_readable(
    channels: tuple[int, int, int], colours: Colours
) -> None:
    wish = "#" + "".join(f"{c:02X}" for c in channels)
    fitted = with_accent(colours, wish)
    for background in (fitted.surface, fitted.surface_raised):
        assert contrast(fitted.accent, background) >= MIN_TEXT_CONTRAST
    assert contrast(fitted.accent_text, fitted.accent) >= MIN_TEXT_CONTRAST


def test_a_readable_accent_is_taken_as_it_is() -> None:
    assert with_accent(LIGHT, "#8A1C7C").accent == "#8A1C7C"


@SETS
def test_high_contrast_is_black_and_white_with_strong_signals(colours: Colours) -> None:
    strong = with_high_contrast(colours)
    for background in (strong.surface, strong.surface_raised):
        assert contrast(strong.text, background) == pytest.approx(21)
        assert contrast(strong.border, background) == pytest.approx(21)
        for role in WORDS:
            assert contrast(strong.of(role), background) >= MIN_READING_CONTRAST


def test_mixing_moves_from_one_colour_to_the_other() -> None:
    assert mix("#000000", "#FFFFFF", 0) == "#000000"
    assert mix("#000000", "#FFFFFF", 1) == "#FFFFFF"
    assert mix("#000000", "#FFFFFF", 0.5) == "#808080"
