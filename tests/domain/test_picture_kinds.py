from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.picture_kinds import PictureKind, kind_of
from dflash_desktop.domain.pictures import (
    DEFAULT_LIMITS,
    PictureLimits,
    enlarged_times,
    fitted_size,
    padded_size,
)

SIDES = st.integers(min_value=1, max_value=200_000)


@given(st.binary(max_size=600))
def test_any_bytes_have_a_kind(head: bytes) -> None:
    assert kind_of(head) in PictureKind


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", PictureKind.AVIF),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", PictureKind.HEIC),
        (b"\0\0\0\x14ftypqt  \0\0\0\0qt  ", PictureKind.VIDEO),
        (b"\xef\xbb\xbf  <SVG >", PictureKind.SVG),
        (b"<!-- made by hand --><svg>", PictureKind.SVG),
        (b"<?xml version='1.0'?><rss/>", PictureKind.TEXT),
        (b"P6\n80 48\n255\n", PictureKind.NETPBM),
        (b"P6 is not always a picture, but begins like one", PictureKind.NETPBM),
        (b"Plain words", PictureKind.TEXT),
        (b"", PictureKind.UNKNOWN),
    ],
)
def test_brands_and_beginnings_tell_kinds_apart(head: bytes, kind: PictureKind) -> None:
    assert kind_of(head) is kind


@given(SIDES, SIDES)
def test_a_prepared_picture_always_suits_every_model(width: int, height: int) -> None:
    limits = DEFAULT_LIMITS
    fitted = fitted_size(width, height, limits)
    times = enlarged_times(*fitted, limits)
    size = padded_size(fitted[0] * times, fitted[1] * times, limits)
    assert limits.min_side <= min(size)
    assert max(size) <= limits.max_side
    assert size[0] * size[1] <= limits.max_pixels
    assert max(size) / min(size) <= limits.max_side / limits.min_side


@given(SIDES, SIDES)
def test_what_fits_keeps_its_size_and_what_does_not_its_ratio(width: int, height: int) -> None:
    limits = PictureLimits()
    fitted = fitted_size(width, height, limits)
    if max(width, height) <= limits.max_side:
        assert fitted == (width, height)
    elif min(fitted) >= 20:
        assert fitted[0] / fitted[1] == pytest.approx(width / height, rel=0.05)
