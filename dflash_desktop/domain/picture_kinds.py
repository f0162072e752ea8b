"""What kind of file a picture is by its first bytes; names and endings are not asked."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

HEAD_BYTES: Final = 512
"""So much of a file tells its kind."""


class PictureKind(StrEnum):
    """Kinds that people attach; the value is what a person calls it."""

    JPEG = "JPEG"
    PNG = "PNG"
    GIF = "GIF"
    WEBP = "WebP"
    BMP = "BMP"
    TIFF = "TIFF"
    AVIF = "AVIF"
    JPEG_2000 = "JPEG 2000"
    ICO = "icon"
    NETPBM = "Netpbm"
    HEIC = "HEIC"
    JPEG_XL = "JPEG XL"
    SVG = "SVG"
    PDF = "PDF"
    PHOTOSHOP = "Photoshop"
    POSTSCRIPT = "PostScript"
    CAMERA_RAW = "camera raw"
    OPEN_EXR = "OpenEXR"
    VIDEO = "video"
    WEB_PAGE = "web page"
    ARCHIVE = "archive or office document"
    MODEL = "GGUF model"
    TEXT = "text"
    UNKNOWN = ""


PILLOW_FORMATS: Final = {
    PictureKind.JPEG: ("JPEG", "MPO"),
    PictureKind.PNG: ("PNG",),
    PictureKind.GIF: ("GIF",),
    PictureKind.WEBP: ("WEBP",),
    PictureKind.BMP: ("BMP", "DIB"),
    PictureKind.TIFF: ("TIFF",),
    PictureKind.AVIF: ("AVIF",),
    PictureKind.JPEG_2000: ("JPEG2000",),
    PictureKind.ICO: ("ICO",),
    PictureKind.NETPBM: ("PPM",),
    PictureKind.HEIC: ("HEIF",),
}
"""What is read, and by which of Pillow's readers: each other one would be one more to attack."""

_STARTS: Final = (
    (b"\xff\xd8\xff", PictureKind.JPEG),
    (b"\x89PNG\r\n\x1a\n", PictureKind.PNG),
    (b"GIF87a", PictureKind.GIF),
    (b"GIF89a", PictureKind.GIF),
    (b"II*\0\x10\0\0\0CR", PictureKind.CAMERA_RAW),
    (b"IIU\0", PictureKind.CAMERA_RAW),
    (b"FUJIFILMCCD-RAW", PictureKind.CAMERA_RAW),
    (b"II*\0", PictureKind.TIFF),
    (b"MM\0*", PictureKind.TIFF),
    (b"II+\0", PictureKind.TIFF),
    (b"MM\0+", PictureKind.TIFF),
    (b"\xff\x0a", PictureKind.JPEG_XL),
    (b"\0\0\0\x0cJXL \r\n\x87\n", PictureKind.JPEG_XL),
    (b"\0\0\0\x0cjP  \r\n\x87\n", PictureKind.JPEG_2000),
    (b"\xff\x4f\xff\x51", PictureKind.JPEG_2000),
    (b"\0\0\x01\0", PictureKind.ICO),
    (b"8BPS", PictureKind.PHOTOSHOP),
    (b"%PDF", PictureKind.PDF),
    (b"%!PS", PictureKind.POSTSCRIPT),
    (b"\xc5\xd0\xd3\xc6", PictureKind.POSTSCRIPT),
    (b"\x76\x2f\x31\x01", PictureKind.OPEN_EXR),
    (b"\x1a\x45\xdf\xa3", PictureKind.VIDEO),
    (b"PK\x03\x04", PictureKind.ARCHIVE),
    (b"GGUF", PictureKind.MODEL),
    (b"BM", PictureKind.BMP),
)
_HEIC_BRANDS: Final = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_AVIF_BRANDS: Final = (b"avif", b"avis")
_NETPBM: Final = tuple(b"P%d" % number for number in range(1, 7))
_SHORTEST_BOX: Final = 12


def kind_of(head: bytes) -> PictureKind:
    """The kind of the file that begins with `head`, at least `HEAD_BYTES` of it if it has them."""
    if head[4:8] == b"ftyp":
        return _kind_of_box(head)
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if head[:4] == b"RIFF":
        return {b"WEBP": PictureKind.WEBP, b"AVI ": PictureKind.VIDEO}.get(
            head[8:12], PictureKind.UNKNOWN
        )
    if head[:2] in _NETPBM and head[2:3].isspace():
        return PictureKind.NETPBM
    return _kind_of_text(head)


def _kind_of_box(head: bytes) -> PictureKind:
    """HEIC, AVIF and video are all made of boxes; the brands in the first one tell them apart."""
    length = int.from_bytes(head[:4], "big")
    box = head[8 : max(_SHORTEST_BOX, min(length, len(head)))]
    brands = [box[at : at + 4] for at in (0, *range(8, len(box) - 3, 4))]
    if any(brand in _AVIF_BRANDS for brand in brands):
        return PictureKind.AVIF
    if any(brand in _HEIC_BRANDS for brand in brands):
        return PictureKind.HEIC
    if brands[0] == b"crx ":
        return PictureKind.CAMERA_RAW
    return PictureKind.VIDEO


def _kind_of_text(head: bytes) -> PictureKind:
    try:
        # What is cut in the middle of a character is still text.
        text = head.decode("utf-8-sig", errors="strict" if len(head) < HEAD_BYTES else "ignore")
    except UnicodeDecodeError:
        return PictureKind.UNKNOWN
    lower = text.lstrip().lower()
    if lower.startswith("<svg") or (lower.startswith(("<?xml", "<!--")) and "<svg" in lower):
        return PictureKind.SVG
    if lower.startswith(("<!doctype html", "<html")):
        return PictureKind.WEB_PAGE
    is_text = bool(lower) and all(c.isprintable() or c.isspace() for c in lower)
    return PictureKind.TEXT if is_text and "\0" not in text else PictureKind.UNKNOWN
