"""Whether a pair works: its contract, what a repair would write, and checks by running it."""
