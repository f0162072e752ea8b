"""Frames: what goes in comes out, and what is not ours is refused in words."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.generation import (
    NO_STATS,
    FinishReason,
    KvCachePrecision,
    PromptMessage,
    Role,
    SamplingParams,
    TextOrigin,
    TextRun,
)
from dflash_desktop.domain.made_picture import Pixels
from dflash_desktop.domain.pair import DraftFacts, LoadedPair, PairFingerprint
from dflash_desktop.workers import frames, protocol

PAIR = LoadedPair(
    title="Starter",
    target_dir=Path("models") / "naïve folder",
    draft_dir=None,
    draft=DraftFacts(8, (2, 8, 14), 16),
    device="CPU",
    device_name="CPU",
    driver="",
    runtime="2026.4.1",
    kv_cache_precision=KvCachePrecision.F32,
    context_tokens=8192,
    keeps_both=True,
    fingerprint=PairFingerprint("a", None),
    load_seconds=1.5,
)


@pytest.mark.parametrize(
    "command",
    [
        protocol.Load(
            1, "Título", Path("a b") / "ü", Path("d"), "GPU.0", KvCachePrecision.U8, keep_both=True
        ),
        protocol.Generate(2, (PromptMessage(Role.USER, "<b>&\n\u2028"),), SamplingParams(), 3),
        protocol.Cancel(2),
        protocol.Ping(7),
        protocol.Shutdown(),
    ],
)
def test_commands_survive_the_way(command: protocol.Command) -> None:
    frame = frames.read_frame(io.BytesIO(frames.pack(command)))
    assert frame is not None
    assert frames.decode_command(frame[0]) == command


@pytest.mark.parametrize(
    "event",
    [
        protocol.Hello(1, "engine", 42, "2026.4.1"),
        protocol.Loaded(1, PAIR),
        protocol.Text(2, (TextRun("hé", TextOrigin.DRAFT, 3),), NO_STATS),
        protocol.Finished(2, FinishReason.STOP, NO_STATS, (1, 2)),
        protocol.Failed(2, "cache_full", "raw", facts={"prompt_tokens": 9}),
    ],
)
def test_events_and_blobs_survive_the_way(event: protocol.Event) -> None:
    frame = frames.read_frame(io.BytesIO(frames.pack(event, b"\0blob")))
    assert frame is not None
    assert frames.decode_event(frame[0]) == event
    assert frame[1] == b"\0blob"


def test_a_cut_frame_is_the_end_of_the_stream() -> None:
    whole = frames.pack(protocol.Ping(1), b"blob")
    for length in range(len(whole)):
        assert frames.read_frame(io.BytesIO(whole[:length])) is None


def test_an_absurd_length_is_not_ours() -> None:
    with pytest.raises(frames.ProtocolError):
        frames.read_frame(io.BytesIO(struct.pack(">II", 2**31, 0)))


@given(st.binary(max_size=200))
def test_other_peoples_bytes_never_crash_the_decoder(body: bytes) -> None:
    for decode in (frames.decode_command, frames.decode_event):
        with pytest.raises(frames.ProtocolError):
            decode(body)


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(frames.ProtocolError):
        frames.decode_command(b'{"type":"ping","number":1,"more":2}')


def test_pixels_travel_beside_the_words() -> None:
    pixels = Pixels(2, 1, bytes(range(6)))
    for event in (
        protocol.PictureStep(3, 1, 20, 0.5, preview=pixels),
        protocol.PictureMade(3, 1.5, pixels),
        protocol.PictureMade(3, 1.5),
    ):
        frame = frames.read_frame(io.BytesIO(frames.pack(event)))
        assert frame is not None
        assert len(frame[0]) < 200
        assert frames.decode_event(*frame) == event


@pytest.mark.parametrize("size", [(2, 2), (0, 0), (-1, -2), (10**9, 10**9)])
def test_pixels_that_are_not_all_there_are_not_ours(size: tuple[int, int]) -> None:
    pixels = Pixels(*size, rgb=bytes(6))
    frame = frames.read_frame(io.BytesIO(frames.pack(protocol.PictureMade(1, 0.0, pixels))))
    assert frame is not None
    with pytest.raises(frames.ProtocolError):
        frames.decode_event(*frame)
