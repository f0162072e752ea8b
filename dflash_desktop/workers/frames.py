"""How messages travel between the window's process and its workers.

A frame is two big-endian 32-bit lengths, that many bytes of JSON, and an optional raw blob.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.workers.json_paths import decode_path, encode_path
from dflash_desktop.workers.protocol import Command, Event, PictureMade, PictureStep

if TYPE_CHECKING:
    from typing import BinaryIO

    from dflash_desktop.domain.made_picture import Pixels

MAX_FRAME_BYTES: Final = 256 * 1024 * 1024
"""No honest frame is larger; a larger length means that the stream is not ours."""

_HEAD = struct.Struct(">II")


class ProtocolError(Exception):
    """The bytes on the channel are not a frame of this protocol."""


_ENCODER = msgspec.json.Encoder(enc_hook=encode_path)
_COMMANDS = msgspec.json.Decoder(Command, dec_hook=decode_path)
_EVENTS = msgspec.json.Decoder(Event, dec_hook=decode_path)


def pack(message: Command | Event, blob: bytes = b"") -> bytes:
    """One frame, ready to write; the pixels of a picture become its blob."""
    match message:
        case PictureStep(preview=pixels) if pixels is not None:
            blob, bare = pixels.rgb, replace(pixels, rgb=b"")
            message = msgspec.structs.replace(message, preview=bare)
        case PictureMade(pixels=pixels) if pixels is not None:
            blob, bare = pixels.rgb, replace(pixels, rgb=b"")
            message = msgspec.structs.replace(message, pixels=bare)
        case _:
            pass
    body = _ENCODER.encode(message)
    return _HEAD.pack(len(body), len(blob)) + body + blob


def read_frame(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next frame's JSON and blob, or None at the end of the stream (a cut frame is an end).

    Raises `ProtocolError` when the lengths cannot be ours.
    """
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    body_bytes, blob_bytes = _HEAD.unpack(head)
    if body_bytes + blob_bytes > MAX_FRAME_BYTES:
        raise ProtocolError(f"a frame of {body_bytes + blob_bytes} bytes was announced")
    body = stream.read(body_bytes)
    blob = stream.read(blob_bytes) if blob_bytes else b""
    if len(body) < body_bytes or len(blob) < blob_bytes:
        return None
    return body, blob


def decode_command(body: bytes) -> Command:
    """Raises `ProtocolError` for anything that is not a command of this protocol."""
    try:
        return _COMMANDS.decode(body)
    except msgspec.MsgspecError as error:
        raise ProtocolError(str(error)) from error


def decode_event(body: bytes, blob: bytes = b"") -> Event:
    """Raises `ProtocolError` for anything that is not an event of this protocol."""
    try:
        event: Event = _EVENTS.decode(body)
    except msgspec.MsgspecError as error:
        raise ProtocolError(str(error)) from error
    match event:
        case PictureStep(preview=pixels) if pixels is not None:
            return msgspec.structs.replace(event, preview=_filled(pixels, blob))
        case PictureMade(pixels=pixels) if pixels is not None:
            return msgspec.structs.replace(event, pixels=_filled(pixels, blob))
        case _:
            return event


def _filled(pixels: Pixels, blob: bytes) -> Pixels:
    if min(pixels.width, pixels.height) < 1 or len(blob) != pixels.width * pixels.height * 3:
        raise ProtocolError(f"{pixels.width} x {pixels.height} pixels came in {len(blob)} bytes")
    return replace(pixels, rgb=blob)
