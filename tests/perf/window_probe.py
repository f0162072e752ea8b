"""Runs the real window in this process and tells, as one JSON line, when it could be seen.

A child of window_start: `python -m tests.perf.window_probe SETTLE_SECONDS`. It imports nothing
that the program does not import anyway, so that it measures the program and not itself.
"""

from __future__ import annotations

import json
import sys
import time

from PySide6 import QtCore, QtWidgets

NATIVE = ("openvino", "openvino_genai", "openvino_tokenizers", "numpy", "torch")


class Probe(QtCore.QObject):
    """Watches an application until its main window has painted, and closes it a while later."""

    def __init__(self, application: QtWidgets.QApplication, settle_seconds: float) -> None:
        super().__init__(application)
        self._application = application
        self._settle_ms = int(settle_seconds * 1000)
        self._window: QtWidgets.QMainWindow | None = None
        self.facts: dict[str, object] = {}
        application.installEventFilter(self)

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:  # noqa: N802
        is_paint = event.type() == QtCore.QEvent.Type.Paint
        if is_paint and isinstance(watched, QtWidgets.QMainWindow):
            self._application.removeEventFilter(self)
            self._window = watched
            # The filter sees the event before the window paints: what follows it comes after.
            QtCore.QTimer.singleShot(0, self._on_painted)
        return False

    def _on_painted(self) -> None:
        self.facts["visible_at"] = time.monotonic()
        self.facts["cpu_seconds"] = time.process_time()
        self.facts["native_modules"] = loaded_native_modules()
        QtCore.QTimer.singleShot(self._settle_ms, self._close)

    def _close(self) -> None:
        self.facts["native_modules_later"] = loaded_native_modules()
        assert self._window is not None
        self._window.close()


def loaded_native_modules() -> list[str]:
    """What of the engine this process has imported, which must be nothing."""
    return [name for name in NATIVE if name in sys.modules]


def main() -> int:
    settle_seconds = float(sys.argv.pop(1))
    probes: list[Probe] = []

    class Application(QtWidgets.QApplication):
        def __init__(self, arguments: list[str]) -> None:
            super().__init__(arguments)
            probes.append(Probe(self, settle_seconds))

    from dflash_desktop import app

    # The program makes its own application; this is how to see it from its first event on.
    QtWidgets.QApplication = Application  # type: ignore[assignment, misc]  # see above
    code = app.main()
    (probe,) = probes
    sys.stdout.write(json.dumps(probe.facts | {"exit_code": code}) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
