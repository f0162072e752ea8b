"""The frame around every command: forms, exit codes, help. The commands here are made up."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from dflash_desktop import __version__, cli
from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem
from dflash_desktop.paths import app_paths

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from dflash_desktop.cli.context import CommandContext

    Run = Callable[..., int]


@dataclass(frozen=True)
class Said:
    """A result with fixed words."""

    text: str = "all is well"
    fields: dict[str, object] = field(default_factory=lambda: {"answer": 42})

    def as_json(self) -> dict[str, object]:
        return self.fields

    def as_text(self) -> str:
        return self.text


class MadeUpCommand:
    """A command that ends as it is told to."""

    HELP = "Do what the test says.\n\nAnd a second paragraph.\n"

    def __init__(self, outcome: Said | BaseException) -> None:
        self._outcome = outcome

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--number", type=int)

    async def run(self, args: Namespace, context: CommandContext) -> Said:
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `dflash-desktop made-up ARGUMENTS` in this process."""

    def run(outcome: Said | BaseException, *arguments: str) -> int:
        monkeypatch.setitem(cli.COMMANDS, "made-up", MadeUpCommand(outcome))
        return cli.main(["made-up", *arguments])

    return run


FAULT = AppError(Problem("disk_full", "The disk is full.", "Free 2 GB.", detail="ENOSPC raw"))


def test_words_go_to_standard_output(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Said()) == 0
    assert capsys.readouterr() == ("all is well\n", "")


def test_a_result_without_words_prints_nothing(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Said(text="")) == 0
    assert capsys.readouterr() == ("", "")


def test_json_is_one_object_that_names_its_version(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Said(), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"json_version": 1, "answer": 42}


def test_json_survives_any_encoding_of_the_reader(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run(Said(fields={"text": "naïve 文字 \ud83d"}), "--json")

    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out)["text"] == "naïve 文字 \ud83d"


def test_a_fault_in_words_goes_to_standard_error(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(FAULT) == 1
    assert capsys.readouterr() == ("", "The disk is full.\nFree 2 GB.\n")


def test_a_fault_for_programs_is_an_object_on_standard_output(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(FAULT, "--json") == 1

    out, err = capsys.readouterr()
    error = {"code": "disk_full", "headline": "The disk is full.", "advice": "Free 2 GB."}
    assert json.loads(out) == {"json_version": 1, "error": error}
    assert err == ""


def test_the_person_stopping_it_is_no_fault(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(CancelledByPersonError()) == 130
    assert capsys.readouterr().err.startswith("Stopped.")


@pytest.mark.expects_log("made-up failed")
def test_a_bug_is_told_in_words_and_kept_in_the_log(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(ZeroDivisionError("private words")) == 1

    out, err = capsys.readouterr()
    log_file = app_paths().log_dir / "command.log"
    assert out == ""
    assert str(log_file) in err
    assert "Traceback" not in err
    assert "private words" not in err
    assert "ZeroDivisionError: private words" in log_file.read_text(encoding="utf-8")


@pytest.mark.expects_log("made-up failed")
def test_a_number_that_is_none_is_a_bug_and_not_json(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Said(fields={"speedup": float("nan")}), "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "internal_error"


def test_a_log_that_cannot_be_written_does_not_stop_a_command(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    log_dir = app_paths().log_dir
    log_dir.parent.mkdir(parents=True)
    log_dir.write_text("a file where a folder should be", encoding="utf-8")

    assert run(Said()) == 0
    assert capsys.readouterr().out == "all is well\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "required"),
        (("nonsense",), "nonsense"),
        (("made-up", "--number", "x"), "--number"),
        (("made-up", "--jso"), "--jso"),
        (("--frobnicate",), "COMMAND"),
    ],
)
def test_wrong_usage_is_told_with_where_help_is(
    arguments: tuple[str, ...],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "made-up", MadeUpCommand(Said()))

    assert cli.main(arguments) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert "--help" in err


def test_wrong_usage_is_json_for_programs(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Said(), "--json", "--number", "x") == 2

    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "usage"
    assert error["advice"] == "See: dflash-desktop made-up --help"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"dflash-desktop {__version__}\n"


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_help_explains_with_examples_and_loads_nothing_heavy(command: str) -> None:
    program = (
        "import sys; from dflash_desktop.__main__ import main\n"
        "sys.argv = ['dflash-desktop', *sys.argv[1:]]; code = main()\n"
        "heavy = {'asyncio', 'msgspec', 'psutil', 'PySide6', 'openvino', 'numpy', 'ssl'}\n"
        "print(heavy & set(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    finished = _python("-c", program, *([command] if command else []), "--help")

    assert finished.returncode == 0
    assert finished.stderr.strip() == "set()"
    assert "examples:\n" in finished.stdout
    assert max(map(len, finished.stdout.splitlines())) <= 100


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_takes_json(command: str) -> None:
    assert "--json" in _python("-m", "dflash_desktop", command, "--help").stdout


def test_unprintable_characters_do_not_end_the_program() -> None:
    program = _program("Said(text='caf\\u00e9 \\u2192')")

    finished = _python("-c", program, env={"PYTHONIOENCODING": "ascii"})

    assert finished.returncode == 0
    assert finished.stdout == "caf\\xe9 \\u2192\n"


def test_windows_pipes_get_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", pipe)
    monkeypatch.setattr(sys, "platform", "win32")

    cli.main(["--version"])

    assert pipe.encoding == "utf-8"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break differently there")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_error(unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        finished = subprocess.run(
            [sys.executable, "-c", _program("Said()")],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert finished.returncode == 141
    assert finished.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="another signal there")
def test_ctrl_c_leaves_the_context_and_exits_with_130() -> None:
    program = (
        "import asyncio, sys; from dflash_desktop import cli\n"
        "class Slow:\n"
        "    HELP = 'Wait.'\n"
        "    def add_arguments(self, parser): pass\n"
        "    async def run(self, args, context):\n"
        "        try:\n"
        "            print('waiting', flush=True); await asyncio.sleep(60)\n"
        "        finally:\n"
        "            print('cleaned up', flush=True)\n"
        "cli.COMMANDS['slow'] = Slow()\n"
        "sys.exit(cli.main(['slow']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert out == "cleaned up\n"
    assert err.startswith("Stopped.")


def _program(outcome: str) -> str:
    """Python code that runs a made-up command in a process of its own."""
    return (
        "import sys; from dflash_desktop import cli\n"
        "from tests.cli.test_frame import MadeUpCommand, Said\n"
        f"cli.COMMANDS['made-up'] = MadeUpCommand({outcome})\n"
        "sys.exit(cli.main(['made-up']))"
    )


def _python(
    *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
