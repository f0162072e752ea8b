"""A target's tokenizer models, made anew of its tokenizer.json with the export tools."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_environment import EnvironmentState
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.repair_plan import TOKENIZER_SOURCES
from dflash_desktop.paths import source_dir
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.child_run import run_to_end
from dflash_desktop.services.worker_launch import worker_environment
from dflash_desktop.workers.export_report import RECORD_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dflash_desktop.services.export_environments import ExportEnvironments

_PROGRAM: Final = Path("dflash_desktop", "workers", "export_program.py")
_LIMIT_SECONDS: Final = 600.0
_DETAIL_LENGTH: Final = 4000


class TokenizerRebuild:
    """Uses whichever export environment is ready."""

    def __init__(self, *, environments: ExportEnvironments, log_dir: Path) -> None:
        self._environments = environments
        self._log_file = log_dir / "tokenizer.log"

    def python(self) -> Path | None:
        """The interpreter that would do it; None while no export tools are installed."""
        with contextlib.suppress(AppError):  # on a platform without export tools
            for status in self._environments.status():
                if status.state is EnvironmentState.READY and not status.is_development:
                    return self._environments.python(status.id)
        return None

    @contextlib.asynccontextmanager
    async def made(self, target_dir: Path) -> AsyncIterator[Path]:
        """A folder with the new files, which is there while this is open.

        The files were compared with the tokenizer they are made of. Raises `AppError`.
        """
        python = self.python()
        if python is None:
            raise AppError(_NO_TOOLS)
        with tempfile.TemporaryDirectory(prefix="dflash-tokenizer-") as work:
            source, output = Path(work, "source"), Path(work, "made")
            await asyncio.to_thread(_copy_sources, target_dir, source)
            await self._run(python, source, output)
            yield output

    async def _run(self, python: Path, source: Path, output: Path) -> None:
        argv = (
            *(str(python), "-P", "-X", "utf8", str(source_dir() / _PROGRAM)),
            *("--threads", "2", "--temporary", str(output.parent / "temporary")),
            *("tokenizer", "--source", str(source), str(output)),
        )
        try:
            end = await run_to_end(
                argv,
                env=worker_environment() | {"HF_HUB_OFFLINE": "1"},
                log_file=self._log_file,
                limit_seconds=_LIMIT_SECONDS,
            )
        except OSError as error:
            raise AppError(_failed("", repr(error))) from error
        if end.exit_code != 0:
            code, raw = failure_in(end.output)
            raise AppError(_failed(code, raw or end.messages[-_DETAIL_LENGTH:]))


def _copy_sources(target_dir: Path, source: Path) -> None:
    """Only what a tokenizer is read from: what else lies there is none of the program's business.

    Raises `AppError`.
    """
    try:
        source.mkdir()
        for name in TOKENIZER_SOURCES:
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(target_dir / name, source / name)
    except OSError as error:
        problem = write_problem(error, what="The tokenizer", kept="Nothing was changed.")
        raise AppError(problem) from error


def failure_in(output: str) -> tuple[str, str]:
    """Code and raw text of the failure that the program told of, or two empty texts."""
    for line in output.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            failed = json.loads(line.removeprefix(RECORD_SEPARATOR))["failed"]
            return str(failed["code"]), str(failed["raw"])
    return "", ""


_NO_TOOLS: Final = Problem(
    code="export_environment_missing",
    headline="The tokenizer is made anew with the export tools, which are not installed.",
    advice="First run: dflash-desktop export-env install",
)


def _failed(code: str, detail: str) -> Problem:
    if code == "tokenizer_differs":
        return Problem(
            code=code,
            headline="The tokenizer was made anew, but cuts text otherwise than the original.",
            advice="Nothing was changed. Export the target again, or get it from its makers.",
            detail=detail,
        )
    return Problem(
        code="tokenizer_not_convertible",
        headline="The tokenizer cannot be made anew of tokenizer.json.",
        advice="Nothing was changed. Get the tokenizer's files from the original model and try "
        "again, or export the target again.",
        detail=detail,
        remedies=(Remedy.RETRY,),
    )
