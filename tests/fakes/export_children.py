"""What an export's step may do to a machine, as a program: `export_children.py HOW…`.

It needs the standard library only, since it runs as any exporter would: in an environment of its
own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

BLOCK_BYTES = 16 << 20
GROW_LIMIT_BYTES = 4 << 30
"""A guard that fails must not take the machine along."""


def grow(bytes_per_second: float = 1e9) -> None:
    """Allocate and touch memory at this rate."""
    held: list[bytearray] = []
    began = time.monotonic()
    while len(held) * BLOCK_BYTES < GROW_LIMIT_BYTES:
        held.append(bytearray(b"\x01") * BLOCK_BYTES)
        ahead = len(held) * BLOCK_BYTES / bytes_per_second - (time.monotonic() - began)
        time.sleep(max(0.0, ahead))
    sys.exit(3)


def fork_and_grow() -> None:
    """A family in which everybody grows; some leave their session, some lose their parents."""
    for number in range(4):
        if os.fork() == 0:
            if number % 2:
                os.setsid()
                if os.fork():
                    os._exit(0)
            grow(250e6)
    while True:
        time.sleep(1)


def share_and_wait() -> None:
    """Much memory that four children share: their sum says five times as much."""
    held = bytearray(b"\x01") * (150 << 20)
    for _ in range(4):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    print("shared", len(held), flush=True)  # noqa: T201
    time.sleep(60)


def daemons() -> None:
    """A grandchild in a session of its own whose parent has ended, then the end."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _ignore_asking()
            time.sleep(60)
        os._exit(0)
    os.wait()
    print("left one behind", flush=True)  # noqa: T201
    if "and-end" not in sys.argv:
        time.sleep(60)


def stubborn() -> None:
    """Ignores every request to end."""
    _ignore_asking()
    print("you cannot ask me", flush=True)  # noqa: T201
    time.sleep(60)


def talk() -> None:
    """A log as converters write it."""
    out = sys.stdout.buffer
    out.write("Loading ▉▊▋ é\n".encode())
    for percent in (10, 50, 100):
        out.write(f"\rShards: {percent:3} %".encode())
    out.write(b"\n\x1b[31mred\x1b[0m \xff\xfe broken\n")
    out.write(b"\x1e" + json.dumps({"share": 0.5, "detail": "half"}).encode() + b"\n")
    out.write(b"no end of line")
    out.flush()


def burn(seconds: float = 15.0) -> None:
    """All cores at work, and a log that never rests."""
    until = time.monotonic() + seconds
    workers = [child for _ in range((os.cpu_count() or 2) - 1) if (child := os.fork())]
    is_worker = len(workers) < (os.cpu_count() or 2) - 1
    told_at = 0.0
    while (now := time.monotonic()) < until:
        sum(number * number for number in range(2000))
        if not is_worker and now - told_at > 0.005:
            told_at = now
            print(f"layer {now:.3f}: quantizing ▉▉▊ the weights of a long name", flush=True)  # noqa: T201
    os._exit(0) if is_worker else None
    for worker in workers:
        os.waitpid(worker, 0)


def fail() -> None:
    """Ends badly, with the exporter's own report."""
    failed = {"failed": {"code": "draft_not_supported", "raw": "ValueError: no"}}
    sys.stdout.write("\x1e" + json.dumps(failed) + "\n")
    sys.exit(1)


def _ignore_asking() -> None:
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)


WAYS = {
    "grow": grow,
    "fork-and-grow": fork_and_grow,
    "share-and-wait": share_and_wait,
    "daemons": daemons,
    "stubborn": stubborn,
    "talk": talk,
    "burn": burn,
    "fail": fail,
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
