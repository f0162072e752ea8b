"""Runs the probe process and sees it out, whatever the drivers do to it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.hardware import Probe, ProbeOutcome
from dflash_desktop.services.error_map import describe_exit
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.workers.protocol import Devices, Failed, ListDevices

if TYPE_CHECKING:
    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.services.worker_launch import WorkerCommand

PROBE_LIMIT_SECONDS: Final = 10.0
_END_SECONDS: Final = 2.0
_LOG_LINES: Final = 20


async def probe_devices(
    worker: WorkerCommand, *, limit_seconds: float = PROBE_LIMIT_SECONDS
) -> tuple[DeviceReport | None, Probe]:
    """OpenVINO's devices from a process of their own, or None and what happened to it.

    Returns after `limit_seconds` at the latest, and a little for ending the process: a driver
    that holds it in the kernel keeps nobody waiting.
    """
    try:
        channel = WorkerChannel(worker)
    except OSError as error:
        return None, Probe(ProbeOutcome.FAILED, str(error))
    try:
        async with asyncio.timeout(limit_seconds):
            return await _answer(channel)
    except TimeoutError:
        words = f"No answer within {limit_seconds:g} s."
        return None, Probe(ProbeOutcome.TIMED_OUT, _with_log(words, channel))
    finally:
        channel.kill_tree()
        await asyncio.wait({channel.exited}, timeout=_END_SECONDS)


async def _answer(channel: WorkerChannel) -> tuple[DeviceReport | None, Probe]:
    channel.send(ListDevices(1))
    async with aclosing(channel.events()) as events:
        async for event in events:
            if isinstance(event, Devices):
                return event.report, Probe()
            if isinstance(event, Failed):
                return None, Probe(ProbeOutcome.FAILED, event.raw)
    if channel.fault:
        return None, Probe(ProbeOutcome.FAILED, _with_log(channel.fault, channel))
    words = describe_exit(channel.exited.result()).replace("The engine", "The process")
    return None, Probe(ProbeOutcome.CRASHED, _with_log(words, channel))


def _with_log(words: str, channel: WorkerChannel) -> str:
    return "\n".join((words, *channel.log_tail()[-_LOG_LINES:]))
