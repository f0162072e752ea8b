"""Picture files of every mode, orientation and damage, each with what must become of it."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.fakes.picture_bytes import (
    HEIC,
    P3_TO_XYZ,
    deep_png,
    matrix_profile,
    p3_as_srgb,
    packed_png,
    png_chunk,
    png_header,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import Image
    from PIL.Image import Image as PillowImage

WIDTH, HEIGHT = 80, 48
RED, GREEN, BLUE, GREY = (200, 30, 40), (30, 160, 60), (40, 60, 200), (128, 128, 128)
WHITE: Final = (255, 255, 255)
EXACT, LOSSY, CHROMA = 1, 8, 16
"""How far a channel may be off: rounding, compression, and compression of colour."""

LOSSLESS: Final[dict[str, dict[str, object]]] = {
    "PNG": {},
    "WEBP": {"lossless": True},
    "AVIF": {"quality": 95, "subsampling": "4:4:4"},
}
"""Kinds that move and can be turned, and how they keep colours."""

Pixel = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class GoodFile:
    """A file that is read: its upright size, some pixels, and words of its notes."""

    name: str
    data: bytes
    pixels: dict[tuple[int, int], Pixel]
    size: tuple[int, int] = (WIDTH, HEIGHT)
    prepared_size: tuple[int, int] | None = None  # where it is not `size`
    tolerance: int = EXACT
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that is refused: the code, and words of the sentence."""

    name: str
    data: bytes
    codes: tuple[str, ...]
    words: tuple[str, ...] = field(default=())


def scene() -> PillowImage:
    """Four quarters: red and green above, blue and grey below."""
    from PIL import Image

    image = Image.new("RGB", (WIDTH, HEIGHT))
    half_x, half_y = WIDTH // 2, HEIGHT // 2
    image.paste(RED, (0, 0, half_x, half_y))
    image.paste(GREEN, (half_x, 0, WIDTH, half_y))
    image.paste(BLUE, (0, half_y, half_x, HEIGHT))
    image.paste(GREY, (half_x, half_y, WIDTH, HEIGHT))
    return image


def quarters(red: Pixel, green: Pixel, blue: Pixel, grey: Pixel) -> dict[tuple[int, int], Pixel]:
    """What the middle of each quarter must show."""
    return {(20, 12): red, (60, 12): green, (20, 36): blue, (60, 36): grey}


SCENE: Final = quarters(RED, GREEN, BLUE, GREY)


def saved(image: PillowImage, kind: str, **options: object) -> bytes:
    """The bytes of a file."""
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def exif_of(orientation: int) -> Image.Exif:
    """What a camera writes about how it was held."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def good_files() -> Iterator[GoodFile]:
    """Everything that must be read."""
    yield from _plain_files()
    yield from _transparent_files()
    yield from _deep_files()
    yield from _oriented_files()
    yield from _profiled_files()
    yield from _odd_sizes()


def _grey(pixel: Pixel) -> Pixel:
    """Luma as every library computes it."""
    value = round(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2])
    return (value, value, value)


def _plain_files() -> Iterator[GoodFile]:
    from PIL import Image

    image = scene()
    greys = quarters(*(_grey(one) for one in (RED, GREEN, BLUE, GREY)))
    yield GoodFile("rgb.png", saved(image, "PNG"), SCENE)
    yield GoodFile("named-wrongly.jpg", saved(image, "PNG"), SCENE)
    yield GoodFile("no ending, ümläut 名前", saved(image, "PNG"), SCENE)
    yield GoodFile("grey.png", saved(image.convert("L"), "PNG"), greys)
    yield GoodFile("palette.png", saved(image.quantize(8), "PNG"), SCENE, tolerance=LOSSY)
    two = image.convert("L").point(lambda value: 255 if value > 90 else 0).convert("1")
    black: Pixel = (0, 0, 0)
    yield GoodFile("one-bit.png", saved(two, "PNG"), quarters(black, WHITE, black, WHITE))
    yield GoodFile("group4.tif", saved(two, "TIFF", compression="group4"), {(60, 36): WHITE})
    for name, quality, subsampling, is_progressive in (
        ("plain.jpg", 95, 0, False),
        ("progressive.jpg", 90, 2, True),
        ("poor.jpg", 40, 2, False),
    ):
        data = saved(
            image, "JPEG", quality=quality, subsampling=subsampling, progressive=is_progressive
        )
        yield GoodFile(name, data, SCENE, tolerance=CHROMA)
    yield GoodFile("grey.jpg", saved(image.convert("L"), "JPEG"), greys, tolerance=LOSSY)
    cmyk = image.convert("CMYK")
    yield GoodFile("cmyk.jpg", saved(cmyk, "JPEG", quality=95), SCENE, tolerance=CHROMA)
    yield GoodFile("named-wrongly.heic", saved(image, "JPEG", quality=95), SCENE, tolerance=CHROMA)
    mpo = saved(image, "MPO", save_all=True, append_images=[image], quality=95)
    yield GoodFile("two-in-one.mpo", mpo, SCENE, tolerance=CHROMA)
    yield GoodFile("heic.heic", HEIC, SCENE, tolerance=LOSSY)
    yield GoodFile("phone.jpg", HEIC, SCENE, tolerance=LOSSY)
    for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        data = saved(image, "TIFF", compression=compression)
        yield GoodFile(f"{compression}.tif", data, SCENE)
    ycbcr = saved(image, "TIFF", compression="jpeg", quality=95)
    yield GoodFile("jpeg-inside.tif", ycbcr, SCENE, tolerance=CHROMA)
    yield GoodFile("cmyk.tif", saved(cmyk, "TIFF"), SCENE)
    yield GoodFile("palette.tif", saved(image.quantize(8), "TIFF"), SCENE, tolerance=LOSSY)
    pages = saved(image, "TIFF", save_all=True, append_images=[image, image])
    yield GoodFile("pages.tif", pages, SCENE, notes=("The first of 3 pages.",))
    yield GoodFile("still.gif", saved(image.quantize(8), "GIF"), SCENE, tolerance=LOSSY)
    other = Image.new("RGB", image.size, "yellow")
    moving: dict[str, object] = {"save_all": True, "append_images": [other, other.rotate(90)]}
    first = ("The first of 3 frames.",)
    for kind, options in (("GIF", {}), *LOSSLESS.items()):
        data = saved(image, kind, **moving, **options)
        yield GoodFile(f"moving.{kind.lower()}", data, SCENE, tolerance=LOSSY, notes=first)
    yield GoodFile("lossless.webp", saved(image, "WEBP", lossless=True), SCENE)
    yield GoodFile("lossy.webp", saved(image, "WEBP", quality=90), SCENE, tolerance=CHROMA)
    avif = saved(image, "AVIF", quality=95, subsampling="4:4:4")
    yield GoodFile("still.avif", avif, SCENE, tolerance=LOSSY)
    yield GoodFile("plain.bmp", saved(image, "BMP"), SCENE)
    yield GoodFile("palette.bmp", saved(image.quantize(8), "BMP"), SCENE, tolerance=LOSSY)
    yield GoodFile("plain.ppm", saved(image, "PPM"), SCENE)
    yield GoodFile("plain.pgm", saved(image.convert("L"), "PPM"), greys)
    yield GoodFile("plain.pbm", saved(two, "PPM"), quarters(black, WHITE, black, WHITE))
    jpeg_2000 = saved(image, "JPEG2000", irreversible=False)
    yield GoodFile("plain.jp2", jpeg_2000, SCENE)
    icon = saved(image.crop((0, 0, 48, 48)), "ICO", sizes=[(48, 48)])
    yield GoodFile("plain.ico", icon, {(20, 12): RED, (44, 12): GREEN}, size=(48, 48))


def _transparent_files() -> Iterator[GoodFile]:
    """What is seen through shows white, and never the colour that is stored there."""
    from PIL import Image

    image = scene()
    on_white = ("White was put behind",)
    hidden = image.convert("RGBA")
    hidden.paste((0, 0, 0, 0), (0, 0, WIDTH // 2, HEIGHT // 2))  # black, and not there at all
    half = (227, 142, 147)  # half of red, half of white
    thin = hidden.copy()
    thin.paste((*RED, 128), (0, 0, WIDTH // 2, HEIGHT // 2))
    seen = quarters(WHITE, GREEN, BLUE, GREY)
    yield GoodFile("opaque.png", saved(image.convert("RGBA"), "PNG"), SCENE)
    yield GoodFile("hidden.png", saved(hidden, "PNG"), seen, notes=on_white)
    yield GoodFile(
        "thin.png", saved(thin, "PNG"), quarters(half, GREEN, BLUE, GREY), notes=on_white
    )
    yield GoodFile("hidden.tif", saved(hidden, "TIFF"), seen, notes=on_white)
    yield GoodFile("hidden.webp", saved(hidden, "WEBP", lossless=True), seen, notes=on_white)
    avif = saved(hidden, "AVIF", quality=95, subsampling="4:4:4")
    yield GoodFile("hidden.avif", avif, seen, tolerance=LOSSY, notes=on_white)
    greys = quarters(*(_grey(one) for one in (RED, GREEN, BLUE, GREY)))
    grey = image.convert("L").convert("LA")
    grey.putpixel((0, 0), (0, 0))
    grey.paste((0, 0), (0, 0, WIDTH // 2, HEIGHT // 2))
    yield GoodFile(
        "hidden-grey.png", saved(grey, "PNG"), {**greys, (20, 12): WHITE}, notes=on_white
    )
    palette = image.quantize(8)
    index = palette.tobytes()[12 * WIDTH + 20]
    for name, kind, key in (
        ("hidden-index.png", "PNG", index),
        ("hidden-index.gif", "GIF", index),
        ("hidden-bytes.png", "PNG", bytes([255] * index + [0])),
    ):
        data = saved(palette, kind, transparency=key)
        yield GoodFile(name, data, seen, tolerance=LOSSY, notes=on_white)
    yield GoodFile(
        "hidden-colour.png", saved(image, "PNG", transparency=RED), seen, notes=on_white
    )
    red_grey = _grey(RED)[0]
    yield GoodFile(
        "hidden-level.png",
        saved(image.convert("L"), "PNG", transparency=red_grey),
        {**greys, (20, 12): WHITE},
        notes=on_white,
    )
    icon = Image.new("RGBA", (32, 32), (0, 0, 0, 0))
    icon.paste((*GREEN, 255), (16, 0, 32, 32))
    yield GoodFile(
        "hidden.ico",
        saved(icon, "ICO", sizes=[(32, 32)]),
        {(8, 8): WHITE, (24, 8): GREEN},
        size=(32, 32),
        notes=on_white,
    )


def _deep_files() -> Iterator[GoodFile]:
    from PIL import Image

    def deep(pixel: Pixel) -> tuple[int, ...]:
        return tuple(value * 257 for value in pixel)

    def at(x: int, y: int) -> Pixel:
        row = (RED, GREEN) if y < HEIGHT // 2 else (BLUE, GREY)
        return row[x >= WIDTH // 2]

    def see_through(x: int, y: int) -> tuple[int, ...]:
        return (*deep(at(x, y)), 0 if x < WIDTH // 2 else 65535)

    half: Pixel = (128, 128, 128)
    on_white = ("White was put behind",)
    yield GoodFile(
        "grey16.png", deep_png(WIDTH, HEIGHT, 0, lambda _x, _y: (32896,)), {(40, 24): half}
    )
    yield GoodFile("rgb16.png", deep_png(WIDTH, HEIGHT, 2, lambda x, y: deep(at(x, y))), SCENE)
    yield GoodFile(
        "interlaced16.png",
        deep_png(WIDTH, HEIGHT, 2, lambda x, y: deep(at(x, y)), interlaced=True),
        SCENE,
    )
    yield GoodFile(
        "rgba16.png",
        deep_png(WIDTH, HEIGHT, 6, see_through),
        quarters(WHITE, GREEN, WHITE, GREY),
        notes=on_white,
    )
    grey_alpha = deep_png(WIDTH, HEIGHT, 4, lambda x, _y: (32896, 0 if x < 40 else 65535))
    yield GoodFile(
        "grey-alpha16.png", grey_alpha, quarters(WHITE, half, WHITE, half), notes=on_white
    )
    two_bits = packed_png(WIDTH, HEIGHT, depth=2, value=lambda x, _y: 1 if x < 40 else 3)
    yield GoodFile("two-bit.png", two_bits, {(20, 12): (85, 85, 85), (60, 12): WHITE})
    palette = packed_png(
        WIDTH,
        HEIGHT,
        depth=4,
        value=lambda x, y: (x >= 40) + 2 * (y >= 24),
        palette=bytes((*RED, *GREEN, *BLUE, *GREY)),
        transparency=b"\0",
    )
    yield GoodFile("four-bit.png", palette, quarters(WHITE, GREEN, BLUE, GREY), notes=on_white)
    short = Image.new("I;16", (WIDTH, HEIGHT), 32896)
    yield GoodFile("grey16.tif", saved(short, "TIFF"), {(40, 24): half})
    yield GoodFile("grey16.pgm", saved(short, "PPM"), {(40, 24): half})
    whole = Image.new("I", (WIDTH, HEIGHT), 32896)
    yield GoodFile("grey32.tif", saved(whole, "TIFF"), {(40, 24): half})
    shares = Image.new("F", (WIDTH, HEIGHT), 1.0)
    shares.paste(0.5, (0, 0, 40, HEIGHT))
    yield GoodFile("float.tif", saved(shares, "TIFF"), {(20, 24): half, (60, 24): WHITE})
    counts = Image.new("F", (WIDTH, HEIGHT), 4000.0)
    counts.paste(2000.0, (0, 0, 40, HEIGHT))
    yield GoodFile(
        "counts.tif",
        saved(counts, "TIFF"),
        {(20, 24): (8, 8, 8), (60, 24): (16, 16, 16)},
    )


def _oriented_files() -> Iterator[GoodFile]:
    """Each shows the scene upright once the camera's note is obeyed (case 113)."""
    from PIL import Image

    as_stored = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    for number, method in as_stored.items():
        stored = scene() if method is None else scene().transpose(method)
        exif = exif_of(number)
        data = saved(stored, "JPEG", exif=exif, quality=95, subsampling=0)
        yield GoodFile(f"held-{number}.jpg", data, SCENE, tolerance=LOSSY)
        if number in (3, 6):
            for kind, options in (("TIFF", {}), *LOSSLESS.items()):
                data = saved(stored, kind, exif=exif, **options)
                yield GoodFile(f"held-{number}.{kind.lower()}", data, SCENE, tolerance=LOSSY)
    nonsense = exif_of(1)
    nonsense[0x0112] = 99
    yield GoodFile("held-99.png", saved(scene(), "PNG", exif=nonsense), SCENE)
    broken = saved(scene(), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff", quality=95)
    yield GoodFile("held-nonsense.jpg", broken, SCENE, tolerance=CHROMA)


def _profiled_files() -> Iterator[GoodFile]:
    from PIL import Image, ImageCms

    image = scene()
    gamma = 2.2
    profile = matrix_profile("Display P3", P3_TO_XYZ, gamma)
    colours = [p3_as_srgb(one, gamma) for one in (RED, GREEN, BLUE, GREY)]
    red, green, blue, grey = ((c[0], c[1], c[2]) for c in colours)
    converted = ("converted from “Display P3”",)
    yield GoodFile(
        "p3.png",
        saved(image, "PNG", icc_profile=profile),
        quarters(red, green, blue, grey),
        tolerance=3,
        notes=converted,
    )
    yield GoodFile(
        "p3.jpg",
        saved(image, "JPEG", icc_profile=profile, quality=95, subsampling=0),
        quarters(red, green, blue, grey),
        tolerance=LOSSY,
        notes=converted,
    )
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    yield GoodFile("srgb.png", saved(image, "PNG", icc_profile=srgb), SCENE)
    unusable = ("Its colour profile cannot be used",)
    yield GoodFile(
        "profile-damaged.png",
        saved(image, "PNG", icc_profile=profile[:200]),
        SCENE,
        notes=unusable,
    )
    yield GoodFile(
        "profile-of-another-mode.png",
        saved(image.convert("L"), "PNG", icc_profile=profile),
        {(60, 36): GREY},
        notes=unusable,
    )
    lab = Image.new("LAB", (WIDTH, HEIGHT), (137, 128, 128))  # L 53.6: the middle grey of sRGB
    yield GoodFile("lab.tif", saved(lab, "TIFF"), {(40, 24): GREY}, tolerance=2)


def _odd_sizes() -> Iterator[GoodFile]:
    from PIL import Image

    enlarged, white = ("Enlarged",), ("White was added beside it",)
    one = saved(Image.new("RGB", (1, 1), RED), "PNG")
    yield GoodFile("1x1.png", one, {(0, 0): RED, (31, 31): RED}, (1, 1), (32, 32), notes=enlarged)
    small = saved(scene().resize((20, 12), Image.Resampling.NEAREST), "PNG")
    yield GoodFile(
        "20x12.png", small, {(10, 6): RED, (59, 35): GREY}, (20, 12), (60, 36), notes=enlarged
    )
    for name, size, prepared, at in (
        ("1x5000.png", (1, 5000), (32, 2048), (15, 1024)),
        ("5000x1.png", (5000, 1), (2048, 32), (1024, 15)),
        ("3x1500.png", (3, 1500), (32, 1500), (15, 700)),
    ):
        data = saved(Image.new("RGB", size, BLUE), "PNG")
        yield GoodFile(name, data, {at: BLUE, (0, 0): WHITE}, size, prepared, notes=white)
    large = scene().resize((4000, 2400), Image.Resampling.NEAREST)
    for kind in ("JPEG", "PNG"):
        data = saved(large, kind)
        at_large = {(512, 307): RED, (1536, 307): GREEN, (512, 922): BLUE, (1536, 922): GREY}
        name = f"4000x2400.{kind.lower()}"
        yield GoodFile(name, data, at_large, (4000, 2400), (2048, 1229), CHROMA)
    huge = saved(Image.new("1", (9500, 9500), 1), "PNG")
    yield GoodFile("9500x9500.png", huge, {(1024, 1024): WHITE}, (9500, 9500), (2048, 2048))


def bad_files() -> Iterator[BadFile]:
    """Everything that must be refused in words."""
    yield from _other_kinds()
    yield from _damaged_files()
    yield from _bombs()


def _other_kinds() -> Iterator[BadFile]:
    not_read = ("picture_kind_not_read",)
    for name, data, kind in (
        ("drawing.svg", b'<?xml version="1.0"?>\n<svg xmlns="x"/>', "SVG"),
        ("drawing.png", b"<svg xmlns='http://www.w3.org/2000/svg'></svg>", "SVG"),
        ("paper.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
        ("layers.psd", b"8BPS\0\1" + b"\0" * 60, "Photoshop"),
        ("print.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n(x) show\n", "PostScript"),
        ("codestream.jxl", b"\xff\x0a" + b"\0" * 60, "JPEG XL"),
        ("box.jxl", b"\0\0\0\x0cJXL \r\n\x87\n" + b"\0" * 60, "JPEG XL"),
        ("film.mp4", b"\0\0\0\x18ftypisom\0\0\2\0isomiso2" + b"\0" * 60, "video"),
        ("film.webm", b"\x1a\x45\xdf\xa3" + b"\0" * 60, "video"),
        ("film.avi", b"RIFF\x20\0\0\0AVI LIST" + b"\0" * 60, "video"),
        ("photo.cr2", b"II*\0\x10\0\0\0CR\2\0" + b"\0" * 60, "camera raw"),
        ("photo.cr3", b"\0\0\0\x18ftypcrx \0\0\0\1crx isom" + b"\0" * 60, "camera raw"),
        ("light.exr", b"\x76\x2f\x31\x01" + b"\0" * 60, "OpenEXR"),
        ("report.docx", b"PK\3\4" + b"\0" * 60, "archive"),
        ("page.html", b"<!DOCTYPE html><html></html>", "web page"),
        ("notes.txt", b"This is text and no picture at all.", "text"),
        ("model.gguf", b"GGUF\3\0\0\0" + b"\0" * 60, "GGUF"),
    ):
        yield BadFile(name, data, not_read, (kind, "JPEG or PNG"))
    yield BadFile(
        "noise.png", bytes(range(128, 256)) * 4, ("picture_unknown",), ("not a picture",)
    )
    yield BadFile("zeros.jpg", b"\0" * 600, ("picture_unknown",))
    yield BadFile("empty.png", b"", ("picture_empty",), ("is empty",))


def _damaged_files() -> Iterator[BadFile]:
    from PIL import Image

    image = Image.effect_noise((160, 120), 80).convert("RGB")
    cut = ("picture_truncated", "picture_damaged")
    for kind in ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "AVIF", "BMP", "PPM"):
        data = saved(image, kind)
        yield BadFile(f"half.{kind.lower()}", data[: len(data) // 2], cut)
        yield BadFile(f"head.{kind.lower()}", data[:40], cut)
    yield BadFile("half.heic", HEIC[: len(HEIC) // 2], cut)
    box = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 64
    yield BadFile("only-a-box.heic", box, cut)
    png = saved(image, "PNG")
    flipped = bytearray(png)
    flipped[len(png) // 2] ^= 0xFF
    yield BadFile("checksum.png", bytes(flipped), cut)
    garbage = png_header(64, 64, 8, 2) + png_chunk(b"IDAT", b"not zlib") + png_chunk(b"IEND", b"")
    yield BadFile("garbage.png", garbage, cut)
    for width, height in ((0, 64), (64, 0), (0, 0)):
        data = png_header(width, height, 8, 2) + png_chunk(b"IEND", b"")
        yield BadFile(f"{width}x{height}.png", data, cut)
    loop = b"II*\0\x08\0\0\0" + struct.pack("<H", 0) + struct.pack("<I", 8)
    yield BadFile("loop.tif", loop, cut)
    yield BadFile("empty.ico", b"\0\0\1\0\0\0" + b"\0" * 20, cut)


def _bombs() -> Iterator[BadFile]:
    from PIL import Image

    too_large = ("picture_too_large",)
    yield BadFile(
        "13500x13500.png",
        saved(Image.new("1", (13_500, 13_500)), "PNG"),
        too_large,
        ("13,500 × 13,500", "182 million of at most 92 million"),
    )
    header = png_header(60_000, 60_000, 8, 6) + png_chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    yield BadFile("only-a-header.png", header, too_large, ("60,000 × 60,000",))
    gif = b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\0\0\0"
    gif += b"," + struct.pack("<HHHH", 0, 0, 65_535, 65_535) + b"\0\2\2\x4c\1\0;"
    yield BadFile("only-a-header.gif", gif, too_large)
