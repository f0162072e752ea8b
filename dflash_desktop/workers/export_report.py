"""What an export's step says to the app, in between the lines of its log."""

from __future__ import annotations

import json
import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORD_SEPARATOR: Final = "\x1e"
"""Begins a line that holds one JSON object; a log has no use for it."""
_RAW_LIMIT: Final = 4000


class StepFailedError(Exception):
    """The step cannot be done; `code` is one of `domain.export_faults`, the text is raw."""

    def __init__(self, code: str, raw: str) -> None:
        super().__init__(raw)
        self.code = code


def say(share: float, detail: str) -> None:
    """How far the step is, from 0 to 1, and what it is at."""
    _send({"share": round(share, 3), "detail": detail})


def say_fact(name: str, value: object) -> None:
    """Something that the app cannot see in the files."""
    _send({name: value})


@contextmanager
def reported() -> Iterator[None]:
    """Ends the process with 1 after whatever goes wrong within was told in both forms."""
    try:
        yield
    except StepFailedError as error:
        traceback.print_exc()
        _fail(error.code, str(error))
    except MemoryError:
        traceback.print_exc()
        _fail("export_memory", "MemoryError")
    except Exception as error:  # noqa: BLE001  # whatever it is must reach the person
        traceback.print_exc()
        _fail("", f"{type(error).__name__}: {error}")


def _fail(code: str, raw: str) -> None:
    _send({"failed": {"code": code, "raw": raw[-_RAW_LIMIT:]}})
    sys.exit(1)


def _send(message: dict[str, object]) -> None:
    sys.stderr.flush()
    sys.stdout.write(f"\n{RECORD_SEPARATOR}{json.dumps(message)}\n")
    sys.stdout.flush()
