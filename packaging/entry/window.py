"""The executable `dflash-desktop`: the window, and the command line."""

import sys

from dflash_desktop.__main__ import main

sys.exit(main())
