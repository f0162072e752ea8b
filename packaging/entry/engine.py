"""The executable `dflash-engine`: every process that the window starts."""

from dflash_desktop.workers.program import main

main()
