"""Makes one export environment with uv: an interpreter, the locked packages, a look at the result.

Packages come into a cache beside the environments and are linked from there, so what is the same
in two of them is on the disk once. What has arrived when an installation ends early is kept there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_environment import EnvironmentProgress, EnvironmentStage
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import export_environment_problems as problems
from dflash_desktop.services.child_run import run_to_end
from dflash_desktop.services.export_lock import export_locks_dir
from dflash_desktop.services.network_off import network_off
from dflash_desktop.services.uv_program import (
    find_uv,
    python_inside,
    python_request,
    uv_environment,
)
from dflash_desktop.services.worker_launch import worker_environment
from dflash_desktop.workers.no_internet import NO_NETWORK_VARIABLE, is_network_forbidden

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dflash_desktop.services.child_run import ChildEnd
    from dflash_desktop.services.export_environment_store import ExportEnvironmentStore
    from dflash_desktop.services.export_lock import ExportLock

_log = logging.getLogger(__name__)

_CHECK_SECONDS: Final = 300.0
_FETCHING: Final = re.compile(r"^( ?)Download(?:ing|ed) (\S+)", re.MULTILINE)
_NO_CPU_TORCH: Final = re.compile(r"there (?:is no version|are no versions) of torch\b")
_DETAIL_LENGTH: Final = 4000


class ExportInstall:
    """Uses uv in the folders of one store; `log_file` has what the last step said."""

    def __init__(
        self,
        *,
        store: ExportEnvironmentStore,
        log_file: Path,
        is_network_off: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._is_network_off = is_network_off
        self._log_file = log_file

    async def install(
        self,
        folder: Path,
        lock: ExportLock,
        *,
        expected_bytes: int,
        report: Callable[[EnvironmentProgress], None],
    ) -> None:
        """Fill `folder`, which must not exist yet, and check it. Raises `AppError`, `OSError`."""
        self._refuse_if_network_is_off()
        report(EnvironmentProgress(EnvironmentStage.PREPARING, "Looking for a Python."))
        env = await self._environment(lock)
        await self._uv(("venv", str(folder), *python_request()), env)
        report(_fetching("", 0, expected_bytes))

        def tick(written_bytes: int, messages: str) -> None:
            self._refuse_if_network_is_off()  # a person may switch it off in the middle
            report(_fetching(package_under_way(messages), written_bytes, expected_bytes))

        install = (
            *("pip", "install", "--python", str(python_inside(folder)), "-r", str(lock.file)),
            *(_AS_LOCKED if lock.is_hashed else _unlocked_options()),
        )
        try:
            await self._uv(install, env, tick=tick)
        except AppError as error:
            is_without = _NO_CPU_TORCH.search(error.problem.detail)
            if sys.platform != "linux" or not lock.is_hashed or not is_without:
                raise
            # The ordinary index has builds of PyTorch with CUDA only, ten times as large; uv knows
            # where the others are. A mirror that has them was asked first.
            await self._uv((*install, "--torch-backend", "cpu"), env, tick=tick)
        report(EnvironmentProgress(EnvironmentStage.CHECKING, "Checking the export tools."))
        fault, _ = await self.fault(folder, lock)
        if fault:
            raise AppError(problems.check_failed(fault))

    async def fault(self, folder: Path, lock: ExportLock) -> tuple[str, tuple[str, ...]]:
        """What is wrong with an environment, and with which packages; "" if nothing.

        Its Python looks at every file and starts what is native, which takes some seconds.
        """
        script = export_locks_dir() / "check_environment.py"
        argv = (str(python_inside(folder)), "-I", str(script), str(lock.file))
        try:
            end = await run_to_end(
                argv,
                env=worker_environment() | {NO_NETWORK_VARIABLE: "1"},
                log_file=self._log_file,
                limit_seconds=_CHECK_SECONDS,
            )
        except OSError as error:
            return f"The interpreter does not run: {error!r}", ()
        try:
            answer = json.loads(end.output)
            return str(answer["fault"]), tuple(str(name) for name in answer["packages"])
        except (ValueError, LookupError, TypeError):
            return f"The check ended with {end.exit_code}\n{end.messages[-_DETAIL_LENGTH:]}", ()

    def _refuse_if_network_is_off(self) -> None:
        if self._is_network_off() or is_network_forbidden():
            raise AppError(network_off())

    async def forget(self, packages: tuple[str, ...], lock: ExportLock) -> None:
        """Take packages out of the cache: they are damaged there too, or nobody has them."""
        if packages:
            await self._uv(("cache", "clean", *packages), await self._environment(lock))

    async def _environment(self, lock: ExportLock) -> Mapping[str, str]:
        env = await asyncio.to_thread(
            uv_environment,
            worker_environment(),
            cache_dir=self._store.cache_dir(lock),
            python_dir=self._store.python_dir,
        )
        shares = await asyncio.to_thread(self._store.shares_files)
        return {**env, "UV_LINK_MODE": "hardlink" if shares else "copy"}

    async def _uv(
        self,
        arguments: tuple[str, ...],
        env: Mapping[str, str],
        *,
        tick: Callable[[int, str], None] | None = None,
    ) -> ChildEnd:
        uv = find_uv()
        if uv is None:
            raise AppError(problems.uv_missing())
        # Settings of whatever project the program was started in are none of ours.
        argv = (str(uv), "--directory", str(self._store.root), *arguments)
        end = await run_to_end(argv, env=env, log_file=self._log_file, tick=tick)
        if end.exit_code != 0:
            _log.info("uv %s ended with %s", arguments[0], end.exit_code)
            said = end.messages[-_DETAIL_LENGTH:]
            raise AppError(problems.install_failed(said, self._store.root))
        return end


_AS_LOCKED: Final = ("--no-deps", "--require-hashes", "--only-binary", ":all:")


def _unlocked_options() -> tuple[str, ...]:
    """Of development builds, whose newest releases depend on nobody knows what yet."""
    return ("--override", str(export_locks_dir() / "left-out.txt"), "--torch-backend", "cpu")


def package_under_way(messages: str) -> str:
    """The first package whose download has not ended; uv does not tell of small ones."""
    under_way: dict[str, None] = {}
    for is_done, name in _FETCHING.findall(messages):
        if is_done:
            under_way.pop(name, None)
        else:
            under_way[name] = None
    return next(iter(under_way), "")


def _fetching(package: str, done_bytes: int, expected_bytes: int) -> EnvironmentProgress:
    named = f": {package}" if package else ""
    return EnvironmentProgress(
        EnvironmentStage.PACKAGES,
        f"Installing the export tools{named}.",
        package,
        min(done_bytes, expected_bytes),
        expected_bytes,
    )
