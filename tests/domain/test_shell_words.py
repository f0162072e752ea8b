"""A pasted command line is taken apart into exactly the words that were meant."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dflash_desktop.domain.shell_words import Shell, command_line, shells_of

ODD = ["a b", "it's", 'say "x"', "50%", "a&b", "$HOME", "`id`", "é ü", "", "back\\", "a\\\\b c\\"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sh")
def test_sh_reads_back_every_word() -> None:
    show = "import json, sys; print(json.dumps(sys.argv[1:]))"
    line = command_line([sys.executable, "-c", show, *ODD], Shell.SH)
    shown = subprocess.run(["sh", "-c", line], capture_output=True, check=True, encoding="utf-8")
    assert json.loads(shown.stdout) == ODD


def test_cmd_quotes_as_the_c_runtime_reads() -> None:
    # Python's own quoting follows the same rules, but leaves words without a space bare.
    for word in ODD:
        quoted = f" {word}"
        assert command_line([quoted], Shell.CMD) == subprocess.list2cmdline([quoted])
    assert command_line(["ovms", r"C:\a b\x"], Shell.CMD) == r'ovms "C:\a b\x"'
    assert command_line(["C:\\a b\\"], Shell.CMD) == '"C:\\a b\\\\"'
    assert command_line(["a&b"], Shell.CMD) == '"a&b"'
    assert command_line(["C:/plain"], Shell.CMD) == "C:/plain"


def test_powershell_keeps_everything_between_single_quotes() -> None:
    assert command_line(["$HOME `x"], Shell.POWERSHELL) == "'$HOME `x'"
    assert command_line(["it's"], Shell.POWERSHELL) == "'it''s'"
    assert command_line(["it\u2019s"], Shell.POWERSHELL) == "'it\u2019\u2019s'"
    assert command_line(["C:/Users/Jörg"], Shell.POWERSHELL) == "'C:/Users/Jörg'"


def test_each_system_has_its_shells() -> None:
    assert shells_of("linux") == (Shell.SH,)
    assert shells_of("win32") == (Shell.POWERSHELL, Shell.CMD)
