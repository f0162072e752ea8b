"""Runs first in the frozen program: gives children the environment that the person had.

The starter program of PyInstaller lets this process find its libraries by LD_LIBRARY_PATH, which
is read once, before this line. A browser, a file manager or another Python that inherited it
would load our libraries in place of its own.
"""

import os
import sys

if sys.platform.startswith("linux"):
    theirs = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if theirs is not None:
        os.environ["LD_LIBRARY_PATH"] = theirs
