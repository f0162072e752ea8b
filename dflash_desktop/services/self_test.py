"""Is this installation whole and able to work? Looks at everything once, and changes nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.hardware import ProbeOutcome
from dflash_desktop.domain.self_check import SelfCheck
from dflash_desktop.log import read_tail
from dflash_desktop.services.bench_prompts import load_bench_prompts
from dflash_desktop.services.catalogue_store import load_catalogue, load_known_drivers
from dflash_desktop.services.device_probe import probe_devices
from dflash_desktop.services.error_map import describe_exit
from dflash_desktop.services.home_check import why_not_writable
from dflash_desktop.services.starter_store import DRAFT_FILES, starter_resources
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.services.worker_launch import WorkerCommand, worker_environment
from dflash_desktop.workers.protocol import PROTOCOL_VERSION, Hello

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.worker_launch import WorkerLauncher

_PART_SECONDS: Final = 60.0
_HELLO_SECONDS: Final = 20.0
_END_SECONDS: Final = 2.0
_LOG_LINES: Final = 8
_AGAIN: Final = "Install the program again."


class _Printed(msgspec.Struct, frozen=True):
    checks: tuple[SelfCheck, ...]


async def run_self_test(
    *, paths: AppPaths, launcher: WorkerLauncher, with_window: bool = True
) -> tuple[SelfCheck, ...]:
    """Every check but that of the starter pair's answer. Never raises for what it finds.

    `with_window` asks the window's part, too, which needs Qt.
    """
    resources, folders = await asyncio.gather(
        asyncio.to_thread(lambda: tuple(_resource_checks())),
        asyncio.to_thread(lambda: tuple(_folder_checks(paths))),
    )
    engine = await asyncio.to_thread(_part, "engine", launcher.self_test())
    window = (
        await asyncio.to_thread(_part, "window", _window_part(paths.log_dir))
        if with_window
        else ()
    )
    processes = (
        await _says_hello("process.engine", "engine", launcher.engine()),
        await _says_hello("process.fetch", "fetch", launcher.fetch()),
        await _says_hello("process.guard", "guard", launcher.guard()),
        await _says_hello("process.pictures", "pictures", launcher.pictures()),
        await _probe(launcher.probe()),
    )
    return (*engine, *window, *resources, *folders, *processes)


def _resource_checks() -> Iterator[SelfCheck]:
    def draft() -> None:
        folder = starter_resources().draft_dir
        for name in DRAFT_FILES:
            if not (folder / name).stat().st_size:
                raise FileNotFoundError(f"{folder / name} is empty")

    works: tuple[tuple[str, Callable[[], object]], ...] = (
        ("resources.catalogue", load_catalogue),
        ("resources.drivers", load_known_drivers),
        ("resources.prompts", load_bench_prompts),
        ("resources.starter", draft),
    )
    for code, work in works:
        try:
            work()
        except (OSError, msgspec.MsgspecError, ValueError) as error:
            yield SelfCheck(code, False, f"{error}. {_AGAIN}")
        else:
            yield SelfCheck(code, True, "read")


def _folder_checks(paths: AppPaths) -> Iterator[SelfCheck]:
    for code, folder in (
        ("folder.settings", paths.config_dir),
        ("folder.data", paths.data_dir),
        ("folder.models", paths.library_dir),
        ("folder.cache", paths.cache_dir),
        ("folder.logs", paths.log_dir),
    ):
        fault = why_not_writable(folder)
        advice = "Check its rights and the free space of its disk, or set DFLASH_HOME to another."
        yield SelfCheck(code, not fault, f"{fault} {advice}" if fault else str(folder))


def _window_part(log_dir: Path) -> WorkerCommand:
    argument = "window-self-test"
    frozen = getattr(sys, "frozen", False)
    argv = (sys.executable, *(() if frozen else ("-P", "-m", "dflash_desktop")), argument)
    return WorkerCommand(argv, worker_environment(), log_dir / "self-test.log")


def _part(name: str, command: WorkerCommand) -> tuple[SelfCheck, ...]:
    """The checks that another executable makes of itself, or one that says why it made none."""
    try:
        done = subprocess.run(
            command.argv,
            env=dict(command.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PART_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        words = f"It did not come to an end within {_PART_SECONDS:g} s."
        return (SelfCheck(f"{name}.self_test", False, f"{words} {_AGAIN}"),)
    except OSError as error:
        words = f"It could not be started: {error}."
        return (SelfCheck(f"{name}.self_test", False, f"{words} {_AGAIN}"),)
    if not done.stdout and not done.returncode:  # its exit code says enough
        return (SelfCheck(f"{name}.self_test", True, "It says that all is well."),)
    try:
        return msgspec.json.decode(done.stdout, type=_Printed).checks
    except msgspec.MsgspecError:
        tail = done.stderr.decode("utf-8", "replace").splitlines()[-_LOG_LINES:]
        words = " ".join((describe_exit(done.returncode), *tail))
        return (SelfCheck(f"{name}.self_test", False, f"{words} {_AGAIN}"),)


async def _says_hello(code: str, worker: str, command: WorkerCommand) -> SelfCheck:
    try:
        channel = WorkerChannel(command)
    except OSError as error:
        return SelfCheck(code, False, f"The process cannot be started: {error}. {_AGAIN}")
    words = ""
    try:
        async with asyncio.timeout(_HELLO_SECONDS), aclosing(channel.events()) as events:
            async for event in events:
                if isinstance(event, Hello) and _is_ours(event, worker):
                    return SelfCheck(code, True, event.runtime or "It starts.")
                break
    except TimeoutError:
        words = f"It said nothing within {_HELLO_SECONDS:g} s."
    finally:
        channel.kill_tree()
        await asyncio.wait({channel.exited}, timeout=_END_SECONDS)
    tail = " ".join((words, channel.fault, *read_tail(channel.log_file)[-_LOG_LINES:])).strip()
    return SelfCheck(code, False, f"The process does not work. {tail} {_AGAIN}")


def _is_ours(hello: Hello, worker: str) -> bool:
    return (hello.protocol, hello.worker) == (PROTOCOL_VERSION, worker)


async def _probe(command: WorkerCommand) -> SelfCheck:
    report, probe = await probe_devices(command)
    if report is not None and probe.outcome is ProbeOutcome.COMPLETE:
        return SelfCheck("process.probe", True, ", ".join(d.id for d in report.devices))
    advice = "Update the graphics drivers; until then the program works without graphics."
    return SelfCheck("process.probe", False, f"{probe.outcome}: {probe.detail} {advice}")
