"""Words to a person while there is no window: on standard error, and in a box."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QMessageBox


def say_in_box(headline: str, advice: str) -> None:
    """Return when the person has read it. Needs the Qt application."""
    sys.stderr.write(f"{headline}\n{advice}\n")
    sys.stderr.flush()
    box = QMessageBox(QMessageBox.Icon.Warning, "DFlash Desktop", headline)
    box.setInformativeText(advice)
    box.exec()
