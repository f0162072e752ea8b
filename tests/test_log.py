"""Log files: bounded, kept apart, readable at their end."""

from __future__ import annotations

import errno
import logging
import os
from typing import TYPE_CHECKING

import pytest

from dflash_desktop import log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def handler_of(tmp_path: Path) -> Iterator[logging.Handler]:
    root = logging.getLogger()
    level = root.level
    handler = log.log_to_file(tmp_path / "logs" / "window.log")
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)
    handler.close()


def test_lines_carry_level_process_and_place(handler_of: logging.Handler, tmp_path: Path) -> None:
    logging.getLogger("dflash_desktop.somewhere").info("half an emoji: %s", "\ud83d")
    handler_of.flush()
    line = (tmp_path / "logs" / "window.log").read_text(encoding="utf-8")
    assert "INFO" in line
    assert "dflash_desktop.somewhere: half an emoji: ?" in line


def test_a_long_log_rotates(
    handler_of: logging.Handler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_of, "maxBytes", 2000)
    for number in range(200):
        logging.getLogger("dflash_desktop").info("line %d", number)
    files = sorted((tmp_path / "logs").iterdir())
    assert len(files) == 1 + log.KEPT_LOGS
    assert all(file.stat().st_size <= 2000 for file in files)


def test_the_last_logs_of_a_worker_are_kept_in_order(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    for life in range(7):
        assert log.fresh_log(path) == path
        path.write_text(f"life {life}", encoding="utf-8")
    assert [
        (tmp_path / name).read_text(encoding="utf-8")
        for name in ("engine.log", "engine.log.1", "engine.log.2", "engine.log.3", "engine.log.4")
    ] == [f"life {life}" for life in (6, 5, 4, 3, 2)]
    assert len(list(tmp_path.iterdir())) == 5


def test_a_log_that_another_program_holds_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where an open file cannot be renamed."""
    path = tmp_path / "engine.log"
    path.write_text("theirs", encoding="utf-8")

    def refuse(_self: Path, _target: Path) -> None:
        raise PermissionError(13, "in use by another process")

    monkeypatch.setattr(type(path), "replace", refuse)
    ours = log.fresh_log(path)
    assert ours != path
    assert ours.parent == path.parent
    assert path.read_text(encoding="utf-8") == "theirs"


def test_the_tail_is_the_end_and_survives_broken_text(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    path.write_bytes(b"".join(b"line %d\n" % n for n in range(100_000)) + b"\xff last")
    tail = log.read_tail(path)
    assert len(tail) == log.TAIL_LINES
    assert tail[-2:] == ("line 99999", "� last")
    assert log.read_tail(tmp_path / "missing") == ()


def test_a_full_disk_is_no_reason_to_print_a_traceback_for_each_line(
    handler_of: logging.Handler,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert isinstance(handler_of, logging.StreamHandler)
    monkeypatch.setattr(handler_of.stream, "write", full)
    logging.getLogger("dflash_desktop.somewhere").info("a line")
    assert capsys.readouterr().err == ""
