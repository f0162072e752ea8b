"""A picture enlarged, moved and held in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QColorSpace, QImage, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from dflash_desktop.ui.pictures.canvas import MAX_SCALE, PictureCanvas
from dflash_desktop.ui.pictures.pixels import read_levels, thumbnail_pixmap

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

SRGB = QColorSpace(QColorSpace.NamedColorSpace.SRgb)


def image(width: int, height: int, colour: str = "#3A86C8") -> QImage:
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(QColor(colour))
    return made


@pytest.fixture
def canvas(qtbot: QtBot, theme: Theme) -> PictureCanvas:
    made = PictureCanvas(theme=theme)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    made.show_levels((image(1600, 800), image(800, 400), image(400, 200)))
    return made


def wheel(canvas: PictureCanvas, at: QPointF, notches: int) -> None:
    event = QWheelEvent(
        at,
        canvas.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


def drag(canvas: PictureCanvas, start: QPointF, end: QPointF) -> None:
    for kind, at, button in (
        (QEvent.Type.MouseButtonPress, start, Qt.MouseButton.LeftButton),
        (QEvent.Type.MouseMove, end, Qt.MouseButton.NoButton),
        (QEvent.Type.MouseButtonRelease, end, Qt.MouseButton.LeftButton),
    ):
        event = QMouseEvent(
            kind,
            at,
            canvas.mapToGlobal(at),
            button,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(canvas, event)


def test_a_picture_is_fitted_and_a_small_one_is_not_enlarged(canvas: PictureCanvas) -> None:
    assert canvas.scale == pytest.approx(0.25)
    canvas.resize(800, 600)
    assert canvas.scale == pytest.approx(0.5)
    canvas.show_levels((image(80, 48),))
    assert canvas.scale == 1.0


def test_the_wheel_zooms_at_the_pointer(canvas: PictureCanvas) -> None:
    at = QPointF(300, 130)
    canvas.show_full_size()
    before = canvas.picture_point(at)
    wheel(canvas, at, 2)
    after = canvas.picture_point(at)
    assert canvas.scale == pytest.approx(1.25**2)
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()), abs=0.01)


def test_zoom_stays_between_all_of_it_and_the_largest(canvas: PictureCanvas) -> None:
    for _ in range(40):
        wheel(canvas, QPointF(10, 10), 1)
    assert canvas.scale == MAX_SCALE
    for _ in range(60):
        wheel(canvas, QPointF(390, 290), -1)
    assert canvas.scale == pytest.approx(0.25)


def test_an_edge_never_leaves_the_picture_behind(canvas: PictureCanvas) -> None:
    canvas.show_full_size()
    drag(canvas, QPointF(10, 10), QPointF(5000, 5000))
    corner = canvas.picture_point(QPointF(0, 0))
    assert (corner.x(), corner.y()) == pytest.approx((0, 0), abs=1.0)
    drag(canvas, QPointF(390, 290), QPointF(-5000, -5000))
    corner = canvas.picture_point(QPointF(400, 300))
    assert (corner.x(), corner.y()) == pytest.approx((1600, 800), abs=1.0)


def test_a_picture_follows_the_pointer_that_holds_it(canvas: PictureCanvas) -> None:
    canvas.show_full_size()
    held = canvas.picture_point(QPointF(200, 150))
    drag(canvas, QPointF(200, 150), QPointF(260, 120))
    now = canvas.picture_point(QPointF(260, 120))
    assert (now.x(), now.y()) == pytest.approx((held.x(), held.y()))


def test_what_is_drawn_is_the_picture(canvas: PictureCanvas) -> None:
    middle = canvas.grab().toImage().pixelColor(200, 150)
    assert middle.name() == "#3a86c8"


def test_colours_mean_the_same_on_a_screen_with_more_of_them(tmp_path: Path) -> None:
    """sRGB's red is less than the reddest of a wide screen."""
    assert image(40, 40, "#FF0000").save(str(tmp_path / "red.png"))
    wide = QColorSpace(QColorSpace.NamedColorSpace.DisplayP3)
    (shown,) = read_levels(tmp_path / "red.png", wide)
    red = shown.pixelColor(20, 20)
    assert red.red() == pytest.approx(234, abs=2)
    assert red.green() == pytest.approx(51, abs=2)
    (same,) = read_levels(tmp_path / "red.png", SRGB)
    assert same.pixelColor(20, 20).name() == "#ff0000"


def test_a_picture_with_a_profile_of_its_own_is_shown_by_it(tmp_path: Path) -> None:
    made = image(40, 40, "#EA3323")
    made.setColorSpace(QColorSpace(QColorSpace.NamedColorSpace.DisplayP3))
    assert made.save(str(tmp_path / "wide.png"))
    (shown,) = read_levels(tmp_path / "wide.png", SRGB)
    assert shown.pixelColor(20, 20).red() == pytest.approx(255, abs=2)
    assert shown.pixelColor(20, 20).green() <= 4


def test_a_file_that_is_no_picture_has_no_levels_and_no_thumbnail(
    canvas: PictureCanvas, tmp_path: Path
) -> None:
    (tmp_path / "a.png").write_bytes(b"nothing")
    for path in (tmp_path / "a.png", tmp_path / "gone.png"):
        assert read_levels(path, SRGB) == ()
        assert thumbnail_pixmap(path, 48, widget=canvas).isNull()


def test_a_thumbnail_is_cut_to_a_square_in_the_middle(
    canvas: PictureCanvas, tmp_path: Path
) -> None:
    made = image(300, 100, "white")
    for x in range(100, 200):
        for y in range(100):
            made.setPixelColor(x, y, QColor("black"))
    assert made.save(str(tmp_path / "wide.png"))
    small = thumbnail_pixmap(tmp_path / "wide.png", 50, widget=canvas).toImage()
    assert (small.width(), small.height()) == (50, 50)
    assert small.pixelColor(25, 25).name() == "#000000"
    assert small.pixelColor(3, 25).name() == "#000000"
